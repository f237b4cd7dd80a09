//! The balancer: iterations until the DataNodes of every cluster are about equally full.

use crate::dispatch::{self, Bounds};
use crate::exit::{Error, ExitStatus};
use crate::hosts::HostSet;
use crate::moved::MovedBlocks;
use crate::nodes::Nodes;
use crate::observer::{Iteration, Observer};
use crate::plan::{self, plan};
use crate::policy::{BalancingPolicy, MOVABLE, Usage};
use crate::round::{self, Round};
use crate::session::{Cluster, Session, count, pause, with_sessions};
use std::collections::BTreeSet;
use std::time::Duration;
use zerohop_client::DatanodeStorage;
use zerohop_conf::{Conf, keys};
use zerohop_proto::hdfs::datanode_info_proto::AdminState;
use zerohop_system::clock;

/// The file that a balancer holds open.
pub const ID_PATH: &str = "/system/balancer.id";

/// What the command line says.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// When the cluster counts as balanced.
    pub policy: BalancingPolicy,
    /// Points of a hundred by which a DataNode may differ from the average.
    pub threshold: f64,
    /// DataNodes that are left alone.
    pub excluded: HostSet,
    /// The DataNodes that are balanced; all, if it is empty.
    pub included: HostSet,
    /// The DataNodes that give; all, if it is empty.
    pub sources: HostSet,
    /// The block pools that are balanced; all, if it is empty.
    pub block_pools: BTreeSet<String>,
    /// Iterations in a row that may move nothing; below 0: any number.
    pub idle_iterations_max: i32,
    /// Whether to go on while an upgrade is not finalized.
    pub during_upgrade: bool,
    /// Whether the fullest DataNodes give first.
    pub fullest_first: bool,
    /// Blocks of files changed within this time come last; else the configuration says.
    pub hot_for: Option<Duration>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            policy: BalancingPolicy::default(),
            threshold: 10.0,
            excluded: HostSet::default(),
            included: HostSet::default(),
            sources: HostSet::default(),
            block_pools: BTreeSet::new(),
            idle_iterations_max: 5,
            during_upgrade: false,
            fullest_first: false,
            hot_for: None,
        }
    }
}

/// The configuration, read once.
struct Settings {
    plan: plan::Limits,
    round: round::Limits,
    bounds: Bounds,
    moved_window: Duration,
    block_size: u64,
    pause: Duration,
}

impl Settings {
    fn new(conf: &Conf, parameters: &Parameters) -> Result<Self, Error> {
        let bytes = |key| conf.get_as(key, "bytes above 0", |n: u64| (n > 0).then_some(n));
        let fetches_a_second = conf.get(&keys::DFS_NAMENODE_GETBLOCKS_MAX_QPS)?;
        let block_len_min = bytes(&keys::DFS_BALANCER_GETBLOCKS_MIN_BLOCK_SIZE)?;
        let move_timeout = conf.get(&keys::DFS_BALANCER_BLOCK_MOVE_TIMEOUT)?;
        let round_timeout = u64::try_from(conf.get(&keys::DFS_BALANCER_MAX_ITERATION_TIME)?);
        let hot_for = conf.get(&keys::DFS_BALANCER_GETBLOCKS_HOT_TIME_INTERVAL)?;
        Ok(Self {
            plan: plan::Limits {
                threshold: parameters.threshold,
                size_to_move_max: bytes(&keys::DFS_BALANCER_MAX_SIZE_TO_MOVE)?,
                fullest_first: parameters.fullest_first,
            },
            round: round::Limits {
                fetch_size: bytes(&keys::DFS_BALANCER_GETBLOCKS_SIZE)?,
                block_len_min,
                moves_max: count(conf, &keys::DFS_BALANCER_MOVERTHREADS)?,
                moves_per_node_max: count(conf, &keys::DFS_DATANODE_BALANCE_MAX_CONCURRENT_MOVES)?,
                fetches_max: count(conf, &keys::DFS_BALANCER_DISPATCHERTHREADS)?,
                fetch_interval: match u32::try_from(fetches_a_second) {
                    Ok(count) if count > 0 => Duration::from_secs(1) / count,
                    _ => Duration::ZERO,
                },
                no_move_max: conf.get(&keys::DFS_BALANCER_MAX_NO_MOVE_INTERVAL)?,
            },
            bounds: Bounds {
                block_len_min,
                hot_for: parameters.hot_for.unwrap_or(hot_for),
                move_timeout: (!move_timeout.is_zero()).then_some(move_timeout),
                round_timeout: round_timeout.ok().map(Duration::from_millis),
            },
            moved_window: conf.get(&keys::DFS_BALANCER_MOVEDWINWIDTH)?,
            block_size: bytes(&keys::DFS_BLOCKSIZE)?,
            pause: pause(conf)?,
        })
    }
}

/// Balances every cluster. `None` if `stop` ended it.
///
/// # Errors
/// If another balancer runs, or a NameNode cannot be reached.
pub async fn run(
    conf: &Conf,
    clusters: &[Cluster],
    parameters: &Parameters,
    observer: &dyn Observer,
    stop: impl Future<Output = ()>,
) -> Result<Option<ExitStatus>, Error> {
    let settings = Settings::new(conf, parameters)?;
    let balancer = Balancer { settings, parameters, observer };
    with_sessions(conf, clusters, ("Balancer", ID_PATH), stop, async |sessions| {
        balancer.iterate(sessions).await
    })
    .await
}

