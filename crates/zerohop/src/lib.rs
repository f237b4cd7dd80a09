//! HDFS for Rust programs.
//!
//! [`FileSystem`] is for tokio, [`blocking::FileSystem`] for plain threads; both speak to Apache's NameNodes and
//! DataNodes and to zerohop's. Files with a replica on the same machine are read from the replica's file
//! (short-circuit reads), where Hadoop's configuration allows it.
//!
//! ```no_run
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use zerohop::{CreateOptions, FileSystem};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // HADOOP_CONF_DIR names the configuration; `builder()` has other ways.
//! let fs = FileSystem::builder().build()?;
//! let mut file = fs.create("/user/alice/greeting", CreateOptions::overwriting()).await?;
//! file.write_all(b"hello").await?;
//! file.shutdown().await?;
//!
//! let mut text = String::new();
//! let mut file = fs.open("/user/alice/greeting").await?;
//! file.read_to_string(&mut text).await?;
//! println!("{text}: {} bytes were read locally", file.statistics().local_bytes());
//! # Ok(()) }
//! ```
//!
//! The same on a plain thread:
//!
//! ```no_run
//! use std::io::{Read, Write};
//! use zerohop::{CreateOptions, FileSystem};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let fs = FileSystem::builder().name_node("hdfs://nn.example.com:8020").build_blocking()?;
//! let mut file = fs.create("/user/alice/greeting", CreateOptions::overwriting())?;
//! file.write_all(b"hello")?;
//! file.close()?;
//!
//! let mut text = String::new();
//! fs.open("/user/alice/greeting")?.read_to_string(&mut text)?;
//! # Ok(()) }
//! ```
//!
//! | to | async | blocking |
//! |---|---|---|
//! | make a client | [`FileSystem::builder`] | [`Builder::build_blocking`] |
//! | read on | [`FileReader`], `AsyncRead`, [`ByteStream`] | [`blocking::FileReader`], `Read` |
//! | read at an offset | [`FileReader::read_bytes_at`] | [`blocking::FileReader::read_at`] |
//! | read many ranges | [`FileReader::read_ranges`] | [`blocking::FileReader::read_ranges`] |
//! | read without a copy | [`OpenOptions::with_mapped_bytes`] | [`blocking::FileReader::read_zero_copy`] |
//! | write | [`FileWriter`], `AsyncWrite` | [`blocking::FileWriter`], `Write` |
//! | show bytes to readers | [`FileWriter::hflush`] | [`blocking::FileWriter::hflush`] |
//! | list | [`FileSystem::entries`], [`FileSystem::walk`] | [`blocking::FileSystem::entries`] |
//!
//! Paths are absolute and have no scheme.
//!
//! | feature | default | |
//! |---|---|---|
//! | `local` | yes | reads of replicas on the same machine; on Linux |
//! | `blocking` | yes | [`blocking`], for plain threads |
//! | `object-store` | no | `zerohop::object_store`: the `ObjectStore` of arrow, DataFusion and others |
#![cfg_attr(doctest, doc = include_str!("../../../docs/languages.md"))] // Its lines for Rust compile.

/// The file system for plain threads: the same names as in [`FileSystem`], without `await`. Not to be used on
/// a thread of a tokio runtime, which may not wait.
///
/// ```no_run
/// use std::io::{Read, Seek, SeekFrom, Write};
/// use zerohop::blocking::{FileReader, FileSystem, FileWriter};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let fs: FileSystem = zerohop::FileSystem::builder().build_blocking()?;
/// let mut writer: FileWriter = fs.append("/log", Default::default())?;
/// writer.write_all(b"one more line\n")?;
/// writer.hsync()?; // It is on the disks of all DataNodes.
/// writer.close()?;
///
/// let mut reader: FileReader = fs.open("/log")?;
/// reader.seek(SeekFrom::End(-14))?;
/// let mut line = String::new();
/// reader.read_to_string(&mut line)?;
/// # Ok(()) }
/// ```
#[cfg(feature = "blocking")]
pub use zerohop_client::blocking;

