//! The mover: rounds through the files, until every replica is on the type of storage that its file's policy wants.

use crate::candidate::{may_move, proxy};
use crate::dispatch::{Failures, move_within};
use crate::exit::{Error, ExitStatus};
use crate::nodes::{Group, Nodes};
use crate::observer::Observer;
use crate::policy::MOVABLE;
use crate::round::{Loads, Planned};
use crate::session::{Cluster, Session, count, pause, with_sessions};
use crate::topology::Matcher;
use crate::wanted_types::{Difference, wanted};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;
use tokio::task::JoinSet;
use zerohop_client::{
    DatanodeStorage, FileKind, FileStatus, ListPages, LocatedBlock, MoveOutcome, StoragePolicy,
    StorageType,
};
use zerohop_conf::{Conf, keys};
use zerohop_proto::hdfs::datanode_info_proto::AdminState;
use zerohop_system::clock;
use zerohop_wire::BlockId;

/// The file that a mover holds open.
pub const ID_PATH: &str = "/system/mover.id";
/// Id of the policy of files that have none, where the NameNode does not say (`HOT`).
const POLICY_DEFAULT: u8 = 7;
/// How often DataNodes that were left alone are tried again.
const TICK: Duration = Duration::from_millis(50);

/// Replicas that are pinned to their DataNodes, by uuid: they only move between its volumes.
type Pinned = HashMap<BlockId, BTreeSet<String>>;

struct Settings {
    moves_max: usize,
    moves_per_node_max: usize,
    retries_max: u32,
    pause: Duration,
}

impl Settings {
    fn new(conf: &Conf) -> Result<Self, Error> {
        let retries = conf.get(&keys::DFS_MOVER_RETRY_MAX_ATTEMPTS)?;
        Ok(Self {
            moves_max: count(conf, &keys::DFS_MOVER_MOVERTHREADS)?,
            moves_per_node_max: count(conf, &keys::DFS_DATANODE_BALANCE_MAX_CONCURRENT_MOVES)?,
            retries_max: u32::try_from(retries).unwrap_or(10),
            pause: pause(conf)?,
        })
    }
}

/// Moves replicas of every cluster. `None` if `stop` ended it.
///
/// # Errors
/// If another mover runs, or a NameNode cannot be reached.
pub async fn run(
    conf: &Conf,
    clusters: &[Cluster],
    observer: &dyn Observer,
    stop: impl Future<Output = ()>,
) -> Result<Option<ExitStatus>, Error> {
    let mover = Mover { settings: Settings::new(conf)?, observer };
    with_sessions(conf, clusters, ("Mover", ID_PATH), stop, async |sessions| {
        for session in sessions {
            let ended = mover.rounds(session).await?;
            if ended != ExitStatus::Success {
                return Ok(ended);
            }
        }
        observer.message(
            "Mover Successful: all blocks satisfy the specified storage policy. Exiting...",
        );
        Ok(ExitStatus::Success)
    })
    .await
}

struct Mover<'a> {
    settings: Settings,
    observer: &'a dyn Observer,
}

impl Mover<'_> {
    async fn rounds(&self, session: &mut Session) -> Result<ExitStatus, Error> {
        let (mut pinned, mut retries) = (Pinned::new(), 0);
        loop {
            let mut round = Round::new(session, &self.settings, self.observer, pinned).await?;
            round.go_through_files().await?;
            let (result, settings) = (round.result, &self.settings);
            round.failures.tell(self.observer);
            pinned = round.pinned;
            retries = if result.only_failed() { retries + 1 } else { 0 };
            if retries > settings.retries_max {
                self.observer.problem(&format!(
                    "Failed to move some blocks after {} retries. Exiting...",
                    settings.retries_max
                ));
                return Ok(ExitStatus::NoMoveProgress);
            }
            match result.status() {
                ExitStatus::InProgress => clock::sleep(settings.pause).await,
                ExitStatus::NoMoveBlock => {
                    self.observer.problem(
                        "Some blocks can't be moved. Exiting... No DataNode that has no replica of them yet has \
                         room on the type of storage that their policy wants; storagepolicies -listPolicies and \
                         dfsadmin -report show the types and the room.",
                    );
                    return Ok(ExitStatus::NoMoveBlock);
                }
                status => return Ok(status),
            }
        }
    }
}

/// How a round went.
#[derive(Clone, Copy, Debug, Default)]
struct RoundResult {
    has_remaining: bool,
    has_scheduled: bool,
    has_failed: bool,
    has_moved: bool,
}

impl RoundResult {
    const fn only_failed(self) -> bool {
        self.has_failed && !self.has_moved
    }

    const fn status(self) -> ExitStatus {
        match (self.has_remaining || self.has_failed, self.has_scheduled) {
            (false, _) => ExitStatus::Success,
            (true, false) => ExitStatus::NoMoveBlock,
            (true, true) => ExitStatus::InProgress,
        }
    }
}

