//! Where log lines go: to standard error for daemons, to a file for an embedded cluster.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Mutex;

use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use zerohop_conf::{Conf, ineffective_keys, unknown_keys};
use zerohop_transport::waits::WAITS;

use crate::failure::{Failure, Outcome};
use crate::waiting::Waiting;

/// The audit log is off, as Hadoop's scripts have it (`HDFS_AUDIT_LOGGER=INFO,NullAppender`).
const DEFAULT: &str = "info,org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=off";

fn filter() -> EnvFilter {
    EnvFilter::try_from_env("ZEROHOP_LOG").unwrap_or_else(|_| EnvFilter::new(DEFAULT))
}

/// What a command of the user prints on standard error beside its own output: warnings about the
/// configuration and what it waits for, or what ZEROHOP_LOG asks for, keys without effect included. Does
/// nothing where lines go somewhere already.
pub fn of_client(conf: &Conf) {
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .with_writer(std::io::stderr);
    let registry = tracing_subscriber::registry();
    let started = match EnvFilter::try_from_env("ZEROHOP_LOG") {
        Ok(filter) => registry.with(lines.with_filter(filter)).try_init(),
        Err(_) => {
            let settings = Targets::new().with_target("zerohop_client::settings", Level::WARN);
            let waits = Targets::new().with_target(WAITS, Level::WARN);
            let waiting = Waiting::default().with_filter(waits);
            registry.with(lines.with_filter(settings)).with(waiting).try_init()
        }
    };
    if started.is_ok() {
        ineffective_keys(conf).iter().for_each(|line| tracing::warn!("{line}"));
        for line in unknown_keys(conf) {
            tracing::warn!(target: "zerohop_client::settings", "{line}");
        }
    }
}

/// Lines go to standard error.
pub fn to_stderr() {
    let builder = tracing_subscriber::fmt().with_env_filter(filter()).with_ansi(false);
    builder.with_writer(std::io::stderr).init();
    log_panics();
}

/// Panics are lines of the log too, with the calls that led to them.
fn log_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        tracing::error!("{panic}\n{}", std::backtrace::Backtrace::force_capture());
    }));
}

/// Lines go to the end of a file.
pub fn to_file(path: &Path) -> Outcome {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let file = file.map_err(|error| {
        Failure::io(format!("cannot write the log {}: {error}", path.display()))
    })?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter()).with_ansi(false);
    builder.with_writer(Mutex::new(file)).init();
    log_panics();
    Ok(())
}
