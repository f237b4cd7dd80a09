//! Measures a pair of ours with failover controllers on a real ZooKeeper: takeovers, failover by hand, idle memory, the
//! standby's lag, a synced edit. `interop-ha-bench [SECTION...]`, of `kill`, `machine`, `frozen`, `move`, `idle`, `create`, `lag` and
//! `edit`; all of them if none is named. Time-outs are the defaults. `create` has a pair of Apache's beside one of ours.
//! `ZEROHOP_HA_FILES`: so many files are made first in `kill` and `move`; `ZEROHOP_HA_OPERATIONS`: operations of a run of
//! `create` and `edit`, otherwise 20,000 and 2,000. Needs what testing/ensure-tools.sh installs.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod least;
mod load;
mod rivals;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use load::Load;
use rivals::Rival;
use zerohop_client::blocking::FileSystem;
use zerohop_interop::harm::{Explain, client, footprint, http};
use zerohop_interop::pair::{LIMIT, Pair, other};
use zerohop_interop::{Kind, Outcome, wait};

const DATANODES: usize = 3;

/// Takeovers that take a time-out are repeated so often.
const SLOW_RUNS: usize = 3;

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

/// A quantile of values that are sorted; NaN without any.
fn quantile(values: &[f64], share: f64) -> f64 {
    let at = (values.len() as f64 * share) as usize;
    values.get(at.min(values.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn median(values: Vec<f64>) -> f64 {
    quantile(&sorted(values), 0.5)
}

/// A number of the environment.
fn number(name: &str) -> Outcome<Option<usize>> {
    match std::env::var(name) {
        Ok(text) => Ok(Some(text.parse().map_err(|error| format!("{name}: {error}"))?)),
        Err(_) => Ok(None),
    }
}

/// What a takeover took.
#[derive(Default)]
struct Takeovers {
    active: Vec<f64>,
    written: Vec<f64>,
    failed: u64,
    operations: usize,
}

impl Takeovers {
    fn show(&self, what: &str) {
        println!("{what}: new active, s: {}", summary(self.active.clone()));
        println!("{what}: first write, s: {}", summary(self.written.clone()));
        println!("{what}: failed operations: {} of {}", self.failed, self.operations);
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
    all.operations += done.count();
    back(pair, active)
}

fn start_again(pair: &mut Pair, id: &str) -> Outcome {
    pair.start_namenode(id, &[])
}

/// Fills the namespace as `ZEROHOP_HA_FILES` says.
fn fill(pair: &Pair) -> Outcome {
    let Some(count) = number("ZEROHOP_HA_FILES")? else { return Ok(()) };
    load::fill(&pair.conf(), count)?;
    println!("{count} files were made first");
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

fn machine(pair: &mut Pair) -> Outcome {
    let mut all = Takeovers::default();
    for _ in 0..SLOW_RUNS {
        takeover(
            pair,
            &mut all,
            |pair, id| {
                pair.signal(&format!("zkfc-{id}"), libc::SIGKILL)?;
                pair.signal(id, libc::SIGKILL)
            },
            |pair, id| {
                pair.start_namenode(id, &[])?;
                pair.start_controller(id)
            },
        )?;
    }
    all.show("kill -9 of the active NameNode and its controller");
    Ok(())
}

/// Each NameNode that was frozen is ended and started again: the next run begins with a pair that is well.
fn frozen(pair: &mut Pair) -> Outcome {
    let mut all = Takeovers::default();
    for _ in 0..SLOW_RUNS {
        takeover(
            pair,
            &mut all,
            |pair, id| pair.signal(id, libc::SIGSTOP),
            |pair, id| {
                pair.signal(id, libc::SIGKILL)?;
                start_again(pair, id)
            },
        )?;
    }
    all.show("SIGSTOP of the active NameNode");
    Ok(())
}

fn by_hand(pair: &mut Pair) -> Outcome {
    fill(pair)?;
    let (mut gaps, mut commands) = (Vec::new(), Vec::new());
    let (mut failed, mut operations) = (0, 0);
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
        operations += done.count();
    }
    println!("haadmin -failover: longest gap between writes, s: {}", summary(gaps));
    println!("haadmin -failover: the command, s: {}", summary(commands));
    println!("haadmin -failover: failed operations: {failed} of {operations}");
    Ok(())
}

/// Resident memory of a process in KiB, of which pages that others have too count in part.
fn proportional_kib(pid: i32) -> Outcome<u64> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = std::fs::read_to_string(&path).at(&path)?;
    let pss = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib = pss.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    kib.ok_or_else(|| format!("{path}: {text}"))
}

fn idle(pair: &mut Pair) -> Outcome {
    // As long after the start as Apache's was measured: that is what is compared.
    std::thread::sleep(Duration::from_secs(25));
    let (mut sum, mut share) = (0, 0);
    for (name, pid) in &pair.pids {
        let (kib, _) = footprint(u32::try_from(*pid).map_err(|e| e.to_string())?)?;
        println!("idle resident memory of {name}, MiB: {:.1}", kib as f64 / 1024.0);
        sum += kib;
        share += proportional_kib(*pid)?;
    }
    println!("idle resident memory of all of ours, MiB: {:.1}", sum as f64 / 1024.0);
    println!(
        "the same with each page of the program counted once, MiB: {:.1}",
        share as f64 / 1024.0
    );
    Ok(())
}

/// The same program of Apache's on a pair of Apache's and on one of ours, in turns; the first turn does not count. Our own load
/// follows on both.
fn create() -> Outcome {
    const TURNS: usize = 3;
    let count = number("ZEROHOP_HA_OPERATIONS")?.unwrap_or(20_000);
    let rivals = [Rival::start(Kind::Apache)?, Rival::start(Kind::Ours)?];
    for (operation, counted) in [("create", "-files"), ("mkdirs", "-dirs")] {
        let mut rates = [Vec::new(), Vec::new()];
        for turn in 0..=TURNS {
            for (rival, rates) in rivals.iter().zip(&mut rates) {
                let rate = rival.throughput(operation, counted, count)?;
                if turn > 0 {
                    rates.push(rate);
                }
            }
        }
        let what =
            format!("NNThroughputBenchmark -op {operation} -threads 16, operations a second");
        let ratios = rates[1].iter().zip(&rates[0]).map(|(ours, apache)| ours / apache).collect();
        println!("{what}, Apache's pair: {}", summary(rates[0].clone()));
        println!("{what}, ours: {}", summary(rates[1].clone()));
        println!("{what}, ours to Apache's: {}", summary(ratios));
    }
    let operations = (count / 16 * 16).max(16).to_string();
    for (rival, whose) in rivals.iter().zip(["Apache's pair", "ours"]) {
        let words = ["bench", "metadata", "--connections", "16", "--runs", "3", "--operations"];
        let said = rival.zerohop(&[&words[..], &[&operations]].concat())?;
        println!("zerohop bench metadata, {whose}:\n{said}");
    }
    Ok(())
}

/// The port of a NameNode's pages.
fn page_port(pair: &Pair, id: &str) -> Outcome<u16> {
    let key = format!("dfs.namenode.http-address.ha.{id}");
    let address = pair.ours(&["getconf", "-confKey", &key])?;
    let port = address.trim().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    port.ok_or(address)
}

/// The last number behind a name in a bean of a NameNode.
fn figure(port: u16, bean: &str, name: &str) -> Outcome<u64> {
    let page = http(port, &format!("/jmx?qry=Hadoop:service=NameNode,name={bean}"))?;
    // Some are numbers within a JSON text within a JSON text.
    let digits = page
        .split(name)
        .nth(1)
        .map(|rest| rest.trim_start_matches(|c: char| !c.is_ascii_digit()))
        .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    digits.and_then(|digits| digits.parse().ok()).ok_or_else(|| format!("no {name}: {page}"))
}

/// The last transaction that a NameNode has written or applied.
fn txid(port: u16) -> Outcome<u64> {
    figure(port, "NameNodeInfo", "LastAppliedOrWrittenTxId")
}

fn lag(pair: &mut Pair) -> Outcome {
    const CLIENTS: u32 = 8;
    const EDITS_A_SECOND: u32 = 2000;
    /// As long as `up --ha` lets pass from one read of edits to the next, or longer.
    const PERIOD: Duration = Duration::from_millis(100);
    let active = pair.active()?.ok_or("none is active")?;
    let (active, standby) = (page_port(pair, active)?, page_port(pair, other(active))?);
    let interval = Duration::from_secs(1) * CLIENTS / EDITS_A_SECOND;
    let load = Load::start_paced(&pair.conf(), CLIENTS as usize, interval)?;
    load.until(2 * EDITS_A_SECOND as usize)?;
    let begun = Instant::now();
    let (mut lags, mut answers) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        // The standby is not asked right after it has read edits every time.
        std::thread::sleep(PERIOD.mul_f64(fastrand::f64()));
        let wanted = txid(active)?;
        let since = Instant::now();
        loop {
            let asked = Instant::now();
            let has = txid(standby)?;
            answers.push(asked.elapsed().as_secs_f64());
            if has >= wanted {
                break;
            }
            if since.elapsed() > LIMIT {
                return Err(format!("the standby has {has} and not {wanted}"));
            }
        }
        lags.push(since.elapsed().as_secs_f64());
    }
    let seconds = begun.elapsed().as_secs_f64();
    let done = load.stop()?;
    println!("edits a second meanwhile: {:.0}", done.count_after(begun) as f64 / seconds);
    println!("an answer of the standby, s: {}", summary(answers));
    let lags = sorted(lags);
    let [p50, p99, largest] = [0.5, 0.99, 1.0].map(|part| quantile(&lags, part));
    println!(
        "lag of the standby, with an answer of it, s: p50 {p50:.6}, p99 {p99:.6}, largest {largest:.6}"
    );
    Ok(())
}

/// Makes directories one after the other, or finds that they are there; what each call took in seconds.
fn mkdirs_took(fs: &FileSystem, parent: &str, count: usize) -> Outcome<Vec<f64>> {
    let mut took = Vec::new();
    for number in 0..count {
        let path = format!("{parent}/{number}");
        let begun = Instant::now();
        fs.mkdirs(&path).at(&path)?;
        took.push(begun.elapsed().as_secs_f64());
    }
    Ok(took)
}

/// One client alone: each of its calls is one synced edit. What the sync takes is measured twice: by the NameNode's own metric, and
/// by a client, whose call for a directory that is there already does all the same but the edit.
fn edit(pair: &mut Pair) -> Outcome {
    const RUNS: usize = 5;
    const ALLOWED: f64 = 30e-6;
    let count = number("ZEROHOP_HA_OPERATIONS")?.unwrap_or(2000);
    let active = pair.active()?.ok_or("none is active")?;
    let port = page_port(pair, active)?;
    let fs = client(&pair.conf(), &[])?;
    let directory = pair.conf();
    let sync_figures = || -> Outcome<(u64, u64)> {
        let milliseconds = figure(port, "FSNamesystemState", "TotalSyncTimes")?;
        Ok((milliseconds, figure(port, "FSNamesystemState", "TotalSyncCount")?))
    };
    let (mut means, mut edits, mut trips, mut syncs) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for run in 0..RUNS {
        let parent = format!("/edits{run}");
        let before = sync_figures()?;
        let with_edit = median(mkdirs_took(&fs, &parent, count)?);
        let after = sync_figures()?;
        let without = median(mkdirs_took(&fs, &parent, count)?);
        edits.push(with_edit - without);
        means.push((after.0 - before.0) as f64 / 1000.0 / (after.1 - before.1).max(1) as f64);
        trips.push(median(least::round_trips(count)?));
        syncs.push(median(least::second_syncs(&directory, count)?));
    }
    println!("the NameNode's sync of an edit, mean of a run, s: {}", summary(means.clone()));
    println!("a call with an edit less one without, p50 of a run, s: {}", summary(edits.clone()));
    println!("a round trip on loopback, p50 of a run, s: {}", summary(trips.clone()));
    println!("the second of three syncs, p50 of a run, s: {}", summary(syncs.clone()));
    let least: Vec<f64> = trips.iter().zip(&syncs).map(|(trip, sync)| trip + sync).collect();
    let above = |values: &[f64]| {
        summary(values.iter().zip(&least).map(|(value, least)| value - least).collect())
    };
    println!("the NameNode's sync above round trip and second sync, s: {}", above(&means));
    println!("the call's edit above round trip and second sync, s: {}", above(&edits));
    println!("allowed above them, s: {ALLOWED:.6}");
    Ok(())
}

/// What is measured, and on what.
#[derive(Clone, Copy)]
enum Section {
    /// A pair of ours with failover controllers.
    OnPair(fn(&mut Pair) -> Outcome),
    /// What it starts itself.
    Alone(fn() -> Outcome),
}

const SECTIONS: [(&str, Section); 8] = [
    ("idle", Section::OnPair(idle)),
    ("create", Section::Alone(create)),
    ("lag", Section::OnPair(lag)),
    ("edit", Section::OnPair(edit)),
    ("move", Section::OnPair(by_hand)),
    ("kill", Section::OnPair(kill)),
    ("frozen", Section::OnPair(frozen)),
    ("machine", Section::OnPair(machine)),
];

fn measure(name: &str, section: Section) -> Outcome {
    match section {
        Section::Alone(section) => section().map_err(|error| format!("{name}: {error}")),
        Section::OnPair(section) => {
            let mut pair = Pair::start_with(&format!("ha-bench-{name}"), &[], DATANODES)?;
            wait::until("one is active", LIMIT, || Ok(pair.active()?.is_some()))?;
            section(&mut pair).map_err(|error| format!("{name}: {error}\n{}", pair.logs()))
        }
    }
}

fn run(wanted: &[String]) -> Outcome {
    if let Some(other) = wanted.iter().find(|name| SECTIONS.iter().all(|(known, _)| name != known))
    {
        let known = SECTIONS.map(|(name, _)| name).join(", ");
        return Err(format!("{other}: there are the sections {known}"));
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    (SECTIONS.iter())
        .filter(|(name, _)| is_wanted(name))
        .try_for_each(|(name, section)| measure(name, *section))
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
