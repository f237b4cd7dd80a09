//! What `balancer` and `mover` share: what they show while they work, and how they end.

use jiff::tz::TimeZone;
use parking_lot::Mutex;
use serde_json::json;
use zerohop_balancer::{Cluster, Error, ExitStatus, Iteration, Observer};
use zerohop_conf::{Conf, ineffective_keys, keys};

use crate::failure::Outcome;
use crate::fs::{Progress, client_failure, no_hdfs};
use crate::running::check_named;
use crate::stop::{Cause, Stop};
use crate::units::{human, now_ms, time};
use crate::{log, wording};

/// Java's short form of a date and a time in English.
const TIME: &str = "%b %-d, %Y, %-I:%M:%S %p";
/// Keys about where replicas may go that are not implemented, besides those of the program itself.
const PLACEMENT: [&str; 2] = ["dfs.block.replicator.classname", "net.topology.impl"];

/// Shows how far a program is: lines on standard output, or JSON; a progress bar at a terminal.
pub struct Display {
    program: &'static str,
    as_json: bool,
    begin_ms: i64,
    bar: Mutex<Option<Progress>>,
    /// The last message, for JSON.
    message: Mutex<Option<String>>,
}

impl Display {
    pub fn new(program: &'static str, as_json: bool) -> Display {
        Display {
            program,
            as_json,
            begin_ms: now_ms(),
            bar: Mutex::new(None),
            message: Mutex::new(None),
        }
    }

    fn clear_bar(&self) {
        if let Some(bar) = self.bar.lock().take() {
            bar.finish();
        }
    }

    /// The last line. `took` puts a number of milliseconds in the program's words.
    fn end(&self, status: &str, code: i32, took: impl Fn(i64) -> String) {
        self.clear_bar();
        let (now, message) = (now_ms(), self.message.lock().take());
        let ms = now - self.begin_ms;
        match self.as_json {
            true => sayln!(
                "{}",
                json!({"status": status, "exitCode": code & 0xff, "message": message, "tookMs": ms})
            ),
            false => sayln!("{:<24} {}", time(now, TIME, &TimeZone::system()), took(ms)),
        }
    }
}

impl Observer for Display {
    fn iteration(&self, iteration: &Iteration) {
        self.clear_bar();
        let Iteration { number, bytes_moved, blocks_moved, bytes_left, bytes_planned, namenode } =
            iteration;
        if self.as_json {
            let line = json!({
                "time": now_ms(),
                "iteration": number,
                "bytesAlreadyMoved": bytes_moved,
                "bytesLeftToMove": bytes_left,
                "bytesBeingMoved": bytes_planned,
                "blocksMoved": blocks_moved,
                "namenode": namenode,
            });
            return sayln!("{line}");
        }
        let bytes = |count: Option<u64>| human(count.map_or(-1, |count| count as i64), "B", 2);
        sayln!(
            "{:<24} {number:>10}  {:>19}  {:>18}  {:>17}  {blocks_moved:>17}  {namenode}",
            time(now_ms(), TIME, &TimeZone::system()),
            bytes(Some(*bytes_moved)),
            bytes(*bytes_left),
            bytes(*bytes_planned)
        );
    }

    fn message(&self, text: &str) {
        self.clear_bar();
        match self.as_json {
            true => *self.message.lock() = Some(text.to_owned()),
            false => sayln!("{text}"),
        }
    }

    fn problem(&self, text: &str) {
        self.clear_bar();
        noteln!("{text}");
    }

    fn planned(&self, bytes: u64) {
        self.bar.lock().get_or_insert_with(Progress::new).expect(bytes);
    }

    fn moved(&self, bytes: u64) {
        if let Some(bar) = &*self.bar.lock() {
            bar.done(bytes);
        }
    }
}

/// The name services of the configuration; the default file system alone, where it is none of them.
pub fn clusters(conf: &Conf) -> Outcome<Vec<Cluster>> {
    check_named(conf)?;
    let mut services = conf.get(&keys::DFS_INTERNAL_NAMESERVICES)?;
    if services.is_empty() {
        services = conf.get(&keys::DFS_NAMESERVICES)?;
    }
    let names = match conf.default_hdfs()? {
        Some(authority) if !services.iter().any(|name| name == authority.host()) => {
            vec![authority.to_string()]
        }
        None if services.is_empty() => return Err(no_hdfs(&conf.default_fs()?)),
        _ => services,
    };
    let cluster = |name| Cluster { uri: format!("hdfs://{name}"), paths: Vec::new() };
    Ok(names.into_iter().map(cluster).collect())
}

/// Warns of keys that would change what is moved where, and that are not implemented.
pub fn warn_of_ineffective_keys(conf: &Conf, prefix: &str) {
    let is_meant = |line: &str| {
        let name = line.split_once(": ").and_then(|(_, rest)| rest.split_whitespace().next());
        name.is_some_and(|name| name.starts_with(prefix) || PLACEMENT.contains(&name))
    };
    for line in ineffective_keys(conf).iter().filter(|line| is_meant(line)) {
        noteln!("{line}");
    }
}

/// How a program ended; `None` where a signal ended it.
type Ended = Result<Option<ExitStatus>, Error>;

/// Runs a program on a runtime of its own until it ends or a signal comes; its exit code.
pub fn run(
    conf: &Conf,
    display: &Display,
    took: impl Fn(i64) -> String,
    work: impl AsyncFnOnce(&mut (dyn Future<Output = ()> + Unpin)) -> Ended,
) -> Outcome<i32> {
    log::of_client(conf);
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build()?;
    let (ended, cause) = runtime.block_on(async {
        let mut signals = Stop::new()?;
        let mut cause: Option<Cause> = None;
        let mut stop = Box::pin(async { cause = Some(signals.wait().await) });
        let ended = work(&mut stop).await;
        drop(stop);
        Outcome::Ok((ended, cause))
    })?;
    let (status, code) = match (ended, cause) {
        (Ok(Some(status)), _) => (status.name(), status.code()),
        (Ok(None), cause) => ("INTERRUPTED", cause.map_or(1, Cause::exit_code)),
        (Err(error), _) => {
            complain(display, &error);
            (error.status().name(), error.status().code())
        }
    };
    display.end(status, code, took);
    Ok(code)
}

fn complain(display: &Display, error: &Error) {
    let text = match error {
        Error::Client(error) => client_failure(error.clone()).to_string(),
        Error::AlreadyRunning(name, _) if wording::is_apaches() => {
            format!("java.io.IOException: Another {name} is running.")
        }
        other => other.to_string(),
    };
    display.clear_bar();
    match wording::is_apaches() {
        true => sayln!("{text}.  Exiting ..."),
        false => noteln!("{}: {text}", display.program),
    }
}
