//! The decisions of a failover controller: health, election and requests come in, one after the other
//! (`ZKFailoverController`).

use crate::election::{Candidate, Outcome, Session};
use crate::fencing::Fencer;
use crate::health::{Health, Observation};
use crate::manual::make_standby;
use crate::service::{RequestSource, ServiceState};
use crate::target::Target;
use crate::zookeeper::ZooKeeperOptions;
use prost::Message;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use zerohop_conf::{Conf, keys};
use zerohop_proto::hdfs::ActiveNodeInfo;
use zerohop_system::clock;

/// How long a controller stays out of the election after its NameNode did not become active, or was not what it should be:
/// another one may do better.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// The last attempt to make the NameNode active.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) error: Option<String>,
    pub(crate) at: Instant,
}

/// What is to be seen of a controller from outside.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) health: Health,
    pub(crate) role: ServiceState,
    pub(crate) attempt: Option<Attempt>,
}

/// Give the active state up and stay out of the election for so long; zero ends that.
#[derive(Debug)]
pub(crate) struct Cede {
    pub(crate) duration: Duration,
    pub(crate) done: oneshot::Sender<()>,
}

/// The NameNode of this machine, and what is to become of it.
pub(crate) struct Decisions {
    conf: Arc<Conf>,
    target: Target,
    zookeeper: Arc<ZooKeeperOptions>,
    /// What stands in ZooKeeper for this NameNode.
    data: Arc<[u8]>,
    candidate: Option<Candidate>,
    /// The session that has the lock.
    won: Option<Session>,
    barred_until: Option<Instant>,
    /// How often in a row the NameNode was not what it should be.
    mismatches: u32,
    /// When it became what it should be: what was seen of it before says nothing.
    role_since: Instant,
    view: watch::Sender<View>,
}

impl Decisions {
    pub(crate) fn new(
        conf: Arc<Conf>,
        target: Target,
        zookeeper: Arc<ZooKeeperOptions>,
        data: Arc<[u8]>,
    ) -> Self {
        let view =
            View { health: Health::Initializing, role: ServiceState::Initializing, attempt: None };
        let (view, _) = watch::channel(view);
        Self {
            conf,
            target,
            zookeeper,
            data,
            candidate: None,
            won: None,
            barred_until: None,
            mismatches: 0,
            role_since: clock::runtime_now(),
            view,
        }
    }

    pub(crate) fn view(&self) -> watch::Receiver<View> {
        self.view.subscribe()
    }

    /// Decides until nothing comes in any more.
    pub(crate) async fn run(
        mut self,
        mut observations: mpsc::Receiver<Observation>,
        mut requests: mpsc::Receiver<Cede>,
    ) {
        loop {
            let barred_until = self.barred_until;
            let admitted = async {
                match barred_until {
                    Some(moment) => clock::sleep_until(moment).await,
                    None => std::future::pending().await,
                }
            };
            let outcome = async {
                match &mut self.candidate {
                    Some(candidate) => candidate.outcome().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                observation = observations.recv() => match observation {
                    Some(observation) => self.observe(observation).await,
                    None => return,
                },
                outcome = outcome => self.elected(outcome).await,
                request = requests.recv() => match request {
                    Some(request) => self.cede(request).await,
                    None => return,
                },
                () = admitted => {
                    self.barred_until = None;
                    self.take_part_if_well().await;
                }
            }
        }
    }

    async fn observe(&mut self, observation: Observation) {
        let state = observation.state.filter(|_| observation.at > self.role_since);
        // First: an observer that is well, or well again, must not compete even for a moment.
        if state == Some(ServiceState::Observer) {
            self.leave_as_observer().await;
        }
        let before = self.view.borrow().health;
        if before != observation.health {
            tracing::info!("{}: {before:?} -> {:?}", self.target, observation.health);
            self.view.send_modify(|view| view.health = observation.health);
            self.take_part_if_well().await;
        }
        if let Some(state) = state {
            self.compare(state).await;
        }
    }

    async fn leave_as_observer(&mut self) {
        if self.view.borrow().role != ServiceState::Observer {
            tracing::info!("{} is an observer: it takes no part in the election", self.target);
            self.leave(true, ServiceState::Observer).await;
        }
    }

    /// A NameNode that another one made active or standby must not keep the lock, or wait for it, for what it is not.
    async fn compare(&mut self, state: ServiceState) {
        let role = self.view.borrow().role;
        if role == ServiceState::Initializing || state == ServiceState::Observer {
            return;
        }
        if role == ServiceState::Observer {
            self.set_role(ServiceState::Initializing);
            self.take_part_if_well().await;
            return;
        }
        if state == role {
            self.mismatches = 0;
            return;
        }
        self.mismatches += 1;
        // The first time the change that was asked for may only not have happened yet.
        if self.mismatches > 1 {
            tracing::error!("{} is {state}, and not {role} as it should be", self.target);
            self.bar(AFTER_FAILURE);
            self.leave(true, ServiceState::Initializing).await;
        }
    }

    /// Takes part in the election, or leaves it, as the NameNode's health says.
    async fn take_part_if_well(&mut self) {
        let (health, role) = {
            let view = self.view.borrow();
            (view.health, view.role)
        };
        if self.barred_until.is_some_and(|until| until > clock::runtime_now()) {
            if health == Health::Healthy {
                tracing::info!("{} is kept out of the election for now", self.target);
            }
            return;
        }
        match health {
            // It stays one until it says otherwise, also while it does not answer.
            _ if role == ServiceState::Observer => {}
            Health::Healthy => {
                if self.candidate.is_none() {
                    let zookeeper = Arc::clone(&self.zookeeper);
                    self.candidate = Some(Candidate::new(zookeeper, Arc::clone(&self.data)));
                }
            }
            Health::Initializing => self.leave(false, ServiceState::Initializing).await,
            Health::Unhealthy | Health::NotResponding => {
                self.leave(true, ServiceState::Initializing).await;
            }
        }
    }

    /// Gives the lock up. The next one to have it must fence this NameNode, unless that has become standby in order.
    async fn leave(&mut self, must_be_fenced: bool, role: ServiceState) {
        self.candidate = None;
        if let Some(session) = self.won.take()
            && !must_be_fenced
        {
            session.remove_own_record().await;
        }
        self.set_role(role);
    }

    fn set_role(&mut self, role: ServiceState) {
        self.mismatches = 0;
        self.role_since = clock::runtime_now();
        self.view.send_modify(|view| view.role = role);
    }

    fn bar(&mut self, duration: Duration) {
        self.barred_until = Some(clock::runtime_now() + duration);
    }

    async fn elected(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Won(session) => {
                let error = self.become_active(&session).await.err();
                match &error {
                    None => {
                        tracing::info!("{} is active", self.target);
                        self.won = Some(session);
                        self.set_role(ServiceState::Active);
                    }
                    Some(error) => {
                        tracing::error!("{} did not become active: {error}", self.target);
                        self.bar(AFTER_FAILURE);
                        self.leave(true, ServiceState::Initializing).await;
                    }
                }
                let attempt = Attempt { error, at: clock::runtime_now() };
                self.view.send_modify(|view| view.attempt = Some(attempt));
            }
            Outcome::Lost => {
                self.won = None;
                self.become_standby().await;
                self.set_role(ServiceState::Standby);
            }
        }
    }

