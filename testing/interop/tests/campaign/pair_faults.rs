//! What is done to a pair of NameNodes while the actors work. Each fault is over before the next begins.

use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use fastrand::Rng;
use zerohop_interop::harm::Explain;
use zerohop_interop::{Outcome, tools, wait};

use crate::link::State;
use crate::pair::{DATANODES, JOURNAL_NODES, LIMIT, Pair, copy_journal};

/// A kind of fault. The active NameNode is the one that was active when the fault began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairFault {
    /// `haadmin -failover`.
    FailoverByHand,
    /// SIGKILL to the active NameNode.
    KillActive,
    /// SIGKILL to the active NameNode and its controller: the other one waits for the session's end.
    KillActiveAndController,
    /// SIGSTOP to the active NameNode until it was replaced.
    FreezeActive,
    /// SIGSTOP to the active NameNode and its controller until they were replaced: it wakes and does not know.
    FreezeActiveAndController,
    /// The active NameNode reaches no JournalNode: connections break, nothing passes, or no answer comes back.
    NoJournalNodes,
    /// Its controller does not reach ZooKeeper until the session is lost.
    NoZooKeeper,
    /// DataNodes do not reach it.
    NoDataNodes,
    /// A DataNode does not reach it while the other NameNode takes over and gives back.
    NoDataNodeThereAndBack,
    /// A DataNode does not reach the other NameNode, which takes over; then it reaches that one and not the first.
    NoDataNodeHereThenThere,
    /// SIGSTOP to ZooKeeper for longer than a session lasts.
    FreezeZooKeeper,
    /// SIGKILL to both NameNodes.
    KillBoth,
    /// SIGKILL to a JournalNode.
    KillJournalNode,
    /// SIGSTOP to a JournalNode.
    FreezeJournalNode,
    /// What both NameNodes send to a JournalNode waits for a while.
    SlowJournalNode,
    /// A JournalNode's disk is full.
    FullJournalNode,
    /// A JournalNode has lost its directory, and gets another one's.
    WipedJournalNode,
    /// The wall clocks of some machines are set forward or back, and right again.
    SteppedClocks,
}

use PairFault::*;

pub const ALL: [PairFault; 18] = [
    FailoverByHand,
    KillActive,
    KillActiveAndController,
    FreezeActive,
    FreezeActiveAndController,
    NoJournalNodes,
    NoZooKeeper,
    NoDataNodes,
    NoDataNodeThereAndBack,
    NoDataNodeHereThenThere,
    FreezeZooKeeper,
    KillBoth,
    KillJournalNode,
    FreezeJournalNode,
    SlowJournalNode,
    FullJournalNode,
    WipedJournalNode,
    SteppedClocks,
];

/// Longer than a session lasts.
const SESSION: Duration = Duration::from_secs(6);

