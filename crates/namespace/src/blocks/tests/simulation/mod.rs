//! Random schedules over simulated DataNodes that do what they are told, as Apache's do: files are
//! written, appended to, truncated, deleted while DataNodes and the NameNode are killed, orders and
//! reports are late or lost. No complete block may lose its last good replica at any time; when all
//! runs again, every block must get exactly its replicas. `ZEROHOP_SCHEDULES=FIRST..END` asks for others.
//!
//! Each seed is run with one NameNode, and with a pair: then the active one changes, back and forth, while any DataNode may be
//! cut off from one NameNode and not from the other.

mod datanodes;
mod files;
mod pair;

use super::*;
use crate::blocks::{BlockManager, FullReport, RecoverCommand, Recovery, TransferCommand};
use fastrand::Rng;
use pair::{Edit, Standby};
use std::collections::{BTreeMap, VecDeque};

const NODES: usize = 4;
const STEPS: usize = 400;
const SCHEDULES: u64 = 200;

#[test]
fn every_block_keeps_and_gets_its_replicas_whatever_fails() {
    for seed in schedules() {
        run(Schedule::new(seed, 1));
    }
}

#[test]
fn every_block_keeps_and_gets_its_replicas_whichever_namenode_of_a_pair_is_active() {
    for seed in schedules() {
        run(Schedule::new(seed, 2));
    }
}

fn run(mut schedule: Schedule) {
    for _ in 0..STEPS {
        schedule.step();
        schedule.check_nothing_is_lost();
    }
    schedule.calm_down();
    schedule.check_all_is_well();
}

fn schedules() -> std::ops::Range<u64> {
    let Ok(asked) = std::env::var("ZEROHOP_SCHEDULES") else { return 0..SCHEDULES };
    let (first, end) = asked.split_once("..").unwrap();
    first.parse().unwrap()..end.parse().unwrap()
}

#[derive(Clone, Copy, Debug)]
struct Replica {
    stamp: GenerationStamp,
    len: u64,
    state: ReplicaState,
}

/// One DataNode; what a kill does not take is `disk`.
struct Node {
    is_up: bool,
    /// Counts its starts: a pipeline through an earlier one is broken.
    life: u64,
    disk: BTreeMap<BlockId, Replica>,
    orders: VecDeque<Command>,
    /// The links to the NameNodes.
    links: Vec<Link>,
    /// The NameNode that it takes for the active one, and since which change.
    obeys: Option<usize>,
    term: u64,
}

/// The link of a DataNode to one NameNode.
#[derive(Default)]
struct Link {
    is_cut: bool,
    /// Changes of replicas that are not reported.
    events: VecDeque<ReplicaEvent>,
    owes_report: bool,
    /// The lease for a full report, 0 if it has none.
    lease: u64,
    report: Option<Report>,
}

/// A full report in flight.
struct Report {
    lease: u64,
    replicas: Vec<ReportedReplica>,
    /// State of the report in the NameNode, after its first part.
    taken: Option<FullReport>,
}

impl Node {
    fn new(namenodes: usize) -> Self {
        let links = (0..namenodes).map(|_| Link::default()).collect();
        let (disk, orders) = (BTreeMap::new(), VecDeque::new());
        Self { is_up: true, life: 0, disk, orders, links, obeys: None, term: 0 }
    }

    /// Queues an event about a replica for each NameNode.
    fn tell(&mut self, event: ReplicaEvent) {
        self.links.iter_mut().for_each(|link| link.events.push_back(event));
    }
}

/// What the namespace knows of a file of one block, and its writer if there is one.
struct File {
    block: Block,
    /// As the edits have it: what is written is not told to the NameNode.
    logged: Block,
    replication: u16,
    is_closed: bool,
    truncate: Option<Block>,
    /// The pipeline: DataNodes with their lives.
    writer: Option<Vec<(usize, u64)>>,
    /// The writer is done: only the NameNode's word is missing.
    is_closing: bool,
}

struct Schedule {
    seed: u64,
    rng: Rng,
    now: Now,
    /// The block manager of the active NameNode.
    blocks: BlockManager,
    active: usize,
    /// Counts the changes of the active NameNode.
    term: u64,
    /// When the active NameNode started or became active.
    active_since_ms: u64,
    standby: Option<Standby>,
    nodes: Vec<Node>,
    files: BTreeMap<BlockId, File>,
    stamp: i64,
    next_id: i64,
    is_calm: bool,
    history: Vec<String>,
}

