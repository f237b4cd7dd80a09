//! Measures a pair of ours with failover controllers on a real ZooKeeper: takeovers, failover by hand, idle memory, the
//! standby's lag, a synced edit. `interop-ha-bench [SECTION...]`, of `kill`, `machine`, `frozen`, `move`, `idle`, `create`, `lag` and
//! `edit`; all of them if none is named. Time-outs are the defaults. `ZEROHOP_HA_FILES`: so many directories are made first in
//! `kill` and `move`. Needs what testing/ensure-tools.sh installs.

mod least;
mod load;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use load::Load;
use zerohop_interop::harm::{footprint, http};
use zerohop_interop::pair::{LIMIT, Pair, other};
use zerohop_interop::{Outcome, wait};

const DATANODES: usize = 3;

/// Seconds, in order: median, smallest and largest.
fn summary(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    match (values.first(), values.get(values.len() / 2), values.last()) {
        (Some(least), Some(middle), Some(most)) => {
            format!("{middle:.6} ({least:.6} to {most:.6}, {} runs)", values.len())
        }
        _ => "nothing measured".to_owned(),
    }
}

/// What a takeover took.
#[derive(Default)]
struct Takeovers {
    active: Vec<f64>,
    written: Vec<f64>,
    failed: u64,
}

impl Takeovers {
    fn show(&self, what: &str) {
        println!("{what}: new active, s: {}", summary(self.active.clone()));
        println!("{what}: first write, s: {}", summary(self.written.clone()));
        println!("{what}: failed operations: {}", self.failed);
    }
}

/// Does something to the active NameNode under load, and brings back what has ended.
fn takeover(
    pair: &mut Pair,
    all: &mut Takeovers,
    harm: impl FnOnce(&mut Pair, &str) -> Outcome,
    back: impl FnOnce(&mut Pair, &str) -> Outcome,
) -> Outcome {
    let active = pair.active()?.ok_or("none is active")?;
    let load = Load::start(&pair.conf(), 1)?;
    load.until(50)?;
    let begun = Instant::now();
    harm(pair, active)?;
    let wanted = other(active);
    while pair.ours(&["haadmin", "-getServiceState", wanted])?.trim() != "active" {
        if begun.elapsed() > LIMIT {
            return Err(format!("{wanted} did not become active"));
        }
    }
    all.active.push(begun.elapsed().as_secs_f64());
    load.until_after(begun)?;
    let done = load.stop()?;
    all.written.push(done.end_of_gap(begun).as_secs_f64());
    all.failed += done.failed;
    back(pair, active)
}

fn start_again(pair: &mut Pair, id: &str) -> Outcome {
    pair.start_namenode(id, &[])
}

/// Fills the namespace as `ZEROHOP_HA_FILES` says.
fn fill(pair: &Pair) -> Outcome {
    let Ok(count) = std::env::var("ZEROHOP_HA_FILES") else { return Ok(()) };
    let count = count.parse().map_err(|error| format!("ZEROHOP_HA_FILES: {error}"))?;
    load::fill(&pair.conf(), count)?;
    println!("{count} directories were made first");
    Ok(())
}

fn kill(pair: &mut Pair) -> Outcome {
    fill(pair)?;
    let mut all = Takeovers::default();
    for _ in 0..5 {
        takeover(pair, &mut all, |pair, id| pair.signal(id, libc::SIGKILL), start_again)?;
    }
    all.show("kill -9 of the active NameNode");
    Ok(())
}

/// The controllers that end are not started again: the second run needs a new cluster.
fn machine(pair: &mut Pair) -> Outcome {
    let mut all = Takeovers::default();
    let both = |pair: &mut Pair, id: &str| {
        pair.signal(&format!("zkfc-{id}"), libc::SIGKILL)?;
        pair.signal(id, libc::SIGKILL)
    };
    takeover(pair, &mut all, both, |_, _| Ok(()))?;
    all.show("kill -9 of the active NameNode and its controller");
    Ok(())
}

fn frozen(pair: &mut Pair) -> Outcome {
    let mut all = Takeovers::default();
    takeover(
        pair,
        &mut all,
        |pair, id| pair.signal(id, libc::SIGSTOP),
        |pair, id| pair.signal(id, libc::SIGCONT),
    )?;
    all.show("SIGSTOP of the active NameNode");
    Ok(())
}