    /// The one that was active before must not write any more before this one does.
    async fn become_active(&self, session: &Session) -> Result<(), String> {
        let record = session.record().await.map_err(|error| error.to_string())?;
        if let Some(record) = record.as_ref().filter(|record| !session.is_own(record)) {
            self.fence(&record.data).await?;
        }
        session.write_record(record.as_ref()).await.map_err(|error| error.to_string())?;
        let active = async {
            let service = self.target.service(self.conf.get(&keys::HA_NEW_ACTIVE_RPC_TIMEOUT)?)?;
            Ok::<_, zerohop_conf::ConfError>(service.to_active(RequestSource::Controller).await)
        };
        match active.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn fence(&self, data: &[u8]) -> Result<(), String> {
        let old = target_of(&self.conf, data)?;
        tracing::info!("{old} was active: it must not be any more");
        if make_standby(&self.conf, &old, RequestSource::Controller).await {
            return Ok(());
        }
        let fencer = Fencer::of(&old).map_err(|error| error.to_string())?;
        let fencer = fencer.ok_or_else(|| format!("No fencer configured for {old}"))?;
        match fencer.fence(&old, None).await {
            true => Ok(()),
            false => Err(format!("Unable to fence {old}")),
        }
    }

    async fn become_standby(&self) {
        if make_standby(&self.conf, &self.target, RequestSource::Controller).await {
            tracing::info!("{} is standby", self.target);
        }
    }

    async fn cede(&mut self, request: Cede) {
        if request.duration.is_zero() {
            self.barred_until = None;
        } else if self.view.borrow().role != ServiceState::Observer {
            let is_standby =
                make_standby(&self.conf, &self.target, RequestSource::Controller).await;
            self.bar(request.duration);
            self.leave(!is_standby, ServiceState::Initializing).await;
        }
        // Whoever asked may be gone.
        let _ = request.done.send(());
        self.take_part_if_well().await;
    }
}

/// The bytes that stand in ZooKeeper for a NameNode (`ActiveNodeInfo`).
pub(crate) fn data_of(target: &Target, controller_port: u16) -> Vec<u8> {
    let info = ActiveNodeInfo {
        nameservice_id: target.id().nameservice.as_str().into(),
        namenode_id: target.id().namenode.as_str().into(),
        hostname: target.host().into(),
        port: target.port().into(),
        zkfc_port: controller_port.into(),
    };
    info.encode_to_vec()
}

/// The NameNode that stands in ZooKeeper.
pub(crate) fn target_of(conf: &Conf, data: &[u8]) -> Result<Target, String> {
    let info = ActiveNodeInfo::decode(data);
    let info = info.map_err(|error| format!("Invalid data in ZK: {error}"))?;
    let target = Target::find(conf, Some(&info.nameservice_id), &info.namenode_id);
    let target = target.map_err(|error| error.to_string())?;
    let is_same = i32::from(target.port()) == info.port && target.host() == &*info.hostname;
    match is_same || target.is_at(&info.hostname, info.port) {
        true => Ok(target),
        false => Err(format!(
            "Mismatched address stored in ZK for {target}: {}:{}",
            info.hostname, info.port
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{pair, target};

    /// The bytes that Apache's controllers keep (`28 bytes` of the NameNode nn1 of ns).
    #[test]
    fn the_record_is_apaches() {
        let mut conf = pair(24020, 24021);
        conf.set("dfs.namenode.rpc-address.ns.nn1", "localhost:24020");
        let target = Target::find(&conf, None, "nn1").unwrap();
        let data = data_of(&target, 24018);
        let wanted = b"\x0a\x02ns\x12\x03nn1\x1a\x09localhost\x20\xd4\xbb\x01\x28\xd2\xbb\x01";
        assert_eq!(data, wanted);
        assert_eq!(target_of(&conf, &data).unwrap().address(), "localhost:24020");
        conf.set("dfs.namenode.rpc-address.ns.nn1", "localhost:1");
        let error = target_of(&conf, &data).unwrap_err();
        assert!(error.starts_with("Mismatched address stored in ZK"), "{error}");
        assert!(target_of(&conf, b"\xff").unwrap_err().starts_with("Invalid data"));
    }

    /// While an old active was fenced, the looks at a NameNode queued; those that still saw a standby took the lock from it again.
    #[tokio::test]
    async fn what_was_seen_before_a_change_says_nothing() {
        let mut decisions = decisions();
        let standby =
            |at| Observation { health: Health::Healthy, state: Some(ServiceState::Standby), at };
        let before = clock::runtime_now();
        decisions.set_role(ServiceState::Active);
        for _ in 0..3 {
            decisions.observe(standby(before)).await;
        }
        assert_eq!(decisions.view.borrow().role, ServiceState::Active);
        for _ in 0..2 {
            decisions.observe(standby(clock::runtime_now() + Duration::from_millis(1))).await;
        }
        assert_eq!(decisions.view.borrow().role, ServiceState::Initializing);
    }

    fn decisions() -> Decisions {
        let mut conf = pair(1, 2);
        conf.set("ha.zookeeper.quorum", "127.0.0.1:1");
        let zookeeper = ZooKeeperOptions::from_conf(&conf, "ns").unwrap();
        let data = data_of(&target("nn1"), 3).into();
        Decisions::new(Arc::new(conf), target("nn1"), Arc::new(zookeeper), data)
    }

    /// An observer competed at the start of its controller and after each time it had not answered: the lock made it standby, or
    /// it was to become active, which an observer refuses.
    #[tokio::test]
    async fn an_observer_takes_no_part_in_the_election_until_it_is_a_standby() {
        let mut decisions = decisions();
        let mut at = clock::runtime_now();
        let mut seen = |health, state| {
            at += Duration::from_secs(1);
            Observation { health, state, at }
        };
        for health in [Health::Healthy, Health::NotResponding, Health::Healthy, Health::Unhealthy] {
            let is_answered = health != Health::NotResponding;
            let observation = seen(health, is_answered.then_some(ServiceState::Observer));
            decisions.observe(observation).await;
            assert!(decisions.candidate.is_none(), "{health:?}");
            assert_eq!(decisions.view.borrow().role, ServiceState::Observer, "{health:?}");
        }
        decisions.observe(seen(Health::Healthy, Some(ServiceState::Observer))).await;
        // A failover between the two others asks all controllers to give up.
        let (done, asked) = oneshot::channel();
        decisions.cede(Cede { duration: Duration::from_secs(9), done }).await;
        asked.await.unwrap();
        assert_eq!(decisions.view.borrow().role, ServiceState::Observer);
        decisions.observe(seen(Health::Healthy, Some(ServiceState::Standby))).await;
        assert!(decisions.candidate.is_some(), "a standby competes");
        // As when another one has the lock.
        decisions.set_role(ServiceState::Standby);
        decisions.observe(seen(Health::Healthy, Some(ServiceState::Observer))).await;
        assert!(decisions.candidate.is_none());
        assert_eq!(decisions.view.borrow().role, ServiceState::Observer);
    }

    #[test]
    fn another_name_of_the_same_machine_is_the_same_namenode() {
        let mut conf = pair(1, 2);
        conf.set("dfs.namenode.rpc-address.ns.nn1", "localhost:1");
        assert!(target_of(&conf, &data_of(&target("nn1"), 3)).is_ok());
    }
}
