//! A failover controller as its owner sees it.

use crate::controller::{Decisions, data_of};
use crate::fencing::Fencer;
use crate::format::is_formatted;
use crate::health::HealthMonitor;
use crate::rpc::Requests;
use crate::target::{Target, TargetError};
use crate::zookeeper::{ZooKeeperError, ZooKeeperOptions};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use zerohop_conf::{Conf, ConfError, NameNodeId, Role, check_protections, keys};
use zerohop_transport::rpc::{RpcServer, ServerOptions};

/// Calls that may run side by side, as Apache's controller has.
const HANDLERS: usize = 3;

/// A running failover controller. Dropped, it gives the lock up without removing its record: the next active fences its
/// NameNode.
pub struct Controller {
    rpc: RpcServer,
    /// Held for their life.
    tasks: JoinSet<()>,
}

/// Why a failover controller does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// The NameNode.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// No name service has several NameNodes.
    #[error(
        "HA is not enabled for this namenode: set dfs.ha.namenodes.NAMESERVICE to the ids of both NameNodes"
    )]
    NotHa,
    /// Failover is to be done by hand.
    #[error(
        "Automatic failover is not enabled for {0}. Please ensure that automatic failover is enabled in the configuration (dfs.ha.automatic-failover.enabled) before running the ZK failover controller."
    )]
    NotAutomatic(Box<Target>),
    /// ZooKeeper.
    #[error(transparent)]
    ZooKeeper(#[from] ZooKeeperError),
    /// ZooKeeper has no place for this name service.
    #[error(
        "Unable to start failover controller. Parent znode {0} does not exist.\nRun with -formatZK flag to initialize ZooKeeper."
    )]
    NotFormatted(String),
    /// Nothing fences the NameNode.
    #[error(
        "Fencing is not configured for {target}.\nYou must configure a fencing method before using automatic failover: {reason}"
    )]
    NoFencer {
        /// The NameNode.
        target: Box<Target>,
        /// What is missing or wrong.
        reason: String,
    },
    /// The port.
    #[error("{key}: {address}: {source}", key = keys::DFS_HA_ZKFC_PORT.name)]
    Address {
        /// Where it was to listen.
        address: String,
        /// What the system said.
        source: io::Error,
    },
}

impl StartError {
    /// What Apache's controller ends with in this case.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::NotFormatted(_) => 3,
            Self::NoFencer { .. } => 4,
            Self::NotAutomatic(_) => 5,
            Self::ZooKeeper(ZooKeeperError::Connect { .. }) => 6,
            _ => 1,
        }
    }
}

impl Controller {
    /// The NameNode on this machine, for which failover is automatic.
    ///
    /// # Errors
    /// [`StartError`]
    pub fn target(conf: &Conf) -> Result<Target, StartError> {
        check_protections(conf, Role::FailoverController)?;
        let id = NameNodeId::of_this_machine(conf)?.ok_or(StartError::NotHa)?;
        let target = Target::new(conf, id)?;
        match target.is_automatic()? {
            true => Ok(target),
            false => Err(StartError::NotAutomatic(Box::new(target))),
        }
    }

    /// Takes the port, and begins to watch the NameNode and to compete for the lock. Needs a tokio runtime.
    ///
    /// # Errors
    /// [`StartError`]
    pub async fn start(conf: Arc<Conf>) -> Result<Self, StartError> {
        let target = Self::target(&conf)?;
        let zookeeper = ZooKeeperOptions::from_conf(target.conf(), &target.id().nameservice)?;
        let zookeeper = Arc::new(zookeeper);
        let client = zookeeper.connect().await?;
        if !is_formatted(&zookeeper, &client).await? {
            return Err(StartError::NotFormatted(zookeeper.znode().to_owned()));
        }
        drop(client);
        let no_fencer = |reason| StartError::NoFencer { target: Box::new(target.clone()), reason };
        match Fencer::of(&target) {
            Ok(Some(_)) => {}
            Ok(None) => {
                return Err(no_fencer(format!("set {}", keys::DFS_HA_FENCING_METHODS.name)));
            }
            Err(error) => return Err(no_fencer(error.to_string())),
        }
        let bind = bind_address(&target)?;
        let not_bound = |source| StartError::Address { address: bind.to_string(), source };
        let options = ServerOptions::from_conf(&conf, bind.port(), HANDLERS)?;
        let rpc = RpcServer::bind(bind, options).map_err(not_bound)?;

        let data = data_of(&target, rpc.local_addr().port());
        let decisions =
            Decisions::new(Arc::clone(&conf), target.clone(), Arc::clone(&zookeeper), data.into());
        let (observed, observations) = mpsc::channel(1);
        let (cede, requests) = mpsc::channel(1);
        let view = decisions.view();
        let monitor = HealthMonitor::new(&conf, &target)?;
        let mut tasks = JoinSet::new();
        tasks.spawn(monitor.run(observed));
        tasks.spawn(crate::stacks::log_when_not_well(target.clone(), view.clone()));
        tasks.spawn(decisions.run(observations, requests));
        rpc.register(Arc::new(Requests { conf, target, zookeeper, cede, view }));
        rpc.start().map_err(not_bound)?;
        Ok(Self { rpc, tasks })
    }

    /// Where it listens for other controllers and for `haadmin`.
    pub fn rpc_addr(&self) -> SocketAddr {
        self.rpc.local_addr()
    }

    /// Ends. The lock is given up; the next active fences this one's NameNode, which stays what it is until then.
    pub async fn stop(mut self) {
        self.rpc.stop().await;
        self.tasks.shutdown().await;
    }
}

fn bind_address(target: &Target) -> Result<SocketAddr, StartError> {
    let conf = target.conf();
    let mut host = None;
    for key in [&keys::DFS_NAMENODE_SERVICERPC_BIND_HOST, &keys::DFS_NAMENODE_RPC_BIND_HOST] {
        let named = conf.get(key)?.filter(|host| !host.is_empty());
        host = host.or(named);
    }
    let host = host.unwrap_or_else(|| target.host().to_owned());
    let port = target.controller_port()?;
    let address = format!("{host}:{port}");
    let found = (host.as_str(), port)
        .to_socket_addrs()
        .and_then(|mut found| found.next().ok_or_else(|| io::ErrorKind::NotFound.into()));
    found.map_err(|source| StartError::Address { address, source })
}
