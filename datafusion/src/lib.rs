//! HDFS for DataFusion: tables at `hdfs://` URLs, read and written by zerohop's client.
//!
//! ```no_run
//! # async fn example() -> datafusion::error::Result<()> {
//! let session = zerohop_datafusion::session_context()?;
//! let create = "CREATE EXTERNAL TABLE orders STORED AS PARQUET LOCATION 'hdfs://sales/warehouse/orders/'";
//! session.sql(create).await?;
//! session.sql("SELECT region, sum(amount) FROM orders GROUP BY region").await?.show().await?;
//! session.sql("COPY (SELECT * FROM orders WHERE year = 2026) TO 'hdfs://sales/exports/2026.parquet'").await?.collect().await?;
//! # Ok(()) }
//! ```
//!
//! The first use of a name service or NameNode makes its client, from Hadoop's configuration: `hdfs://sales` is a name
//! service of hdfs-site.xml, `hdfs://nn.example.com:8020` a NameNode, `hdfs:///` what `fs.defaultFS` names.
//!
//! - **Local reads** are those of the client: with `dfs.client.read.shortcircuit` bytes come from the replica's file. Their
//!   share is in the statistics of [`HdfsRegistry::file_system`].
//! - **Calls to the NameNode**: a file of a query is opened once and stays open for two seconds
//!   ([`HdfsRegistry::with_files_open_for`]).
//! - **Writes** appear when they are complete. DataFusion uploads files in parts of
//!   `datafusion.execution.objectstore_writer_buffer_size`, 10 MiB unless it is set, and each part begins a block of HDFS: for
//!   tables that are read often, a part as large as a block (128 MiB) is better, at the price of that much memory for
//!   each part in flight.
//! - **Features of DataFusion** (`parquet`, `sql`, ...) are chosen by the program's own dependency on it.

mod registry;

use datafusion::error::Result;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
pub use registry::HdfsRegistry;
use std::sync::Arc;
pub use zerohop;

/// A session in which `hdfs://` URLs work, with Hadoop's configuration as HADOOP_CONF_DIR names it.
///
/// ```no_run
/// # async fn example() -> datafusion::error::Result<()> {
/// let session = zerohop_datafusion::session_context()?;
/// session.sql("CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION 'hdfs://nn:8020/t/'").await?;
/// # Ok(()) }
/// ```
pub fn session_context() -> Result<SessionContext> {
    session_context_with(SessionConfig::new(), Arc::new(HdfsRegistry::new()))
}

/// A session with settings of its own and a registry of which the caller keeps a reference.
///
/// ```no_run
/// # fn example() -> datafusion::error::Result<()> {
/// use datafusion::prelude::SessionConfig;
/// use std::sync::Arc;
/// use zerohop_datafusion::{HdfsRegistry, zerohop::FileSystem};
/// let by_tcp = FileSystem::builder().set("dfs.client.read.shortcircuit", "false");
/// let registry = Arc::new(HdfsRegistry::with_builder(by_tcp));
/// let config = SessionConfig::new().with_target_partitions(8);
/// let session = zerohop_datafusion::session_context_with(config, registry)?;
/// # Ok(()) }
/// ```
pub fn session_context_with(
    config: SessionConfig,
    registry: Arc<HdfsRegistry>,
) -> Result<SessionContext> {
    let runtime = RuntimeEnvBuilder::new().with_object_store_registry(registry).build_arc()?;
    Ok(SessionContext::new_with_config_rt(config, runtime))
}