fn uuid(node: usize) -> String {
    format!("uuid-{node}")
}

fn index(location: &ReplicaLocation) -> usize {
    location.node.id.uuid.trim_start_matches("uuid-").parse().unwrap()
}

fn manager(seed: u64) -> BlockManager {
    let params = BlockParams {
        safemode_extension_ms: 0,
        pending_timeout_ms: 5_000,
        heartbeat_recheck_ms: 5_000,
        excess_timeout_ms: 60_000,
        seed,
        ..BlockParams::default()
    };
    BlockManager::new(params)
}

impl Schedule {
    fn new(seed: u64, namenodes: usize) -> Self {
        let now = Now { wall_ms: 1_000_000, mono_ms: 1_000 };
        let mut schedule = Self {
            seed,
            rng: Rng::with_seed(seed),
            now,
            blocks: manager(seed),
            active: 0,
            term: 1,
            active_since_ms: now.mono_ms,
            standby: None,
            nodes: (0..NODES).map(|_| Node::new(namenodes)).collect(),
            files: BTreeMap::new(),
            stamp: 1000,
            next_id: 1,
            is_calm: false,
            history: Vec::new(),
        };
        schedule.blocks.start(now, GenerationStamp(schedule.stamp));
        if namenodes > 1 {
            schedule.standby = Some(Standby::new(schedule.loaded_standby()));
        }
        (0..NODES).for_each(|node| schedule.beat(node));
        schedule
    }

    fn note(&mut self, what: impl Into<String>) {
        let what = format!("{:>7} {}", self.now.mono_ms, what.into());
        self.history.push(what);
    }

    fn fail(&self, id: BlockId, what: &str) -> ! {
        let name = format!("[{id}]");
        let about = self.history.iter().filter(|line| line.contains(&name) || line.contains("***"));
        let about: Vec<_> = about.map(String::as_str).collect();
        let disks: Vec<_> =
            self.nodes.iter().map(|node| (node.is_up, node.disk.get(&id))).collect();
        panic!(
            "seed {}, block {id}: {what}\n{}\ndisks {disks:?}\nNameNode {:?}",
            self.seed,
            about.join("\n"),
            self.blocks.lookup().inspect(id)
        );
    }

    fn chance(&mut self, percent: u32) -> bool {
        !self.is_calm && self.rng.u32(0..100) < percent
    }

    fn new_stamp(&mut self) -> GenerationStamp {
        self.stamp += 1;
        GenerationStamp(self.stamp)
    }

    fn settle(&mut self) {
        self.blocks.delete_extra(&|_| 0);
    }

    fn any_file(&mut self, wanted: impl Fn(&File) -> bool) -> Option<BlockId> {
        let ids: Vec<_> = self.files.iter().filter(|(_, file)| wanted(file)).collect();
        let chosen = (!ids.is_empty()).then(|| self.rng.usize(0..ids.len()))?;
        Some(*ids[chosen].0)
    }

    fn step(&mut self) {
        let node = self.rng.usize(0..NODES);
        let what = self.rng.u32(0..if self.standby.is_some() { 107 } else { 100 });
        // Nothing of this is done in safe mode.
        let what =
            if self.blocks.safe_mode().is_on() && (60..94).contains(&what) { 0 } else { what };
        match what {
            0..30 => self.pass(),
            30..45 => self.report(node),
            45..60 => self.obey(node),
            60..67 => self.create(),
            67..72 => self.write(),
            72..80 => self.close(),
            80..83 => self.append(),
            83..87 => self.truncate(),
            87..89 => self.set_replication(),
            89..90 => self.delete(),
            90..92 => self.abandon(),
            92..94 => self.recover(),
            94..96 => self.kill(node),
            96..98 => self.start(node),
            98 => self.restart_namenode(),
            100..103 => self.change_link(node),
            103..105 => self.fail_over(),
            105..107 => self.follow(),
            _ => (0..self.rng.u32(1..40)).for_each(|_| self.pass()),
        }
        self.settle();
    }