/// Balances every cluster again and again, with a pause after each time (`dfs.balancer.service.interval`).
///
/// # Errors
/// If that fails more often in a row than `dfs.balancer.service.retries.on.exception` allows.
pub async fn serve(
    conf: &Conf,
    clusters: &[Cluster],
    parameters: &Parameters,
    observer: &dyn Observer,
    stop: impl Future<Output = ()>,
) -> Result<Option<ExitStatus>, Error> {
    let interval = conf.get(&keys::DFS_BALANCER_SERVICE_INTERVAL)?;
    let retries = conf.get(&keys::DFS_BALANCER_SERVICE_RETRIES_ON_EXCEPTION)?;
    let mut stop = std::pin::pin!(stop);
    let mut failures = 0;
    loop {
        match run(conf, clusters, parameters, observer, stop.as_mut()).await {
            Ok(None) => return Ok(None),
            Ok(Some(_)) => failures = 0,
            Err(error @ Error::Configuration(_)) => return Err(error),
            Err(error) => {
                failures += 1;
                if failures > retries {
                    return Err(error);
                }
                observer.problem(&format!("{error}; trying again in {} s", interval.as_secs()));
            }
        }
        tokio::select! {
            () = clock::sleep(interval) => {}
            () = stop.as_mut() => return Ok(None),
        }
    }
}

struct Balancer<'a> {
    settings: Settings,
    parameters: &'a Parameters,
    observer: &'a dyn Observer,
}

/// The DataNodes of an iteration, and how full they are.
struct Census {
    nodes: Nodes,
    usages: Vec<Usage>,
}

impl Balancer<'_> {
    async fn iterate(&self, sessions: &mut [Session]) -> Result<ExitStatus, Error> {
        let now = clock::now();
        let mut moved: Vec<MovedBlocks> =
            sessions.iter().map(|_| MovedBlocks::new(self.settings.moved_window, now)).collect();
        for number in 0.. {
            let mut is_done = true;
            for (session, moved) in sessions.iter_mut().zip(&mut moved) {
                let pools = &self.parameters.block_pools;
                if !pools.is_empty() && !pools.contains(session.moves.pool()) {
                    continue;
                }
                let mut report = Iteration {
                    number,
                    bytes_moved: 0,
                    blocks_moved: 0,
                    bytes_left: None,
                    bytes_planned: None,
                    namenode: session.fs.uri().to_owned(),
                };
                let ended = self.iteration(session, moved, &mut report).await;
                (report.bytes_moved, report.blocks_moved) =
                    (session.bytes_moved, session.blocks_moved);
                self.observer.iteration(&report);
                match ended? {
                    ExitStatus::Success => {}
                    ExitStatus::InProgress => is_done = false,
                    failed => return Ok(failed),
                }
                moved.forget_old(clock::now());
            }
            if is_done {
                self.observer.message("The cluster is balanced. Exiting...");
                break;
            }
            clock::sleep(self.settings.pause).await;
        }
        Ok(ExitStatus::Success)
    }

    async fn iteration(
        &self,
        session: &mut Session,
        moved: &mut MovedBlocks,
        report: &mut Iteration,
    ) -> Result<ExitStatus, Error> {
        let Census { nodes, usages } = self.census(&session.datanodes().await?);
        let plan = plan(&usages, &self.settings.plan);
        report.bytes_left = Some(plan.bytes_left);
        if plan.bytes_left == 0 {
            report.bytes_planned = Some(0);
            return Ok(ExitStatus::Success);
        }
        if !self.parameters.during_upgrade && session.is_upgrading().await? {
            self.observer.problem(
                "Balancer exiting as upgrade is not finalized, please finalize the HDFS upgrade before running the \
                 balancer (dfsadmin -rollingUpgrade finalize, dfsadmin -finalizeUpgrade).",
            );
            return Ok(ExitStatus::UnfinalizedUpgrade);
        }
        report.bytes_planned = Some(plan.bytes());
        if plan.bytes() == 0 {
            self.observer.message("No block can be moved. Exiting...");
            return Ok(ExitStatus::NoMoveBlock);
        }
        self.observer.planned(plan.bytes());
        let mut round = Round::new(&nodes, &plan, self.settings.round, moved, clock::now());
        let bounds = self.settings.bounds;
        let bytes = dispatch::run(session, &nodes, &mut round, bounds, self.observer).await;
        let idle = session.count_idle(bytes);
        let idle_max = self.parameters.idle_iterations_max;
        if bytes == 0 && idle_max >= 0 && idle >= idle_max {
            self.observer
                .message(&format!("No block has been moved for {idle} iterations. Exiting..."));
            return Ok(ExitStatus::NoMoveProgress);
        }
        Ok(ExitStatus::InProgress)
    }

    fn census(&self, reports: &[DatanodeStorage]) -> Census {
        let Parameters { included, excluded, sources, policy, .. } = self.parameters;
        let mut census = Census { nodes: Nodes::default(), usages: Vec::new() };
        for report in reports {
            let node = &report.node;
            let takes_part = node.admin_state() == AdminState::Normal
                && included.is_empty_or_has(node)
                && !excluded.has(node);
            let at = census.nodes.add(node.clone(), takes_part);
            let usage = |kind| Usage::of(at, report, kind, *policy, self.settings.block_size);
            for usage in MOVABLE.into_iter().filter_map(usage).filter(|_| takes_part) {
                census.usages.push(Usage { is_source: sources.is_empty_or_has(node), ..usage });
            }
        }
        census
    }
}
