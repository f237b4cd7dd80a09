//! HDFS as an object store: the trait [`ObjectStore`] of the crate `object_store`, which arrow, DataFusion, Delta Lake
//! and others read and write with, on a [`FileSystem`](zerohop_client::FileSystem).
//!
//! An object is a file, its name the file's path below the store's root. An object appears whole or not at all: its bytes
//! are written to a hidden file in the directory that it belongs to, which is then renamed to its name.
//!
//! ```no_run
//! use zerohop_object_store::HdfsObjectStore;
//! use zerohop_object_store::object_store::{ObjectStoreExt, PutMode, path::Path};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let fs = zerohop_client::FileSystem::builder().name_node("hdfs://nn.example.com:8020").build()?;
//! let store = HdfsObjectStore::new(fs).with_root("/warehouse");
//! let commit = Path::from("orders/_delta_log/00000000000000000001.json");
//! store.put(&commit, "{}".into()).await?;
//! let bytes = store.get_range(&commit, 0..2).await?;
//! # Ok(()) }
//! ```
//!
//! What HDFS does in another way than an object store of a cloud:
//!
//! - **Names are paths.** `a` and `a/b` cannot both be objects. A name may not contain `:`. A directory stays when its last
//!   object is deleted, and is listed as a common prefix.
//! - **Conditional puts** ([`PutMode::Update`]) compare the ETag and then replace that very file, by its inode: of several
//!   writers one wins. What the comparison does not see is an append or a truncation in
//!   the moment after it, which object stores do not have. Versions are refused: HDFS keeps none.
//! - **Multipart uploads** are files in a hidden directory, one for each part, that are joined by `concat`. Each part begins
//!   a block: parts as large as a block (128 MiB) are best.
//! - **Attributes** are refused unless [`HdfsObjectStore::with_attributes`] says to keep them; tags are refused.
//! - **Files kept open** ([`HdfsObjectStore::with_files_open_for`]) spare calls to the NameNode, at a price in freshness; without
//!   it every read asks for the object that is there now.
//! - **Hidden files** of a writer that was killed stay: `.zerohop-staged-*`, in the directory of the object.
//!
//! [`ObjectStore`]: object_store::ObjectStore
//! [`PutMode::Update`]: object_store::PutMode::Update
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

mod attributes;
mod errors;
mod inner;
mod key_range;
mod listing;
mod metadata;
mod moves;
mod multipart;
mod names;
mod open_files;
mod paginated;
mod read;
mod staged;
mod store;
mod walk;

pub use object_store;
pub use store::HdfsObjectStore;
