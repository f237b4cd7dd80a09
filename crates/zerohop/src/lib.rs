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
pub use zerohop_client::blocking;

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
/// use zerohop::{Error, ErrorKind};
/// match fs.open("/data").await {
///     Ok(file) => println!("{} bytes", file.len()),
///     Err(error) if error.kind() == ErrorKind::NotFound => println!("nothing there"),
///     Err(error) => {
///         if let Some(why) = error.no_connection() {
///             println!("is the NameNode at {} up? {}", why.address, why.source);
///         } else if let Some(class) = error.java_class() {
///             println!("the NameNode threw {class}: {error}");
///         }
///         return Err::<(), Error>(error);
///     }
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::Error;
pub use zerohop_client::{ErrorKind, NoConnection, Result};

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
pub use zerohop_client::OpenOptions;

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
pub use zerohop_client::Verify;

pub use zerohop_client::FileKind;
/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{FileKind, FileStatus};
/// let status: FileStatus = fs.status("/data").await?;
/// if status.kind == FileKind::File {
///     println!("{} owns {} bytes, {:o}", status.owner, status.len, status.permission);
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::{FileStatus, InodeId};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{LocatedBlock, LocatedBlocks};
/// let located: LocatedBlocks = fs.block_locations("/data", 0, u64::MAX >> 1).await?;
/// for LocatedBlock { offset, replicas, .. } in located.blocks {
///     let hosts: Vec<&str> = replicas.iter().map(|replica| replica.node.host()).collect();
///     println!("{offset}: {hosts:?}");
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::LocatedBlocks;
pub use zerohop_client::{DatanodeInfo, LocatedBlock, Replica, StorageType};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{RangeCount, ReadStatistics};
/// let statistics: ReadStatistics = fs.read_statistics();
/// println!("{} of {} bytes locally", statistics.local_bytes(), statistics.total());
/// for RangeCount { path, reason, bytes, .. } in statistics.ranges {
///     println!("{bytes} bytes by {}, because {}", path.name(), reason.name());
/// }
/// # Ok(()) }
/// ```
///
pub use zerohop_client::ReadStatistics;
pub use zerohop_client::{CacheStatistics, RangeCount, ReadPath, ReadReason};

pub use zerohop_client::SharedBytes;
/// ```no_run
/// # fn example(fs: zerohop::blocking::FileSystem) -> zerohop::Result<()> {
/// use zerohop::ZeroCopyRead;
/// let mut reader = fs.open("/data")?;
/// let read: ZeroCopyRead = reader.read_zero_copy(1 << 20)?;
/// let mut copy = vec![0; read.len()];
/// read.bytes().copy_to(&mut copy);
/// # Ok(()) }
/// ```
///
pub use zerohop_client::ZeroCopyRead;

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
/// use zerohop::{AclEntry, AclKind};
/// let may_read = AclEntry::new(AclKind::User, 0o4).name("bob");
/// fs.modify_acl("/shared", &[may_read]).await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::AclEntry;
pub use zerohop_client::{AclKind, AclScope, AclStatus};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::XAttr;
/// let attributes: Vec<XAttr> = fs.xattrs("/data").await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::XAttr;
pub use zerohop_client::{XAttrFlags, XAttrNamespace};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{CacheDirective, CachePool};
/// fs.add_cache_pool(&CachePool::new("hot").limit(1 << 30)).await?;
/// let table = CacheDirective::default().path("/hot/table".to_owned()).pool("hot".to_owned());
/// fs.add_cache_directive(&table, false).await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::CacheDirective;
pub use zerohop_client::{CacheDirectiveStats, CacheExpiry, CachePool, CachePoolStats};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{ContentSummary, QuotaUsage};
/// let summary: ContentSummary = fs.content_summary("/user").await?;
/// let usage: QuotaUsage = fs.quota_usage("/user/alice").await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::ContentSummary;
pub use zerohop_client::{QuotaUsage, TypeUsage};

/// ```no_run
/// # async fn example(fs: zerohop::FileSystem) -> zerohop::Result<()> {
/// use zerohop::{DatanodeReportType, FsStats, SafeModeAction};
/// let stats: FsStats = fs.fs_stats().await?;
/// let live = fs.datanode_report(DatanodeReportType::Live).await?;
/// let is_read_only = fs.safe_mode(SafeModeAction::SafemodeGet).await?;
/// # Ok(()) }
/// ```
///
pub use zerohop_client::FsStats;
pub use zerohop_client::{
    CorruptFiles, DatanodeReportType, DatanodeStorage, OpenFile, RollingUpgrade,
    RollingUpgradeAction, SafeModeAction, ServerDefaults, StoragePolicy, Volume,
};

/// ```
/// use zerohop::User;
/// assert_eq!(User::new("alice").name, "alice");
/// ```
///
pub use zerohop_client::User;

/// ```no_run
/// use zerohop::{Conf, FileSystem};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut conf = Conf::load("/etc/hadoop/conf")?;
/// conf.set("dfs.client.read.shortcircuit", "true");
/// let fs = FileSystem::builder().conf(conf).build_blocking()?;
/// # Ok(()) }
/// ```
///
pub use zerohop_conf::Conf;
pub use zerohop_conf::ConfError;

pub use zerohop_wire::checksum_type::ChecksumType;
/// ```
/// use zerohop::{ChecksumType, DataChecksum};
/// let checksum = DataChecksum::new(ChecksumType::Crc32c, 512).unwrap();
/// assert_eq!(checksum, DataChecksum::default());
/// ```
///
pub use zerohop_wire::checksum_type::DataChecksum;