/// HDFS as an object store: the `ObjectStore` that arrow, DataFusion, Delta Lake and others read and write with.
///
/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> Result<(), Box<dyn std::error::Error>> {
/// use zerohop::object_store::HdfsObjectStore;
/// use zerohop::object_store::object_store::{ObjectStoreExt, path::Path};
/// let store = HdfsObjectStore::new(fs).with_root("/warehouse");
/// store.put(&Path::from("orders/part-0"), "bytes".into()).await?;
/// let some = store.get_range(&Path::from("orders/part-0"), 1..3).await?;
/// # Ok(()) }
/// ```
#[cfg(feature = "object-store")]
pub use zerohop_object_store as object_store;

/// ```no_run
/// # async fn example() -> zerohop::Result<()> {
/// use zerohop::{FileSystem, RenameOptions};
/// let fs = FileSystem::builder().name_node("hdfs://nameservice1").build()?;
/// fs.mkdirs("/staging/day").await?;
/// for entry in fs.list("/staging/day").await? {
///     println!("{} {}", entry.len, entry.path);
/// }
/// fs.rename2("/staging/day", "/done/day", RenameOptions::default()).await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::FileSystem;

/// ```no_run
/// # fn example(fs: zerohop::FileSystem) {
/// use zerohop::CallerContext;
/// // In the NameNode's audit log, behind each change that this client makes from now on.
/// fs.set_caller_context(Some(CallerContext::new("nightly-load").with_field("job", "7", ",")));
/// # }
/// ```
///
pub use zerohop_client::CallerContext;

/// ```no_run
/// # fn example() -> zerohop::Result<()> {
/// use zerohop::Builder;
/// let alice: Builder = zerohop::FileSystem::builder().config_dir("/etc/hadoop/conf").user("alice");
/// let fs = alice.set("dfs.replication", "2").build()?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::Builder;

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::FileReader;
/// let file: FileReader = fs.open("/table/part-0").await?;
/// // Positions are independent: reads may go on at the same time.
/// let (head, tail) = tokio::try_join!(
///     file.read_bytes_at(0, 4),
///     file.read_bytes_at(file.len().saturating_sub(8), 8),
/// )?;
/// let columns = file.read_ranges(&[(1000, 500), (90_000, 700)]).await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::FileReader;

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use futures_util::TryStreamExt;
/// use zerohop::ByteStream;
/// let mut reader = fs.open("/video").await?;
/// reader.seek_to(1 << 20)?;
/// let pieces: ByteStream = reader.into_stream_of(4 << 20);
/// let all: Vec<bytes::Bytes> = pieces.try_collect().await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::ByteStream;

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem, body: bytes::Bytes) -> zerohop::Result<()> {
/// use zerohop::{FileWriter, SyncOptions};
/// let mut file: FileWriter = fs.create("/upload", Default::default()).await?;
/// file.write_bytes(body).await?;
/// file.hsync_with(SyncOptions::default().update_length(true)).await?;
/// file.close().await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::FileWriter;

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::Entries;
/// let mut entries: Entries = fs.entries("/many/files");
/// while let Some(entry) = entries.next().await {
///     println!("{}", entry?.name());
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::Entries;

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::Walk;
/// let (mut walk, mut bytes): (Walk, u64) = (fs.walk("/user"), 0);
/// while let Some(entry) = walk.next().await.transpose()? {
///     bytes += entry.len;
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::Walk;

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::ListPages;
/// let mut pages: ListPages = fs.list_pages("/many/files")?;
/// while let Some(page) = pages.next().await? {
///     println!("{} names", page.len());
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::ListPages;

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{Error, ErrorKind, NoConnection, Result};
/// let opened: Result<_> = fs.open("/data").await;
/// match opened {
///     Ok(file) => println!("{} bytes", file.len()),
///     Err(error) if error.kind() == ErrorKind::NotFound => println!("nothing there"),
///     Err(error) => {
///         if let Some(NoConnection { address, source, .. }) = error.no_connection() {
///             println!("is the NameNode at {address} up? {source}");
///         } else if let Some(class) = error.java_class() {
///             println!("the NameNode threw {class}: {error}");
///         }
///         return Err::<(), Error>(error);
///     }
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{Error, ErrorKind, NoConnection, Result};

/// ```
/// use zerohop::{CreateOptions, DataChecksum};
/// let options = CreateOptions::overwriting()
///     .replication(2)
///     .block_size(256 << 20)
///     .permission(0o640_u16)
///     .checksum(DataChecksum::default())
///     .storage_policy("ONE_SSD".to_owned());
/// assert_eq!(options.replication, Some(2));
/// ```
///
pub use zerohop_client::CreateOptions;

/// ```
/// use zerohop::{OpenOptions, Verify};
/// let options = OpenOptions::verifying(Verify::Once);
/// assert_eq!(options.verify, Verify::Once);
/// ```
///
pub use zerohop_client::{OpenOptions, Verify};

/// ```
/// use zerohop::AppendOptions;
/// assert!(AppendOptions::default().new_block(true).new_block);
/// ```
///
pub use zerohop_client::AppendOptions;

/// ```
/// use zerohop::SyncOptions;
/// assert!(SyncOptions::default().end_block(true).end_block);
/// ```
///
pub use zerohop_client::SyncOptions;

/// ```
/// use zerohop::RenameOptions;
/// assert!(RenameOptions::default().overwrite(true).overwrite);
/// ```
///
pub use zerohop_client::RenameOptions;

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{FileKind, FileStatus, InodeId};
/// let status: FileStatus = fs.status("/data").await?;
/// let inode: InodeId = status.file_id; // The same after a rename.
/// if status.kind == FileKind::File {
///     println!("{} owns {} bytes, {:o}", status.owner, status.len, status.permission);
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{FileKind, FileStatus, InodeId};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{DatanodeInfo, LocatedBlock, LocatedBlocks, Replica, StorageType};
/// let located: LocatedBlocks = fs.block_locations("/data", 0, u64::MAX >> 1).await?;
/// for LocatedBlock { offset, replicas, .. } in located.blocks {
///     for Replica { node, storage_type, .. } in &replicas {
///         let on: &DatanodeInfo = node;
///         println!("{offset}: {}, SSD: {}", on.host(), *storage_type == StorageType::Ssd);
///     }
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{DatanodeInfo, LocatedBlock, LocatedBlocks, Replica, StorageType};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{CacheStatistics, HedgedReads, RangeCount, ReadPath, ReadReason, ReadStatistics};
/// let statistics: ReadStatistics = fs.read_statistics();
/// println!("{} of {} bytes locally", statistics.local_bytes(), statistics.total());
/// for RangeCount { path, reason, bytes, .. } in statistics.ranges {
///     println!("{bytes} bytes by {}, because {}", ReadPath::name(path), ReadReason::name(reason));
/// }
/// let (replicas, hedged): (CacheStatistics, HedgedReads) = (fs.cache_statistics(), fs.hedged_reads());
/// println!("{} replicas of this machine are open", replicas.open);
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{
    CacheStatistics, HedgedReads, RangeCount, ReadPath, ReadReason, ReadStatistics,
};

/// ```no_run
/// # fn example(fs: zerohop::blocking::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{SharedBytes, ZeroCopyRead};
/// let mut reader = fs.open("/data")?;
/// let read: ZeroCopyRead = reader.read_zero_copy(1 << 20)?;
/// let bytes: SharedBytes<'_> = read.bytes(); // Others may change them: they are no slice.
/// let mut copy = vec![0; bytes.len()];
/// bytes.copy_to(&mut copy);
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{SharedBytes, ZeroCopyRead};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::FileChecksum;
/// let (a, b): (Option<FileChecksum>, _) = (fs.checksum("/a").await?, fs.checksum("/b").await?);
/// println!("the same: {}", a == b);
/// # Ok(()) }
/// ```
///
pub use zerohop_client::FileChecksum;

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{AclEntry, AclKind, AclScope, AclStatus};
/// let may_read = AclEntry::new(AclKind::User, 0o4).name("bob");
/// fs.modify_acl("/shared", &[may_read.clone(), may_read.default_scope()]).await?;
/// let list: AclStatus = fs.acl_status("/shared").await?;
/// let of_new_files = list.entries.iter().filter(|entry| entry.scope == AclScope::Default);
/// println!("{} entries for new files", of_new_files.count());
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{AclEntry, AclKind, AclScope, AclStatus};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{XAttr, XAttrFlags, XAttrNamespace};
/// fs.set_xattr("/data", "user.color", b"red", XAttrFlags::default()).await?;
/// let attributes: Vec<XAttr> = fs.xattrs("/data").await?;
/// assert!(attributes.iter().any(|attribute| attribute.namespace == XAttrNamespace::User));
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{XAttr, XAttrFlags, XAttrNamespace};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{CacheDirective, CacheDirectiveStats, CacheExpiry, CachePool, CachePoolStats};
/// fs.add_cache_pool(&CachePool::new("hot").limit(1 << 30)).await?;
/// let table = CacheDirective::default().path("/hot/table".to_owned()).pool("hot".to_owned());
/// let for_an_hour = table.expiry(CacheExpiry { ms: 3_600_000, is_relative: true });
/// fs.add_cache_directive(&for_an_hour, false).await?;
/// for (pool, stats) in fs.cache_pools().await? {
///     let CachePoolStats { bytes_cached, bytes_needed, .. } = stats;
///     println!("{}: {bytes_cached} of {bytes_needed} bytes", pool.name);
/// }
/// let all: Vec<(CacheDirective, CacheDirectiveStats)> =
///     fs.cache_directives(&CacheDirective::default()).await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{
    CacheDirective, CacheDirectiveStats, CacheExpiry, CachePool, CachePoolStats,
};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{ContentSummary, QuotaUsage, TypeUsage};
/// let summary: ContentSummary = fs.content_summary("/user").await?;
/// let usage: QuotaUsage = fs.quota_usage("/user/alice").await?;
/// for TypeUsage { storage_type, consumed, quota, .. } in usage.types {
///     println!("{}: {consumed} of {quota}", storage_type.as_str_name());
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{ContentSummary, QuotaUsage, TypeUsage};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{DatanodeReportType, DatanodeStorage, FsStats, SafeModeAction, Volume};
/// let FsStats { used, capacity, .. } = fs.fs_stats().await?;
/// let is_read_only = fs.safe_mode(SafeModeAction::SafemodeGet).await?;
/// for DatanodeStorage { node, volumes, .. } in
///     fs.datanode_storage_report(DatanodeReportType::Live).await?
/// {
///     let failed = |volume: &&Volume| volume.is_failed;
///     println!("{node}: {} volumes failed", volumes.iter().filter(failed).count());
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{DatanodeReportType, DatanodeStorage, FsStats, SafeModeAction, Volume};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{CorruptFiles, OpenFile, ServerDefaults, StoragePolicy};
/// let CorruptFiles { paths, .. } = fs.corrupt_files("/", "").await?;
/// let (open, has_more): (Vec<OpenFile>, bool) = fs.open_files("/", 0).await?;
/// let ServerDefaults { block_size, replication, .. } = fs.server_defaults().await?;
/// let StoragePolicy { name, .. } = fs.storage_policy("/hot").await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{CorruptFiles, OpenFile, ServerDefaults, StoragePolicy};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{RollingUpgrade, RollingUpgradeAction};
/// let under_way: Option<RollingUpgrade> = fs.rolling_upgrade(RollingUpgradeAction::Query).await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{RollingUpgrade, RollingUpgradeAction};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{Snapshot, SnapshotChange, SnapshotChangeKind, SnapshotDiff, SnapshottableDirectory};
/// let may_have: Option<Vec<SnapshottableDirectory>> = fs.snapshottable_directories().await?;
/// let yesterday = fs.create_snapshot("/table", Some("yesterday")).await?;
/// let all: Option<Vec<Snapshot>> = fs.snapshots("/table").await?;
/// let diff: SnapshotDiff = fs.snapshot_diff("/table", "yesterday", "").await?;
/// for SnapshotChange { kind, path, .. } in diff.changes {
///     println!("{path} is new: {}", kind == SnapshotChangeKind::Create);
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{
    Snapshot, SnapshotChange, SnapshotChangeKind, SnapshotDiff, SnapshottableDirectory,
};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{SnapshotDiffCursor, SnapshotDiffEntry, SnapshotDiffPage};
/// let start = SnapshotDiffCursor::default();
/// let page: SnapshotDiffPage = fs.snapshot_diff_page("/table", "monday", "tuesday", start).await?;
/// for SnapshotDiffEntry { path, .. } in page.created {
///     println!("{path} is new");
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{SnapshotDiffCursor, SnapshotDiffEntry, SnapshotDiffPage};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{ErasureCodingPolicy, ErasureCodingPolicyState};
/// let all: Vec<ErasureCodingPolicy> = fs.erasure_coding_policies().await?;
/// let is_enabled = |policy: &&ErasureCodingPolicy| policy.state == ErasureCodingPolicyState::Enabled;
/// println!("{} policies are enabled", all.iter().filter(is_enabled).count());
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{ErasureCodingPolicy, ErasureCodingPolicyState};

/// ```
/// use zerohop::User;
/// assert_eq!(User::new("alice").name, "alice");
/// ```
///
pub use zerohop_client::User;

/// ```no_run
/// use zerohop::{Conf, ConfError, FileSystem};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let loaded: Result<Conf, ConfError> = Conf::load("/etc/hadoop/conf");
/// let mut conf = loaded?;
/// conf.set("dfs.client.read.shortcircuit", "true");
/// let fs = FileSystem::builder().conf(conf).build_blocking()?;
/// # Ok(()) }
/// ```
///
pub use zerohop_conf::{Conf, ConfError};

/// ```
/// use zerohop::{ChecksumType, DataChecksum};
/// let checksum = DataChecksum::new(ChecksumType::Crc32c, 512).unwrap();
/// assert_eq!(checksum, DataChecksum::default());
/// ```
///
pub use zerohop_wire::checksum_type::{ChecksumType, DataChecksum};
