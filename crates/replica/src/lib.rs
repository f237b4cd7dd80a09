//! Block and meta files of one volume, in the layout of Apache's DataNode (-57); no network.
//!
//! ```text
//! <volume>/in_use.lock                     held while a DataNode uses the volume
//! <volume>/current/VERSION                 storage id, cluster id, DataNode UUID
//! <volume>/current/BP-<n>-<ip>-<time>/     one block pool
//!     current/VERSION                      namespace id, pool id
//!     current/finalized/subdir<n>/subdir<n>/blk_<id>, blk_<id>_<stamp>.meta
//!     current/rbw/                         replicas being written
//!     tmp/                                 copies being received; emptied at start
//!     trash/                               deleted replicas, during a rolling upgrade
//!     previous/                            links of all replicas, until an upgrade is finalized
//! ```
//! A [`Volume`] is opened and locked; it opens [`Pool`]s; a pool creates, finds, moves and deletes
//! replicas. A replica that can still change is a [`LiveReplica`], written and read through it at
//! once; a finalized one is a [`StoredReplica`], opened as a [`ReplicaReader`].

mod discard;
mod error;
mod io;
mod lazy_persist;
mod listing;
mod live;
mod mode;
mod names;
mod pool;
mod pools;
mod probe;
mod reader;
mod recover;
mod restart;
mod scan;
mod storage_state;
mod sync;
mod transition;
mod trash;
mod tree;
mod version;
mod volume;
mod write_at;

pub use error::{Error, ErrorKind, Result};
pub use io::{IoCall, IoObserver, IoTimer};
pub use listing::ListedReplica;
pub use live::{Durability, FlushExtent, LiveReplica, Packet, WRITE_UNIT};
pub use mode::DirectoryMode;
pub use names::{BlockFile, block_directory, block_file_name, meta_file_name, parse_name};
pub use pool::{Place, Pool, StoredReplica};
pub use pools::{delete_pool, is_pool_empty};
pub use probe::{Space, VolumeProbe};
pub use reader::ReplicaReader;
pub use scan::Scan;
pub use transition::{StartOptions, finalize_volume_upgrade};
pub use trash::{Trash, UpgradePhase};
pub use version::{LAYOUT_VERSION, PoolVersion, VolumeVersion};
pub use volume::{Volume, is_storage_id};

#[cfg(test)]
mod recover_test;
#[cfg(test)]
mod replica_test;
#[cfg(test)]
mod storage_state_test;
#[cfg(test)]
mod transition_test;
