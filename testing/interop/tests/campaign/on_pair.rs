//! Random work on files while NameNodes of a pair are killed, frozen and cut off, and JournalNodes fail.
//! `ZEROHOP_CAMPAIGN_SEED` and `ZEROHOP_CAMPAIGN_SCHEDULES` choose the seeds.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use fastrand::Rng;
use zerohop_interop::Outcome;
use zerohop_interop::harm::Explain;

use crate::actor::{self, Actor};
use crate::pair::Pair;
use crate::pair_faults::{ALL, PairFault, inflict};
use crate::promises::broken;
use crate::{setting, wait_healthy};

const ACTORS: u64 = 3;
/// Faults of a schedule: six schedules have all kinds.
const FAULTS: usize = 3;

/// What many schedules did.
#[derive(Default)]
struct Sum {
    done: u64,
    failed: u64,
    faults: BTreeMap<PairFault, u32>,
}

/// The faults of a seed: a part of all kinds, in an order that changes every six seeds.
fn faults(seed: u64) -> Vec<PairFault> {
    let parts = ALL.len().div_ceil(FAULTS) as u64;
    let mut all = ALL.to_vec();
    Rng::with_seed(seed / parts).shuffle(&mut all);
    all.chunks(FAULTS).nth((seed % parts) as usize).unwrap_or_default().to_vec()
}

fn schedule(pair: &mut Pair, seed: u64, sum: &mut Sum) -> Outcome {
    let actors: Outcome<Vec<Actor>> =
        (0..ACTORS).map(|i| Actor::new(pair.client()?, i, seed)).collect();
    let mut actors = actors?;
    let mut rng = Rng::with_seed(seed);
    let is_over = AtomicBool::new(false);
    let worked: Outcome = std::thread::scope(|scope| {
        let working: Vec<_> = actors
            .iter_mut()
            .map(|actor| {
                scope.spawn(|| {
                    while !is_over.load(Relaxed) {
                        actor.step()?;
                    }
                    Ok(())
                })
            })
            .collect();
        let mut inflicted = Ok(());
        for fault in faults(seed) {
            let begun = Instant::now();
            inflicted = inflict(fault, pair, &mut rng).map_err(|e| format!("{fault:?}: {e}"));
            println!("  {fault:?}: {:.1} s", begun.elapsed().as_secs_f64());
            *sum.faults.entry(fault).or_default() += 1;
            if inflicted.is_err() || working.iter().any(|work| work.is_finished()) {
                break;
            }
        }
        is_over.store(true, Relaxed);
        let worked: Vec<Outcome> = working
            .into_iter()
            .map(|work| work.join().map_err(|_| "an actor died".to_owned())?)
            .collect();
        worked.into_iter().collect::<Outcome>().and(inflicted)
    });
    sum.done += actors.iter().map(|actor| actor.done).sum::<u64>();
    sum.failed += actors.iter().map(|actor| actor.failed).sum::<u64>();
    for actor in actors.iter().filter(|actor| actor.failed > 0) {
        println!("  {} failed, the last ones of\n  {}", actor.failed, actor.history());
    }
    worked?;
    pair.until_well()?;
    wait_healthy(&pair.conf())?;
    for actor in &mut actors {
        actor.check_all(pair.judge()?)?;
    }
    // With everything there, nothing fails.
    for actor in &mut actors {
        let failed = actor.failed;
        for _ in 0..3 {
            actor.step()?;
        }
        if actor.failed > failed {
            return Err(broken("F8", actor.history()));
        }
    }
    let directory = actor::directory(seed);
    pair.client()?.delete(&directory, true).at(&directory)?;
    Ok(())
}

fn schedules(pair: &mut Pair) -> Outcome {
    let first = setting("ZEROHOP_CAMPAIGN_SEED", 1);
    let count = setting("ZEROHOP_CAMPAIGN_SCHEDULES", 2);
    let mut sum = Sum::default();
    for seed in first..first + count {
        let begun = Instant::now();
        println!("seed {seed} begins");
        schedule(pair, seed, &mut sum).map_err(|e| format!("seed {seed}: {e}"))?;
        println!("seed {seed}: no broken promise ({} s)", begun.elapsed().as_secs());
    }
    let faults: Vec<String> =
        sum.faults.iter().map(|(fault, count)| format!("{fault:?} {count}")).collect();
    let (done, failed) = (sum.done, sum.failed);
    println!(
        "seeds {first} to {}: {done} operations done, {failed} failed; {}",
        first + count - 1,
        faults.join(", ")
    );
    match done {
        0..20 => Err(format!("too little to show anything: {done} operations")),
        _ => Ok(()),
    }
}

#[test]
fn what_was_acknowledged_outlives_random_faults_of_a_pair() {
    let seed = setting("ZEROHOP_CAMPAIGN_SEED", 1);
    let mut pair = Pair::start(&format!("campaign-pair-{seed}")).unwrap_or_else(|e| panic!("{e}"));
    let outcome = schedules(&mut pair);
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
}
