//! ZKFCProtocol, served (`ZKFCRpcServer`).

use crate::controller::{Attempt, Cede, View, target_of};
use crate::election::holder;
use crate::health::Health;
use crate::peer::{PROTOCOL, Peer, VERSION};
use crate::service::ServiceState;
use crate::target::Target;
use crate::zookeeper::ZooKeeperOptions;
use bytes::Bytes;
use prost::Message;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use zerohop_conf::{Conf, keys};
use zerohop_proto::common::{
    CedeActiveRequestProto, CedeActiveResponseProto, GracefulFailoverRequestProto,
    GracefulFailoverResponseProto,
};
use zerohop_system::clock;
use zerohop_transport::login::User;
use zerohop_transport::rpc::server::{decode_param, no_such_method};
use zerohop_transport::rpc::{CallContext, Reply, RpcService};
use zerohop_wire::{JavaException, RemoteException};

/// How long a NameNode may take to become active in a failover, beyond the time the other one may take to give that up.
const ACTIVE_WITHIN: Duration = Duration::from_secs(60);

/// What the calls need.
#[derive(Clone)]
pub(crate) struct Requests {
    pub(crate) conf: Arc<Conf>,
    pub(crate) target: Target,
    pub(crate) zookeeper: Arc<ZooKeeperOptions>,
    pub(crate) cede: mpsc::Sender<Cede>,
    pub(crate) view: watch::Receiver<View>,
}

impl RpcService for Requests {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn version(&self) -> u64 {
        VERSION
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        if let Err(exception) = self.check_administrator(&context) {
            return Reply::exception(exception);
        }
        match method {
            "cedeActive" => match decode_param::<CedeActiveRequestProto>(param) {
                Ok(request) => Reply::later(async move {
                    tracing::info!("{} asks to cede the active state", context.identity.user());
                    // Java sends its negative numbers in this unsigned field.
                    let millis = u64::try_from(request.millis_to_cede as i32).unwrap_or(0);
                    self.cede_active(Duration::from_millis(millis)).await?;
                    Ok(CedeActiveResponseProto {}.encode_to_vec().into())
                }),
                Err(exception) => Reply::exception(exception),
            },
            "gracefulFailover" => match decode_param::<GracefulFailoverRequestProto>(param) {
                Ok(_) => Reply::later(async move {
                    tracing::info!("{} asks for a failover", context.identity.user());
                    self.take_over().await?;
                    Ok(GracefulFailoverResponseProto {}.encode_to_vec().into())
                }),
                Err(exception) => Reply::exception(exception),
            },
            _ => Reply::exception(no_such_method(PROTOCOL, method)),
        }
    }
}

fn failed(text: impl Into<String>) -> RemoteException {
    JavaException::ServiceFailed.with(text.into())
}

fn io(error: impl ToString) -> RemoteException {
    JavaException::Io.with(error.to_string())
}

impl Requests {
    /// Only this process's user and those of dfs.cluster.administrators may move the active state.
    fn check_administrator(&self, context: &CallContext) -> Result<(), RemoteException> {
        let user = context.identity.user();
        let list = self.conf.get(&keys::DFS_CLUSTER_ADMINISTRATORS).map_err(io)?;
        // Users, a blank, groups.
        let (users, groups) = list.split_once(' ').unwrap_or((&list, ""));
        let names = |list: &str, name: &str| {
            list.split(',').map(str::trim).any(|one| one == "*" || (!one.is_empty() && one == name))
        };
        let is_allowed = *User::of_process().name == **user
            || names(users, user)
            || (!groups.trim().is_empty()
                && zerohop_system::users::groups_of(user).iter().any(|group| names(groups, group)));
        match is_allowed {
            true => Ok(()),
            false => Err(JavaException::AccessControl.with(format!(
                "Disallowed RPC access from {user} at {}. Not listed in {}",
                context.host,
                keys::DFS_CLUSTER_ADMINISTRATORS.name
            ))),
        }
    }

    async fn cede_active(&self, duration: Duration) -> Result<(), RemoteException> {
        let (done, is_done) = oneshot::channel();
        let ended = || io("the failover controller is stopping");
        self.cede.send(Cede { duration, done }).await.map_err(|_| ended())?;
        is_done.await.map_err(|_| ended())
    }

    /// Makes all other NameNodes give the active state up, and waits until this one has it.
    async fn take_over(&self) -> Result<(), RemoteException> {
        self.check_eligible()?;
        let data = holder(&self.zookeeper).await.map_err(io)?;
        let data = data.ok_or_else(|| failed("No other node is currently active."))?;
        let active = target_of(&self.conf, &data).map_err(io)?;
        if active.address() == self.target.address() {
            tracing::info!("{} is active already", self.target);
            return Ok(());
        }
        let fence: Duration = self.conf.get(&keys::HA_GRACEFUL_FENCE_RPC_TIMEOUT).map_err(io)?;
        let timeout = fence * 2;
        let began = clock::runtime_now();
        // The active one last, so that none of the others takes over in between.
        let mut others = self.target.others(&self.conf).map_err(io)?;
        others.sort_by_key(|other| other.address() == active.address());
        let mut barred = Vec::new();
        for other in &others {
            tracing::info!("{other} is asked to cede the active state");
            let peer = other.controller(timeout).map_err(io)?;
            peer.cede_active(Some(timeout)).await.map_err(io)?;
            barred.push(peer);
        }
        let attempt = self.next_attempt(began, timeout + ACTIVE_WITHIN).await;
        let attempt = match attempt {
            Some(attempt) => attempt,
            None => return Err(failed(self.why_not_active())),
        };
        admit(&barred).await;
        match attempt.error {
            None => Ok(()),
            Some(error) => Err(failed(format!("Failed to become active. {error}"))),
        }
    }

    fn check_eligible(&self) -> Result<(), RemoteException> {
        let view = self.view.borrow();
        let reason = match (view.health, view.role) {
            (Health::Healthy, ServiceState::Observer) => "is in observer state",
            (Health::Healthy, _) => return Ok(()),
            _ => "is not currently healthy",
        };
        Err(failed(format!("{} {reason}. Cannot be failover target", self.target)))
    }

    /// The first attempt after `began`; none if there is none in time, or the NameNode is not well any more.
    async fn next_attempt(&self, began: Instant, within: Duration) -> Option<Attempt> {
        let mut view = self.view.clone();
        let is_made = |view: &View| {
            view.health != Health::Healthy
                || view.attempt.as_ref().is_some_and(|attempt| attempt.at >= began)
        };
        let made = async {
            let view = view.wait_for(is_made).await.ok()?;
            view.attempt.clone().filter(|attempt| attempt.at >= began)
        };
        tokio::select! {
            attempt = made => attempt,
            () = clock::sleep(within) => None,
        }
    }

    fn why_not_active(&self) -> &'static str {
        match self.view.borrow().health {
            Health::Healthy => {
                "Unable to become active. Local node did not get an opportunity to do so from ZooKeeper, or the local node took too long to transition to active."
            }
            _ => "Unable to become active. Service became unhealthy while trying to failover.",
        }
    }
}

/// Lets the others take part in the election again. One that is not reached does so by itself.
async fn admit(peers: &[Peer]) {
    for peer in peers {
        if let Err(error) = peer.cede_active(None).await {
            tracing::warn!("a failover controller was not let in again, and waits: {error}");
        }
    }
}