/// One way through all files.
struct Round<'a> {
    session: &'a mut Session,
    observer: &'a dyn Observer,
    policies: BTreeMap<u8, StoragePolicy>,
    policy_default: u8,
    places: Places,
    loads: Loads,
    tasks: JoinSet<(Planned, u64, zerohop_client::Result<MoveOutcome>)>,
    /// Paths may hold each other.
    scheduled: HashSet<BlockId>,
    pinned: Pinned,
    failures: Failures,
    result: RoundResult,
}

impl<'a> Round<'a> {
    async fn new(
        session: &'a mut Session,
        settings: &Settings,
        observer: &'a dyn Observer,
        pinned: Pinned,
    ) -> Result<Self, Error> {
        let policies = session.fs.storage_policies().await?;
        let policy_default = session.fs.server_defaults().await?.storage_policy;
        let places = Places::new(&session.datanodes().await?);
        let (moves_max, per_node_max) = (settings.moves_max, settings.moves_per_node_max);
        let loads = Loads::new(places.nodes.len(), moves_max, per_node_max);
        Ok(Self {
            session,
            observer,
            policies: policies.into_iter().map(|policy| (policy.id, policy)).collect(),
            policy_default: if policy_default == 0 { POLICY_DEFAULT } else { policy_default },
            places,
            loads,
            tasks: JoinSet::new(),
            scheduled: HashSet::new(),
            pinned,
            failures: Failures::default(),
            result: RoundResult::default(),
        })
    }

    async fn go_through_files(&mut self) -> Result<(), Error> {
        let all = || vec!["/".to_owned()];
        let paths = if self.session.paths.is_empty() { all() } else { self.session.paths.clone() };
        for path in paths {
            self.tree(path).await?;
        }
        while self.wait_for_one().await {}
        Ok(())
    }

