//! Whether a NameNode is well (`HealthMonitor`).

use crate::manual::is_unhealthy;
use crate::service::{Service, ServiceState, ServiceStatus};
use crate::target::Target;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::Instant;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_system::clock;
use zerohop_transport::rpc::RpcError;

/// What is known of a NameNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// Nothing yet.
    Initializing,
    /// It says that it is well.
    Healthy,
    /// It says that it is not.
    Unhealthy,
    /// It says nothing.
    NotResponding,
}

/// One look at a NameNode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) health: Health,
    /// What it says it is.
    pub(crate) state: Option<ServiceState>,
    /// When it was asked: what it says may be older than what became of it meanwhile.
    pub(crate) at: Instant,
}

/// Asks one NameNode again and again.
pub(crate) struct HealthMonitor {
    address: String,
    service: Service,
    interval: Duration,
    after_failure: Duration,
}

impl HealthMonitor {
    /// # Errors
    /// If a time cannot be read.
    pub(crate) fn new(conf: &Conf, target: &Target) -> Result<Self, ConfError> {
        let timeout = conf.get(&keys::HA_HEALTH_MONITOR_RPC_TIMEOUT)?;
        let retries = conf.get(&keys::HA_HEALTH_MONITOR_RPC_CONNECT_MAX_RETRIES)?;
        let address = target.health_address();
        let retries = u32::try_from(retries).unwrap_or(0);
        let service = Service::new(target.conf(), &address, timeout, retries)?;
        let interval = conf.get(&keys::HA_HEALTH_MONITOR_CHECK_INTERVAL)?;
        let after_failure = conf
            .get(&keys::HA_HEALTH_MONITOR_CONNECT_RETRY_INTERVAL)?
            .max(conf.get(&keys::HA_HEALTH_MONITOR_SLEEP_AFTER_DISCONNECT)?);
        Ok(Self { address, service, interval, after_failure })
    }

    /// Reports each look until the receiver is dropped.
    pub(crate) async fn run(self, observations: mpsc::Sender<Observation>) {
        // Where the server ended the last connection and was well, it does not keep silent ones.
        let mut keeps_silent_ones = true;
        loop {
            let observation = self.look().await;
            if observations.send(observation).await.is_err() {
                return;
            }
            if observation.health == Health::NotResponding {
                clock::sleep(self.after_failure).await;
                continue;
            }
            keeps_silent_ones = tokio::select! {
                () = clock::sleep(self.interval) => true,
                () = self.until_gone(), if keeps_silent_ones => false,
            };
        }
    }

    async fn look(&self) -> Observation {
        let at = clock::runtime_now();
        match self.ask().await {
            Ok(status) => Observation { health: Health::Healthy, state: Some(status.state), at },
            Err(error) if is_unhealthy(&error) => {
                tracing::warn!("the NameNode at {} is not well: {error}", self.address);
                Observation { health: Health::Unhealthy, state: None, at }
            }
            Err(error) => {
                tracing::warn!("the NameNode at {} does not respond: {error}", self.address);
                Observation { health: Health::NotResponding, state: None, at }
            }
        }
    }

    async fn ask(&self) -> Result<ServiceStatus, RpcError> {
        let status = self.service.status().await?;
        self.service.monitor_health().await?;
        Ok(status)
    }

    /// Ready when the NameNode's process ends: then the system closes its connections. A server that closes a connection
    /// because nothing is said on it is not gone, so this only says that it should be asked.
    async fn until_gone(&self) {
        let Ok(mut connection) = TcpStream::connect(&self.address).await else { return };
        let _ = connection.read_u8().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{FakeNameNode, pair};

    async fn next(observations: &mut mpsc::Receiver<Observation>) -> Observation {
        let next = tokio::time::timeout(Duration::from_secs(60), observations.recv());
        next.await.unwrap().unwrap()
    }

    #[tokio::test]
    async fn it_sees_what_the_namenode_says_and_that_it_is_gone() {
        let namenode = FakeNameNode::start().await;
        let mut conf = pair(namenode.port(), 1);
        // Only what is noticed without waiting for the next question ends this test in time.
        conf.set("ha.health-monitor.check-interval.ms", "20");
        conf.set("ha.health-monitor.sleep-after-disconnect.ms", "20");
        conf.set("ha.health-monitor.connect-retry-interval.ms", "20");
        let target = Target::find(&conf, None, "nn1").unwrap();
        let (sender, mut observations) = mpsc::channel(1);
        tokio::spawn(HealthMonitor::new(&conf, &target).unwrap().run(sender));
        let seen = |one: Observation| (one.health, one.state);
        let well = (Health::Healthy, Some(ServiceState::Standby));
        assert_eq!(seen(next(&mut observations).await), well);
        namenode.be_well(false);
        while next(&mut observations).await.health != Health::Unhealthy {}
        namenode.be_well(true);
        namenode.become_active();
        let active = (Health::Healthy, Some(ServiceState::Active));
        while seen(next(&mut observations).await) != active {}
        drop(namenode);
        while next(&mut observations).await.health != Health::NotResponding {}
    }

    #[tokio::test]
    async fn a_process_that_ends_is_noticed_before_the_next_question() {
        let namenode = FakeNameNode::start().await;
        let mut conf = pair(namenode.port(), 1);
        conf.set("ha.health-monitor.check-interval.ms", "3600000");
        let target = Target::find(&conf, None, "nn1").unwrap();
        let (sender, mut observations) = mpsc::channel(1);
        tokio::spawn(HealthMonitor::new(&conf, &target).unwrap().run(sender));
        assert_eq!(next(&mut observations).await.health, Health::Healthy);
        drop(namenode);
        while next(&mut observations).await.health != Health::NotResponding {}
    }
}