/// Does a fault, and brings all back.
pub fn inflict(fault: PairFault, pair: &mut Pair, rng: &mut Rng) -> Outcome {
    pair.until_well()?;
    let active = pair.active()?;
    let other = 1 - active;
    let (namenode, controller) = (format!("nn{active}"), format!("zkfc{active}"));
    let at = rng.usize(..JOURNAL_NODES);
    let journal_node = format!("jn{at}");
    match fault {
        FailoverByHand => fail_over(pair, active, other)?,
        KillActive => {
            pair.kill(&namenode)?;
            pair.until_active(other)?;
        }
        KillActiveAndController => {
            pair.kill(&controller)?;
            pair.kill(&namenode)?;
            pair.until_active(other)?;
        }
        FreezeActive => freeze(pair, &[&namenode], other, rng)?,
        FreezeActiveAndController => freeze(pair, &[&controller, &namenode], other, rng)?,
        NoJournalNodes => {
            let state = lost(rng);
            let set = |pair: &Pair, state| {
                pair.links[active].journal_nodes.iter().for_each(|link| link.set(state));
            };
            set(pair, state);
            let replaced = pair.until_active(other);
            set(pair, State::Whole);
            replaced?;
        }
        NoZooKeeper => {
            let state = lost(rng);
            pair.links[active].zookeeper.set(state);
            let replaced = pair.until_active(other);
            pair.links[active].zookeeper.set(State::Whole);
            replaced?;
        }
        NoDataNodes => {
            let state = lost(rng);
            let set = |pair: &Pair, state| {
                pair.links[active].datanodes.iter().for_each(|link| link.set(state));
            };
            set(pair, state);
            pause(rng, 5000);
            set(pair, State::Whole);
        }
        NoDataNodeThereAndBack => {
            let (at, state) = (rng.usize(..DATANODES), lost(rng));
            pair.links[active].datanodes[at].set(state);
            let moved = there_and_back(pair, active, other, rng);
            pause(rng, 3000);
            pair.links[active].datanodes[at].set(State::Whole);
            moved?;
        }
        NoDataNodeHereThenThere => {
            let (at, state) = (rng.usize(..DATANODES), lost(rng));
            pair.links[other].datanodes[at].set(state);
            let moved = fail_over(pair, active, other);
            pause(rng, 3000);
            pair.links[other].datanodes[at].set(State::Whole);
            pair.links[active].datanodes[at].set(state);
            let moved = moved.and_then(|()| fail_over(pair, other, active));
            pause(rng, 3000);
            pair.links[active].datanodes[at].set(State::Whole);
            moved?;
        }
        FreezeZooKeeper => {
            let sessions = pair.sessions();
            pair.freeze("zookeeper")?;
            // That it is away for so long is the fault.
            sleep(SESSION);
            pair.wake("zookeeper")?;
            wait::until("both controllers are connected again", LIMIT, || {
                let now = pair.sessions();
                Ok(now[0] > sessions[0] && now[1] > sessions[1])
            })?;
            until_decided(pair)?;
        }
        KillBoth => {
            pair.kill("nn0")?;
            pair.kill("nn1")?;
            pause(rng, 500);
            pair.start_namenode(active)?;
            pair.start_namenode(other)?;
        }
        KillJournalNode => {
            pair.kill(&journal_node)?;
            pause(rng, 3000);
            pair.start_journal_node(at)?;
        }
        FreezeJournalNode => {
            pair.freeze(&journal_node)?;
            pause(rng, 3000);
            pair.wake(&journal_node)?;
        }
        SlowJournalNode => {
            let delay = Duration::from_millis(rng.u64(5..100));
            let set = |pair: &Pair, state| {
                pair.links.iter().for_each(|links| links.journal_nodes[at].set(state));
            };
            set(pair, State::Slow(delay));
            pause(rng, 3000);
            set(pair, State::Whole);
        }
        FullJournalNode => full_journal_node(pair, at, rng)?,
        WipedJournalNode => {
            pair.kill(&journal_node)?;
            let (own, others) = (data(pair, at), data(pair, (at + 1) % JOURNAL_NODES));
            std::fs::remove_dir_all(&own).at(&journal_node)?;
            pair.start_journal_node(at)?;
            pause(rng, 2000);
            pair.kill(&journal_node)?;
            copy_journal(&others, &own)?;
            pair.start_journal_node(at)?;
        }
        SteppedClocks => step_clocks(pair, active, rng)?,
    }
    pair.until_well()?;
    match fault {
        // The next fault takes another one away.
        KillJournalNode | FreezeJournalNode | SlowJournalNode | FullJournalNode
        | WipedJournalNode => until_written_to(pair),
        _ => Ok(()),
    }
}

/// Waits until the controllers have agreed: another one may have been first at the lock.
fn until_decided(pair: &mut Pair) -> Outcome {
    let mut last = None;
    wait::until("the same NameNode stays active", LIMIT, || {
        pair.until_well()?;
        let now = Some((pair.active()?, pair.transitions()));
        let is_same = last == now;
        last = now;
        Ok(is_same)
    })
}

