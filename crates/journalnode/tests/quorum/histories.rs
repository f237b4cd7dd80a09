//! Every single call of a short history fails before or after it was carried out; and several calls at random.
//!
//! `ZEROHOP_HISTORIES=FROM..TO` runs the random histories of these seeds, as `make faults` does.

use crate::connection::{Fault, Planned};
use crate::history::{Cluster, Outcome, Term};
use crate::stalled::FETCHING;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Histories that share JournalNodes: each leaves a journal that is open.
const TOGETHER: usize = 20;

/// Segments that end, that go on, and that have nothing in them; two writers that wake when they were replaced.
fn terms() -> Vec<Term> {
    let term = |segments: &[&[i64]], ends_last, wakes: bool| Term {
        segments: segments.iter().map(|batches| batches.to_vec()).collect(),
        ends_last,
        purges: !wakes,
        wakes,
        same_object: false,
    };
    vec![
        term(&[&[2, 1], &[1, 2]], false, true),
        term(&[&[1], &[3]], true, true),
        term(&[&[1, 1], &[][..]], false, false),
    ]
}

/// Runs `count` histories on several threads, each by `run` with its number; the first failure.
fn run_all(count: usize, nodes: usize, run: impl Fn(&mut Cluster, usize) -> Outcome + Sync) {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let begun = Instant::now();
    let work = || {
        loop {
            let mut cluster = Cluster::start(nodes);
            for _ in 0..TOGETHER {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count || failure.lock().unwrap().is_some() {
                    return;
                }
                if let Err(error) = run(&mut cluster, number) {
                    failure.lock().unwrap().get_or_insert(error);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
    if let Some(error) = failure.into_inner().unwrap() {
        panic!("{error}");
    }
    println!("{count} histories in {:.1} s", begun.elapsed().as_secs_f64());
}

#[test]
fn a_history_without_faults_passes() {
    let calls = Cluster::start(3).run(&terms(), &[], true).unwrap();
    assert!(calls.iter().all(|calls| calls.len() > 25), "{calls:?}");
}

#[test]
fn any_single_call_fails_before_or_after_it_was_carried_out_and_nobody_notices() {
    let terms = terms();
    let calls = Cluster::start(3).run(&terms, &[], true).unwrap();
    let mut planned = Vec::new();
    for (node, calls) in calls.into_iter().enumerate() {
        for (call, method) in calls.into_iter().enumerate() {
            planned.extend(Fault::SINGLE.map(|fault| Planned { node, call, fault }));
            if method == FETCHING {
                planned.push(Planned { node, call, fault: Fault::NoFetch });
                planned.push(Planned { node, call, fault: Fault::Stalled });
            }
        }
    }
    run_all(planned.len(), 3, |cluster, number| {
        cluster.run(&terms, &[planned[number]], true).map(drop)
    });
}

/// Returns the history of a seed on `nodes` JournalNodes: its terms, its faults, and whether all queues are empty before each call.
fn random(seed: u64, nodes: usize) -> (Vec<Term>, Vec<Planned>, bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut terms = Vec::new();
    for _ in 0..random.usize(2..5) {
        let segments = (0..random.usize(..4)).map(|_| {
            let batches = random.usize(..4);
            (0..batches).map(|_| random.i64(1..4)).collect::<Vec<_>>()
        });
        let mut segments: Vec<Vec<i64>> = segments.collect();
        // Only a segment that goes on may be empty.
        let last = segments.len().saturating_sub(1);
        for (at, batches) in segments.iter_mut().enumerate() {
            if at < last && batches.is_empty() {
                batches.push(1);
            }
        }
        let ends_last = random.bool() && segments.last().is_some_and(|last| !last.is_empty());
        let (purges, wakes) = (random.u8(..8) == 0, random.bool());
        terms.push(Term { segments, ends_last, purges, wakes, same_object: random.u8(..3) == 0 });
    }
    let mut planned = Vec::new();
    // Calls of a history: about ten of each writer.
    let calls = 12 * terms.len();
    for _ in 0..random.usize(2..6) {
        let fault = Fault::ALL[random.usize(..Fault::ALL.len())];
        planned.push(Planned { node: random.usize(..nodes), call: random.usize(..calls), fault });
    }
    (terms, planned, random.bool())
}

#[test]
fn several_calls_fail_at_random_and_no_acknowledged_edit_is_lost() {
    let seeds = std::env::var("ZEROHOP_HISTORIES").ok();
    let seeds = seeds.map_or(1..151, |text| {
        let bounds = text
            .split_once("..")
            .and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
        let (from, to): (u64, u64) =
            bounds.unwrap_or_else(|| panic!("ZEROHOP_HISTORIES={text}: FROM..TO"));
        from..to
    });
    // Every fourth history has five JournalNodes.
    for (nodes, is_wanted) in [(3, [1, 2, 3].as_slice()), (5, &[0])] {
        let seeds: Vec<u64> =
            seeds.clone().filter(|seed| is_wanted.contains(&(seed % 4))).collect();
        run_all(seeds.len(), nodes, |cluster, number| {
            let seed = seeds[number];
            let (terms, planned, settles) = random(seed, nodes);
            let outcome = cluster.run(&terms, &planned, settles);
            outcome.map(drop).map_err(|error| format!("seed {seed}: {error}\n{terms:?}"))
        });
    }
}