    /// A second passes.
    fn pass(&mut self) {
        self.now = Now { wall_ms: self.now.wall_ms + 1_000, mono_ms: self.now.mono_ms + 1_000 };
        self.blocks.tick(self.now, &|_| 0);
        while self.blocks.continue_walks() {}
        if let Some(standby) = &mut self.standby {
            standby.blocks.tick(self.now, &|_| 0);
        }
        for node in 0..NODES {
            if self.is_calm || self.rng.u32(0..3) == 0 {
                self.beat(node);
            }
        }
    }

    /// Kills the NameNode, which loses all that no edit carries. In a pair the standby takes over.
    fn restart_namenode(&mut self) {
        if self.standby.is_some() {
            return self.take_over(true);
        }
        self.note("*** the NameNode starts anew");
        self.blocks = self.loaded();
        self.active_since_ms = self.now.mono_ms;
    }

    /// Creates the block manager of a NameNode that has read the edits and just started.
    fn loaded(&self) -> BlockManager {
        let mut blocks = manager(self.seed);
        for file in self.files.values() {
            if file.is_closed {
                blocks.put_complete(file.block, FILE, file.replication);
                continue;
            }
            blocks.put_under_construction(file.logged, FILE, file.replication);
            if let Some(target) = file.truncate {
                blocks.begin_recovery(target.id, target.stamp, Some(target)).unwrap();
            }
        }
        blocks.start(self.now, GenerationStamp(self.stamp));
        blocks
    }

    fn check_nothing_is_lost(&self) {
        for (id, file) in self.files.iter().filter(|(_, file)| file.is_closed) {
            if !self.nodes.iter().any(|node| is_good(node, file)) {
                self.fail(*id, "its last good replica is lost");
            }
        }
    }

    /// Everything runs again, and no more work comes.
    fn calm_down(&mut self) {
        self.note("*** all runs again");
        self.is_calm = true;
        self.heal();
        (0..NODES).for_each(|node| self.start(node));
        for phase in 0..2 + u32::from(self.standby.is_some()) {
            if phase == 1 {
                self.note("*** all report");
                (0..NODES).for_each(|node| self.full_report(node));
            } else if phase == 2 {
                self.fail_over();
            }
            for _ in 0..300 {
                self.pass();
                for node in 0..NODES {
                    self.report(node);
                    while !self.nodes[node].orders.is_empty() {
                        self.obey(node);
                    }
                }
                if self.blocks.safe_mode().is_on() {
                    continue;
                }
                self.recover();
                let writing = self.files.iter().filter(|(_, file)| file.writer.is_some());
                for id in writing.map(|(id, _)| *id).collect::<Vec<_>>() {
                    self.close_file(id);
                }
                self.settle();
                self.check_nothing_is_lost();
            }
            self.check_all_are_replicated();
        }
    }

    fn check_all_are_replicated(&self) {
        for (id, file) in self.files.iter().filter(|(_, file)| file.is_closed) {
            let wanted = u32::from(file.replication).min(NODES as u32);
            let live = self.blocks.lookup().replica_counts(*id).live;
            if live != wanted {
                self.fail(*id, &format!("{live} replicas, {wanted} wanted"));
            }
        }
    }

    fn check_all_is_well(&self) {
        assert!(!self.blocks.safe_mode().is_on(), "seed {}", self.seed);
        for (id, file) in &self.files {
            if !file.is_closed {
                self.fail(*id, "it was never closed");
            }
            let wanted = usize::from(file.replication).min(NODES);
            let held = self.nodes.iter().filter(|node| node.disk.contains_key(id)).count();
            let good = self.nodes.iter().filter(|node| is_good(node, file)).count();
            let live = self.blocks.lookup().replica_counts(*id).live as usize;
            if (held, good, live) != (wanted, wanted, wanted) {
                let what = format!("{held} replicas, {good} good, {live} known, {wanted} wanted");
                self.fail(*id, &what);
            }
        }
    }
}

fn is_good(node: &Node, file: &File) -> bool {
    node.disk.get(&file.block.id).is_some_and(|replica| {
        replica.state == ReplicaState::Finalized
            && (replica.stamp, replica.len) == (file.block.stamp, file.block.len)
    })
}
