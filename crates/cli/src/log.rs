//! Where log lines go: to standard error for daemons, to a file for an embedded cluster.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

use crate::failure::{Failure, Outcome};

/// The audit log is off, as Hadoop's scripts have it (`HDFS_AUDIT_LOGGER=INFO,NullAppender`).
const DEFAULT: &str = "info,org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=off";

fn filter() -> EnvFilter {
    EnvFilter::try_from_env("ZEROHOP_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT))
}

/// Lines go to standard error.
pub fn to_stderr() {
    let builder = tracing_subscriber::fmt().with_env_filter(filter()).with_ansi(false);
    builder.with_writer(std::io::stderr).init();
}

/// Lines go to the end of a file.
pub fn to_file(path: &Path) -> Outcome {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.map_err(|error| {
        Failure::io(format!("cannot write the log {}: {error}", path.display()))
    })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter()).with_ansi(false);
    builder.with_writer(Mutex::new(file)).init();
    Ok(())
}
