//! The wall clocks of all daemons of a pair are set forward and back while clients work: nothing may be decided by them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use zerohop_client::blocking::FileSystem;
use zerohop_client::{AppendOptions, DatanodeReportType, ErrorKind, User};
use zerohop_interop::harm::{Explain, check, client, client_as, shape, write};
use zerohop_interop::pair::{LIMIT, Pair, SHORT, other};
use zerohop_interop::stepped_clock::SteppedClock;
use zerohop_interop::{Outcome, tools, wait};

const DATANODES: usize = 2;
const DAY_S: i64 = 24 * 3600;
const SEED: u64 = 61;
/// A DataNode whose heartbeats stand still is dead within this time, by the settings below; a writer whose lease is not renewed
/// has lost it.
const LONG: Duration = Duration::from_secs(14);
/// Longer than anything waits that is asked at intervals.
const BRIEF: Duration = Duration::from_secs(4);

/// DataNodes are dead after 11 seconds, and leases are looked at every second.
const SETTINGS: [(&str, &str); 6] = [
    SHORT[0],
    SHORT[1],
    ("dfs.heartbeat.interval", "1"),
    ("dfs.namenode.heartbeat.recheck-interval", "500"),
    ("dfs.namenode.lease-recheck-interval-ms", "1000"),
    ("dfs.namenode.checkpoint.check.period", "1"),
];

/// How often the controllers have made a NameNode active.
fn transitions(pair: &Pair) -> usize {
    let logs = std::fs::read_dir(pair.directory.join("data/logs")).into_iter().flatten().flatten();
    let texts = logs.filter_map(|log| std::fs::read_to_string(log.path()).ok());
    let is_one = |line: &&str| line.contains("controller") && line.ends_with(" is active");
    texts.map(|text| text.lines().filter(is_one).count()).sum()
}

/// How far the clock of the active NameNode is off, in seconds.
fn offset_s(fs: &FileSystem, path: &str) -> Outcome<i64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).at("the time")?;
    let theirs = fs.status(path).at(path)?.modified_ms as i64 / 1000;
    Ok(theirs - now.as_secs() as i64)
}

struct Work {
    fs: FileSystem,
    stranger: FileSystem,
    active: &'static str,
    transitions: usize,
    made: usize,
    written: u64,
}

impl Work {
    fn make(&mut self) -> Outcome<String> {
        let path = format!("/made-{}", self.made);
        self.fs.mkdirs(&path).at(&path)?;
        self.made += 1;
        Ok(path)
    }

    /// What must be so at any time.
    fn look(&self, pair: &Pair) -> Outcome {
        let count = |kind| self.fs.datanode_report(kind).at("DataNodes").map(|nodes| nodes.len());
        let (live, dead) = (count(DatanodeReportType::Live)?, count(DatanodeReportType::Dead)?);
        if (live, dead) != (DATANODES, 0) {
            return Err(format!("{live} DataNodes are live, {dead} dead"));
        }
        match self.stranger.append("/open", AppendOptions::default()) {
            Err(error) if error.kind() == ErrorKind::Fenced => {}
            Err(error) => return Err(format!("/open, for another writer: {error}")),
            Ok(_) => return Err("/open was given to another writer".to_owned()),
        }
        let (active, count) = (pair.active()?, transitions(pair));
        match active == Some(self.active) && count == self.transitions {
            true => Ok(()),
            false => Err(format!(
                "{} was replaced: {active:?} is active, {count} transitions in place of {}",
                self.active, self.transitions
            )),
        }
    }
}

fn history(pair: &mut Pair, clock: &SteppedClock) -> Outcome {
    wait::until("one is active", LIMIT, || Ok(pair.active()?.is_some()))?;
    let active = pair.active()?.ok_or("none is active")?;
    let fs = client(&pair.conf(), &[])?;
    wait::until("the DataNodes are live", LIMIT, || {
        let live = fs.datanode_report(DatanodeReportType::Live).at("DataNodes")?;
        Ok(live.len() == DATANODES)
    })?;
    let mut writer = fs.create("/open", shape(2, 1 << 20)).at("/open")?;
    let stranger = client_as(&pair.conf(), &[], User::of_process())?;
    let transitions = transitions(pair);
    let mut work = Work { fs, stranger, active, transitions, made: 0, written: 0 };
    for (step_s, time) in [(DAY_S, BRIEF), (-DAY_S, LONG), (3600, BRIEF), (0, LONG)] {
        clock.set(step_s)?;
        wait::until("the clock is stepped", LIMIT, || {
            let path = work.make()?;
            Ok((offset_s(&work.fs, &path)? - step_s).abs() < 600)
        })?;
        let begun = Instant::now();
        while begun.elapsed() < time {
            work.make()?;
            write(&mut writer, SEED, 10_000).and_then(|()| writer.hflush()).at("/open")?;
            work.written += 10_000;
            work.look(pair).map_err(|e| format!("{step_s} s, {:?}: {e}", begun.elapsed()))?;
        }
    }
    writer.close().at("/open")?;
    // The standby has followed all the time.
    pair.signal(active, libc::SIGKILL)?;
    pair.until_active(other(active))?;
    for number in 0..work.made {
        let path = format!("/made-{number}");
        if !work.fs.exists(&path).at(&path)? {
            return Err(format!("{path} is lost"));
        }
    }
    check(&work.fs, "/open", SEED, work.written)
}

#[test]
fn nothing_follows_from_a_clock_that_is_set_forward_and_back() {
    let name = "failover-clock";
    let offset = tools::clusters().join("failover-clock-offset");
    std::fs::create_dir_all(tools::clusters()).unwrap();
    let Some(clock) = SteppedClock::new(offset).unwrap() else { return };
    let mut pair =
        Pair::start_as(name, &SETTINGS, DATANODES, |command| clock.give_to(command)).unwrap();
    let outcome = history(&mut pair, &clock);
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
}
