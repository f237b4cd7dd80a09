//! One cluster on which a balancer or mover works, and what it has moved there.

use crate::exit::Error;
use crate::lock::RunningMark;
use std::time::Duration;
use tokio::time::timeout;
use zerohop_client::{
    DatanodeReportType, DatanodeStorage, FileSystem, ReplicaMoves, RollingUpgradeAction,
};
use zerohop_conf::{Conf, keys};
use zerohop_system::random;

/// How long the files that are held open may take to be closed; a NameNode may be away.
const RELEASE_MAX: Duration = Duration::from_secs(15);

/// A cluster by the URI of its file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// `hdfs://host:port` or `hdfs://nameservice`.
    pub uri: String,
    /// Where the mover looks for files; all of them, if it is empty.
    pub paths: Vec<String>,
}

/// The name of a program and of the file that it holds open.
pub(crate) type Program = (&'static str, &'static str);

/// One cluster, and what was moved there.
pub(crate) struct Session {
    pub(crate) fs: FileSystem,
    pub(crate) moves: ReplicaMoves,
    pub(crate) paths: Vec<String>,
    pub(crate) bytes_moved: u64,
    pub(crate) blocks_moved: u64,
    idle_iterations: i32,
    mark: RunningMark,
}

impl Session {
    async fn open(conf: &Conf, cluster: &Cluster, program: Program) -> Result<Self, Error> {
        let fs = FileSystem::connect(conf, Some(&cluster.uri))?;
        let moves = ReplicaMoves::connect(conf, &fs).await?;
        let mark = RunningMark::take(&fs, program.0, program.1).await?;
        let paths = cluster.paths.clone();
        Ok(Self { fs, moves, paths, bytes_moved: 0, blocks_moved: 0, idle_iterations: 0, mark })
    }

    /// The live DataNodes in random order.
    pub(crate) async fn datanodes(&self) -> Result<Vec<DatanodeStorage>, Error> {
        let mut reports = self.fs.datanode_storage_report(DatanodeReportType::Live).await?;
        random::shuffle(&mut reports);
        Ok(reports)
    }

    /// Whether replicas that move away are kept, because an upgrade may be rolled back.
    pub(crate) async fn is_upgrading(&self) -> Result<bool, Error> {
        if !self.moves.is_upgrade_finalized().await? {
            return Ok(true);
        }
        let rolling = self.fs.rolling_upgrade(RollingUpgradeAction::Query).await?;
        Ok(rolling.is_some_and(|upgrade| upgrade.finalized_ms == 0))
    }

    /// Counts an iteration; returns how many iterations in a row have moved nothing.
    pub(crate) fn count_idle(&mut self, bytes_moved: u64) -> i32 {
        self.idle_iterations = if bytes_moved > 0 { 0 } else { self.idle_iterations + 1 };
        self.idle_iterations
    }
}

/// Opens all clusters, lets `work` go on until it is done or `stop` is, and closes them. `None` if it was stopped.
pub(crate) async fn with_sessions<T>(
    conf: &Conf,
    clusters: &[Cluster],
    program: Program,
    stop: impl Future<Output = ()>,
    work: impl AsyncFnOnce(&mut [Session]) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    let mut sessions = Vec::new();
    let mut opened = Ok(());
    for cluster in clusters {
        match Session::open(conf, cluster, program).await {
            Ok(session) => sessions.push(session),
            Err(error) => {
                opened = Err(error);
                break;
            }
        }
    }
    let ended = match opened {
        Ok(()) => tokio::select! {
            ended = work(&mut sessions) => ended.map(Some),
            () = stop => Ok(None),
        },
        Err(error) => Err(error),
    };
    let release = async {
        for session in sessions {
            session.mark.release().await;
        }
    };
    if timeout(RELEASE_MAX, release).await.is_err() {
        tracing::warn!("{} is not released: the NameNode does not answer", program.1);
    }
    ended
}

/// How long DataNodes and NameNode take to show what was moved.
pub(crate) fn pause(conf: &Conf) -> Result<Duration, Error> {
    let heartbeats = conf.get(&keys::DFS_HEARTBEAT_INTERVAL)? * 2;
    Ok(heartbeats + conf.get(&keys::DFS_NAMENODE_REDUNDANCY_INTERVAL_SECONDS)?)
}

/// The value of a key that must be above 0.
pub(crate) fn count(conf: &Conf, key: &zerohop_conf::Key<i32>) -> Result<usize, Error> {
    let above_zero = |count: i32| usize::try_from(count).ok().filter(|count| *count > 0);
    Ok(conf.get_as(key, "a number above 0", above_zero)?)
}