fn by_hand(pair: &mut Pair) -> Outcome {
    fill(pair)?;
    let (mut gaps, mut commands, mut failed) = (Vec::new(), Vec::new(), 0);
    for _ in 0..6 {
        let active = pair.active()?.ok_or("none is active")?;
        let load = Load::start(&pair.conf(), 1)?;
        load.until(200)?;
        let begun = Instant::now();
        pair.ours(&["haadmin", "-failover", active, other(active)])?;
        commands.push(begun.elapsed().as_secs_f64());
        load.until_after(Instant::now())?;
        let done = load.stop()?;
        gaps.push(done.longest_gap().as_secs_f64());
        failed += done.failed;
    }
    println!("haadmin -failover: longest gap between writes, s: {}", summary(gaps));
    println!("haadmin -failover: the command, s: {}", summary(commands));
    println!("haadmin -failover: failed operations: {failed}");
    Ok(())
}

fn idle(pair: &mut Pair) -> Outcome {
    // As long after the start as Apache's was measured: that is what is compared.
    std::thread::sleep(Duration::from_secs(25));
    let mut sum = 0;
    for (name, pid) in &pair.pids {
        let (kib, _) = footprint(u32::try_from(*pid).map_err(|e| e.to_string())?)?;
        println!("idle resident memory of {name}, MiB: {:.1}", kib as f64 / 1024.0);
        sum += kib;
    }
    println!("idle resident memory of all of ours, MiB: {:.1}", sum as f64 / 1024.0);
    Ok(())
}

fn create(pair: &mut Pair) -> Outcome {
    let words =
        ["bench", "metadata", "--connections", "16", "--operations", "16000", "--runs", "3"];
    println!("16 connections through three JournalNodes:\n{}", pair.ours(&words)?);
    Ok(())
}

/// The last transaction that a NameNode has written or applied, of its pages.
fn txid(pair: &Pair, id: &str) -> Outcome<u64> {
    let key = format!("dfs.namenode.http-address.ha.{id}");
    let address = pair.ours(&["getconf", "-confKey", &key])?;
    let port = address.trim().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let page = http(port.ok_or(address)?, "/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo")?;
    // A number within a JSON object within a JSON text.
    let digits = page
        .split("LastAppliedOrWrittenTxId")
        .nth(1)
        .map(|rest| rest.trim_start_matches(|c: char| !c.is_ascii_digit()))
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| format!("no transaction: {page}"))
}

fn lag(pair: &mut Pair) -> Outcome {
    let active = pair.active()?.ok_or("none is active")?;
    let load = Load::start(&pair.conf(), 4)?;
    load.until(200)?;
    let begun = Instant::now();
    let mut lags = Vec::new();
    for _ in 0..100 {
        let (since, wanted) = (Instant::now(), txid(pair, active)?);
        wait::until("the standby has it", LIMIT, || Ok(txid(pair, other(active))? >= wanted))?;
        lags.push(since.elapsed().as_secs_f64());
    }
    let seconds = begun.elapsed().as_secs_f64();
    let done = load.stop()?;
    println!("edits a second meanwhile: {:.0}", done.count_after(begun) as f64 / seconds);
    println!("lag of the standby, with the time to ask both, s: {}", summary(lags));
    Ok(())
}

/// One client alone: each of its calls is one synced edit.
fn edit(pair: &mut Pair) -> Outcome {
    const COUNT: usize = 2000;
    let load = Load::start(&pair.conf(), 1)?;
    load.until(COUNT)?;
    println!("a synced edit, s: {}", summary(load.stop()?.took()));
    println!("a round trip on loopback, s: {}", summary(least::round_trips(COUNT)?));
    let directory = pair.conf();
    println!("the second of three syncs, s: {}", summary(least::second_syncs(&directory, COUNT)?));
    Ok(())
}

type Section = (&'static str, fn(&mut Pair) -> Outcome);

const SECTIONS: [Section; 8] = [
    ("idle", idle),
    ("create", create),
    ("lag", lag),
    ("edit", edit),
    ("move", by_hand),
    ("kill", kill),
    ("frozen", frozen),
    ("machine", machine),
];

fn run(wanted: &[String]) -> Outcome {
    if let Some(other) = wanted.iter().find(|name| SECTIONS.iter().all(|(known, _)| name != known))
    {
        let known = SECTIONS.map(|(name, _)| name).join(", ");
        return Err(format!("{other}: there are the sections {known}"));
    }
    for (name, section) in SECTIONS {
        if !wanted.is_empty() && !wanted.iter().any(|one| one == name) {
            continue;
        }
        let mut pair = Pair::start_with(&format!("ha-bench-{name}"), &[], DATANODES)?;
        wait::until("one is active", LIMIT, || Ok(pair.active()?.is_some()))?;
        section(&mut pair).map_err(|error| format!("{name}: {error}\n{}", pair.logs()))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    match run(&wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