    async fn tree(&mut self, root: String) -> Result<(), Error> {
        let mut directories = vec![root];
        while let Some(directory) = directories.pop() {
            let mut pages = ListPages::located(&self.session.fs, &directory)?;
            loop {
                let page = match pages.next().await {
                    Ok(Some(page)) => page,
                    Ok(None) => break,
                    // Deleted meanwhile, or out of reach: the others go on.
                    Err(error) if error.no_connection().is_none() => {
                        let text = format!("{directory} is left out: {error}");
                        self.observer.problem(&text);
                        break;
                    }
                    Err(error) => return Err(error.into()),
                };
                for entry in page {
                    match entry.kind {
                        FileKind::Directory => directories.push(entry.path),
                        FileKind::File => self.file(&entry).await,
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    async fn file(&mut self, file: &FileStatus) {
        let Some(located) = &file.locations else { return };
        let id = if file.storage_policy == 0 { self.policy_default } else { file.storage_policy };
        let Some(policy) = self.policies.get(&id) else {
            let text = format!("{} is left out: the NameNode has no policy {id}", file.path);
            return self.observer.problem(&text);
        };
        if file.erasure_policy.is_some() {
            let text = format!("{} is left out: it is erasure coded", file.path);
            return self.observer.problem(&text);
        }
        let types = wanted(policy, file.replication as usize);
        let open_block = match located.is_last_complete {
            true => None,
            false => located.blocks.last().map(|block| block.block.block.id),
        };
        for block in &located.blocks {
            if Some(block.block.block.id) != open_block {
                self.block(block, &types).await;
            }
        }
    }

    async fn block(&mut self, block: &LocatedBlock, types: &[StorageType]) {
        let found: Vec<_> = block.replicas.iter().map(|replica| replica.storage_type).collect();
        let difference = Difference::new(types, &found);
        let (id, len) = (block.block.block.id, block.block.block.len);
        if difference.is_none() || self.scheduled.contains(&id) {
            return;
        }
        // What is under way holds memory.
        while self.loads.is_full() {
            self.wait_for_one().await;
        }
        let planned = loop {
            let choice = self.places.choose(block, &difference, &self.loads, self.pinned.get(&id));
            match choice {
                Choice::Busy if self.loads.moves() > 0 => {
                    self.wait_for_one().await;
                }
                Choice::Busy => {
                    clock::sleep(TICK).await;
                }
                Choice::None => break None,
                Choice::Move(planned) => break Some(planned),
            }
        };
        match planned {
            Some(planned) => {
                self.result.has_scheduled = true;
                self.result.has_remaining |= difference.needs_more_moves();
                self.begin(planned, len);
            }
            None => self.result.has_remaining = true,
        }
    }

    fn begin(&mut self, planned: Planned, len: u64) {
        let Some(wanted) = planned.with_nodes(&self.places.nodes) else { return };
        self.loads.begin(&planned);
        self.places.take_room(planned.target, len);
        self.scheduled.insert(planned.block.id);
        self.observer.planned(len);
        let moves = self.session.moves.clone();
        self.tasks.spawn(async move { (planned, len, move_within(&moves, &wanted, None).await) });
    }

    /// Waits for the end of one move; false if none is under way.
    async fn wait_for_one(&mut self) -> bool {
        let Some(ended) = self.tasks.join_next().await else { return false };
        let (planned, len, outcome) = match ended {
            Ok(ended) => ended,
            Err(error) => {
                self.failures.add(error);
                self.result.has_failed = true;
                return true;
            }
        };
        let has_moved = self.failures.sort(&outcome);
        self.loads.end(&planned, outcome.is_err(), clock::now());
        self.observer.moved(len);
        self.result.has_moved |= has_moved;
        self.result.has_failed |= !has_moved;
        if has_moved {
            self.session.bytes_moved += len;
            self.session.blocks_moved += 1;
        } else if let (Ok(MoveOutcome::Pinned), Some(node)) =
            (outcome, self.places.nodes.info(planned.source.node))
        {
            self.pinned.entry(planned.block.id).or_default().insert(node.uuid().to_owned());
        }
        true
    }
}

/// What is found for a block.
#[derive(Debug, PartialEq)]
enum Choice {
    Move(Planned),
    /// The DataNodes that could do it are busy.
    Busy,
    None,
}

/// Where replicas may go.
struct Places {
    nodes: Nodes,
    /// Storages, and the largest room of one of their volumes.
    targets: Vec<(Group, u64)>,
}

impl Places {
    fn new(reports: &[DatanodeStorage]) -> Self {
        let mut places = Self { nodes: Nodes::default(), targets: Vec::new() };
        for report in reports {
            let takes_part = report.node.admin_state() == AdminState::Normal;
            let node = places.nodes.add(report.node.clone(), takes_part);
            for kind in MOVABLE.into_iter().filter(|_| takes_part) {
                let volumes = report.volumes.iter().filter(|volume| volume.storage_type == kind);
                let room = volumes.map(|volume| volume.remaining).max().unwrap_or(0);
                places.targets.push((Group { node, kind }, room));
            }
        }
        places
    }

    fn take_room(&mut self, group: Group, len: u64) {
        for (_, room) in self.targets.iter_mut().filter(|(target, _)| *target == group) {
            *room = room.saturating_sub(len);
        }
    }

    /// The first replica in the wrong place that can go where one is wanted: to another volume of its DataNode, else
    /// to a DataNode in the same rack, else to any.
    fn choose(
        &self,
        block: &LocatedBlock,
        difference: &Difference,
        loads: &Loads,
        pinned: Option<&BTreeSet<String>>,
    ) -> Choice {
        let place = |replica: &zerohop_client::Replica| {
            let node = self.nodes.by_uuid(replica.node.uuid())?;
            Some(Group { node, kind: replica.storage_type })
        };
        let replicas: Vec<Group> = block.replicas.iter().filter_map(place).collect();
        let mut is_busy = false;
        for source in replicas.iter().filter(|replica| difference.existing.contains(&replica.kind))
        {
            let uuid = self.nodes.info(source.node).map_or("", |node| node.uuid());
            let is_pinned = pinned.is_some_and(|pinned| pinned.contains(uuid));
            for target in self.targets_for(*source, difference, is_pinned, block.block.block.len) {
                if !may_move(&self.nodes, &replicas, *source, target) {
                    continue;
                }
                let now = clock::now();
                let is_free = |node: usize| loads.is_free(node, now);
                let proxy = proxy(&self.nodes, &replicas, *source, target, is_free);
                match proxy.filter(|_| is_free(target.node)) {
                    Some(proxy) => {
                        let block = block.block.block;
                        return Choice::Move(Planned { block, source: *source, target, proxy });
                    }
                    None => is_busy = true,
                }
            }
        }
        if is_busy { Choice::Busy } else { Choice::None }
    }

    /// The storages that a replica could go to, the nearest first, those with the most room before others.
    fn targets_for(
        &self,
        source: Group,
        difference: &Difference,
        is_pinned: bool,
        len: u64,
    ) -> Vec<Group> {
        let location = self.nodes.location(source.node);
        let distance = |target: Group| match target.node == source.node {
            true => 0,
            false => {
                let near = self.nodes.location(target.node);
                1 + Matcher::ALL.iter().take_while(|pair| !pair.matches(location, near)).count()
            }
        };
        let fits = |target: &&(Group, u64)| {
            difference.expected.contains(&target.0.kind)
                && target.1 >= len.max(1)
                && (!is_pinned || target.0.node == source.node)
        };
        let mut targets: Vec<_> = self.targets.iter().filter(fits).collect();
        targets.sort_by_key(|(group, room)| (distance(*group), std::cmp::Reverse(*room)));
        targets.into_iter().map(|(group, _)| *group).collect()
    }
}

#[cfg(test)]
#[path = "mover_test.rs"]
mod tests;
