//! Where log lines go: to standard error for daemons, to a file for an embedded cluster.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{ParseError, Targets};
#[cfg(not(feature = "opentelemetry"))]
use tracing_subscriber::layer;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Registry, fmt, reload};

use zerohop_conf::{Conf, ineffective_keys, unknown_keys};
use zerohop_daemon::process_log::{ApplyDirectives, process_log};
use zerohop_system::stderr::Stderr;
use zerohop_transport::trace::TARGET;
use zerohop_transport::waits::WAITS;

use crate::failure::{Failure, Outcome};
use crate::spans;
use crate::waiting::Waiting;

/// The audit log is off, as Hadoop's scripts have it (`HDFS_AUDIT_LOGGER=INFO,NullAppender`).
const DEFAULT: &str = "info,org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit=off";

/// What ZEROHOP_LOG asks for, as text and as levels: `LEVEL` and `TARGET=LEVEL`, separated by commas.
fn wanted() -> Option<(String, Targets)> {
    let text = std::env::var("ZEROHOP_LOG").ok()?;
    match text.parse() {
        Ok(levels) => Some((text, levels)),
        Err(error) => {
            noteln!(
                "ZEROHOP_LOG={text} has no effect: {error}; give LEVEL or TARGET=LEVEL, separated by commas"
            );
            None
        }
    }
}

/// The levels of a daemon's log at its start.
fn directives() -> String {
    wanted().map_or_else(|| DEFAULT.to_owned(), |(text, _)| text)
}

/// Lines go to `writer`, and the newest are kept for the pages, which may change the levels.
fn begin<W>(writer: impl Fn() -> W + Send + Sync + 'static)
where
    W: Write + 'static,
{
    let log = process_log();
    let base = directives();
    let filter = without_spans(base.parse().unwrap_or_else(|_| Targets::new()));
    // Its own report of a failed write would panic on a standard error that is full.
    let lines = fmt::layer().with_ansi(false).log_internal_errors(false);
    let lines = lines.with_writer(move || log.tee(writer()));
    log.begin(&base, start(filter, lines));
    log_panics();
}

/// Starts the log, with spans beside it where they are exported; what changes its levels.
#[cfg(feature = "opentelemetry")]
fn start<L: Layer<Registry> + Send + Sync>(filter: Targets, lines: L) -> ApplyDirectives {
    let (filter, levels) = reload::Layer::new(filter);
    let log = tracing_subscriber::registry().with(lines.with_filter(filter));
    log.with(spans::layer()).init();
    apply_to(levels)
}

/// Starts the log; what changes its levels.
#[cfg(not(feature = "opentelemetry"))]
fn start<L>(filter: Targets, lines: L) -> ApplyDirectives
where
    L: Layer<layer::Layered<reload::Layer<Targets, Registry>, Registry>> + Send + Sync,
{
    let (filter, levels) = reload::Layer::new(filter);
    tracing_subscriber::registry().with(filter).with(lines).init();
    apply_to(levels)
}

fn apply_to<S: 'static>(levels: reload::Handle<Targets, S>) -> ApplyDirectives {
    Box::new(move |text: &str| {
        let wanted: Targets = text.parse().map_err(|error: ParseError| error.to_string())?;
        levels.reload(without_spans(wanted)).map_err(|error| error.to_string())
    })
}

/// Spans are exported, and are no part of lines.
fn without_spans(levels: Targets) -> Targets {
    levels.with_target(TARGET, LevelFilter::OFF)
}

/// Begins the log of a command, and with it the recording of spans, where these are wanted.
pub fn begin_spans(conf: &Conf) {
    if spans::are_wanted() {
        of_client(conf);
    }
}

/// What a command of the user prints on standard error beside its own output: warnings about the
/// configuration and what it waits for, or what ZEROHOP_LOG asks for, keys without effect included. Does
/// nothing where lines go somewhere already.
pub fn of_client(conf: &Conf) {
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .without_time()
        .with_target(false)
        .log_internal_errors(false)
        .with_writer(|| Stderr);
    let registry = tracing_subscriber::registry();
    #[cfg(feature = "opentelemetry")]
    let registry = registry.with(spans::layer());
    let started = match wanted() {
        Some((_, levels)) => registry.with(lines.with_filter(without_spans(levels))).try_init(),
        None => {
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
    begin(|| Stderr);
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
    // Appends of whole lines by several threads do not mix.
    let file = Arc::new(file);
    begin(move || SharedFile(Arc::clone(&file)));
    Ok(())
}

/// A file that several threads append lines to.
struct SharedFile(Arc<File>);

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.0).flush()
    }
}
