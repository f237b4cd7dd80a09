//! Where DataFusion reads the tables from.

use crate::failure::Result;
use crate::schema::DIMENSIONS;
use crate::tables::Tables;
use datafusion::prelude::{SessionConfig, SessionContext};
use serde::Serialize;
use std::sync::Arc;
use zerohop::{Conf, FileSystem, ReadPath, ReadStatistics};
use zerohop_datafusion::{HdfsRegistry, session_context_with};

/// One of the three sources of the same tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// HDFS with short-circuit reads.
    LocalReads,
    /// HDFS over TCP: of two machines, from the other one.
    Tcp,
    /// Files of the local disk.
    Files,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::LocalReads, Self::Tcp, Self::Files];

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::LocalReads => "local reads",
            Self::Tcp => "TCP",
            Self::Files => "local files",
        }
    }
}

/// A DataFusion session that knows the tables of one source; nothing of it is shared with another.
pub struct Session {
    context: SessionContext,
    fs: Option<FileSystem>,
}

impl Session {
    /// Makes the session and creates its tables, for which DataFusion reads the footers of all files.
    pub async fn open(source: Source, conf: &Conf, tables: &Tables) -> Result<Self> {
        let is_local = if source == Source::LocalReads { "true" } else { "false" };
        let builder = FileSystem::builder().conf(conf.clone());
        let builder = builder.set("dfs.client.read.shortcircuit", is_local);
        let registry = Arc::new(HdfsRegistry::with_builder(builder));
        let url = |table| tables.url(source, table);
        let fs = match source {
            Source::Files => None,
            _ => Some(registry.file_system(&url("facts").parse()?)?),
        };
        let context = session_context_with(SessionConfig::new(), registry)?;
        for table in DIMENSIONS.into_iter().chain(["facts"]) {
            let url = url(table).replace('\'', "''");
            let sql = format!("CREATE EXTERNAL TABLE {table} STORED AS PARQUET LOCATION '{url}'");
            context.sql(&sql).await?;
        }
        Ok(Self { context, fs })
    }

    /// The answer to a query, as a table of text.
    pub async fn ask(&self, sql: &str) -> Result<String> {
        let answer = self.context.sql(sql).await?.collect().await?;
        Ok(datafusion::arrow::util::pretty::pretty_format_batches(&answer)?.to_string())
    }

    /// What was read from HDFS so far.
    pub fn statistics(&self) -> ReadStatistics {
        self.fs.as_ref().map(FileSystem::read_statistics).unwrap_or_default()
    }
}

/// Bytes by the way they were read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathBytes {
    /// The name of the read path.
    pub path: &'static str,
    /// Bytes in one run.
    pub bytes: u64,
}

/// The bytes between two statistics of the same client, by path.
pub fn bytes_between(before: &ReadStatistics, after: &ReadStatistics) -> Vec<PathBytes> {
    let paths = ReadPath::ALL.into_iter().map(|path| PathBytes {
        path: path.name(),
        bytes: after.bytes_by(path).saturating_sub(before.bytes_by(path)),
    });
    paths.filter(|read| read.bytes > 0).collect()
}