/// `haadmin -failover`.
fn fail_over(pair: &mut Pair, from: usize, to: usize) -> Outcome {
    // The controller of one that was started just now has to see first that it is well.
    let words = [format!("nn{from}"), format!("nn{to}")];
    let moved = || pair.admin(&["-failover", &words[0], &words[1]]).map(|_| true);
    wait::until("a failover by hand", LIMIT, moved)?;
    pair.until_active(to)
}

/// One NameNode is active for a while, and decides about what actors write, and the first one again.
fn there_and_back(pair: &mut Pair, active: usize, other: usize, rng: &mut Rng) -> Outcome {
    fail_over(pair, active, other)?;
    pause(rng, 3000);
    fail_over(pair, other, active)
}

/// How a link fails.
fn lost(rng: &mut Rng) -> State {
    [State::Cut, State::Silent, State::Unanswered][rng.usize(..3)]
}

/// No daemon is replaced or taken for dead because a clock is wrong, or is right again.
fn step_clocks(pair: &mut Pair, active: usize, rng: &mut Rng) -> Outcome {
    let transitions = pair.transitions();
    let machines: Vec<String> = pair.machines();
    let stepped: Vec<&String> = machines.iter().filter(|_| rng.bool()).collect();
    for machine in &stepped {
        let most_s = [10, 3600, 86_400, 40 * 86_400][rng.usize(..4)];
        pair.step_clock(machine, rng.i64(-most_s..=most_s))?;
    }
    pause(rng, 6000);
    for machine in stepped {
        pair.step_clock(machine, 0)?;
    }
    pause(rng, 3000);
    if pair.transitions() != transitions || pair.active()? != active {
        return Err(format!("nn{active} was replaced"));
    }
    pair.none_is_dead()
}

/// How long something stays as it is belongs to the schedule.
fn pause(rng: &mut Rng, most_ms: u64) {
    sleep(Duration::from_millis(rng.u64(..most_ms)));
}

fn data(pair: &Pair, at: usize) -> PathBuf {
    pair.at(&format!("jn{at}")).join("data")
}

/// They wake when another NameNode is active; none of their writes counts.
fn freeze(pair: &mut Pair, names: &[&str], other: usize, rng: &mut Rng) -> Outcome {
    for name in names {
        pair.freeze(name)?;
    }
    let replaced = pair.until_active(other);
    pause(rng, 1000);
    for name in names.iter().rev() {
        pair.wake(name)?;
    }
    replaced
}

/// Its calls that write fail as on a full disk, after some that do not.
fn full_journal_node(pair: &mut Pair, at: usize, rng: &mut Rng) -> Outcome {
    let name = format!("jn{at}");
    let Some(failing) = tools::failing_disk() else {
        println!(
            "no disk is full: cargo build -p zerohop-simulation, with the profile of this test"
        );
        return Ok(());
    };
    pair.kill(&name)?;
    let mut command = Command::new(failing);
    command.arg("--below").arg(data(pair, at)).args(["--errno", "ENOSPC"]);
    command.args(["--after", &rng.u32(..100).to_string(), "--"]).arg(tools::zerohop()?);
    command.arg("journalnode").arg("--config").arg(pair.at(&name).join("conf"));
    pair.run_command(&name, command)?;
    pause(rng, 4000);
    pair.kill(&name)?;
    pair.start_journal_node(at)
}

/// Waits until every JournalNode takes part in the segment that is written: a segment after now.
fn until_written_to(pair: &mut Pair) -> Outcome {
    let written = |pair: &Pair, at: usize| -> Option<i64> {
        let files = std::fs::read_dir(data(pair, at).join("ns/current")).ok()?;
        let begun = files.flatten().filter_map(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            name.strip_prefix("edits_inprogress_")?.parse().ok()
        });
        begun.max()
    };
    wait::until("every JournalNode is written to", LIMIT, || {
        pair.roll_edits()?;
        let all: Vec<Option<i64>> = (0..JOURNAL_NODES).map(|at| written(pair, at)).collect();
        match all[0].is_some() && all.iter().all(|one| *one == all[0]) {
            true => Ok(true),
            false => Err(format!("{all:?}")),
        }
    })
}
