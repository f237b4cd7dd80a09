//! HAServiceProtocol, as those who manage NameNodes speak it.

use std::fmt;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError};
use zerohop_proto::common::{
    GetServiceStatusRequestProto, GetServiceStatusResponseProto, HaRequestSource,
    HaServiceStateProto, HaStateChangeRequestInfoProto, MonitorHealthRequestProto,
    MonitorHealthResponseProto, TransitionToActiveRequestProto, TransitionToActiveResponseProto,
    TransitionToObserverRequestProto, TransitionToObserverResponseProto,
    TransitionToStandbyRequestProto, TransitionToStandbyResponseProto,
};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};

const PROTOCOL: &str = "org.apache.hadoop.ha.HAServiceProtocol";
const VERSION: u64 = 1;

/// Longest wait between two attempts to connect.
const RECONNECT_AFTER: Duration = Duration::from_millis(100);

/// What a NameNode is among those of its name service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceState {
    /// It has just started, or does not say.
    Initializing,
    /// It serves clients.
    Active,
    /// It follows the active one.
    Standby,
    /// It follows the active one and serves reads.
    Observer,
}

impl fmt::Display for ServiceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Initializing => "initializing",
            Self::Active => "active",
            Self::Standby => "standby",
            Self::Observer => "observer",
        })
    }
}

impl From<HaServiceStateProto> for ServiceState {
    fn from(state: HaServiceStateProto) -> Self {
        match state {
            HaServiceStateProto::Initializing => Self::Initializing,
            HaServiceStateProto::Active => Self::Active,
            HaServiceStateProto::Standby => Self::Standby,
            HaServiceStateProto::Observer => Self::Observer,
        }
    }
}

/// State and readiness of a NameNode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceStatus {
    /// What it is.
    pub state: ServiceState,
    /// Why it cannot become active, if it cannot.
    pub not_ready: Option<String>,
}

/// Who wants a NameNode to change its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestSource {
    /// An administrator; refused where failover is automatic.
    User,
    /// An administrator who insists.
    UserForced,
    /// A failover controller.
    Controller,
}

impl RequestSource {
    fn info(self) -> HaStateChangeRequestInfoProto {
        let source = match self {
            Self::User => HaRequestSource::RequestByUser,
            Self::UserForced => HaRequestSource::RequestByUserForced,
            Self::Controller => HaRequestSource::RequestByZkfc,
        };
        HaStateChangeRequestInfoProto { req_source: source.into() }
    }
}

/// A client of one NameNode's HAServiceProtocol.
#[derive(Clone)]
pub struct Service(RpcClient);

impl Service {
    /// A client of the NameNode at `address`. A call may take as long as `timeout`, or for ever if that is zero; a connection
    /// is tried again as often as `retries` says.
    ///
    /// # Errors
    /// If the configuration asks for a protection that clients do not have.
    pub fn new(
        conf: &Conf,
        address: &str,
        timeout: Duration,
        retries: u32,
    ) -> Result<Self, ConfError> {
        let options = options(conf, timeout, retries)?;
        Ok(Self(RpcClient::new(address, PROTOCOL, VERSION, &User::of_process(), options)))
    }

    /// State and readiness.
    ///
    /// # Errors
    /// If the NameNode does not answer.
    pub async fn status(&self) -> Result<ServiceStatus, RpcError> {
        let answer: GetServiceStatusResponseProto =
            self.0.call("getServiceStatus", &GetServiceStatusRequestProto {}).await?;
        let state = answer.state();
        // A standby that says nothing is taken for one that is not ready, as PBHelper does.
        let is_ready = answer.ready_to_become_active.unwrap_or(false);
        let reason = answer.not_ready_reason.unwrap_or_default();
        let is_standby = matches!(state, HaServiceStateProto::Standby);
        Ok(ServiceStatus {
            state: state.into(),
            not_ready: (is_standby && !is_ready).then_some(reason),
        })
    }

    /// Whether it is well.
    ///
    /// # Errors
    /// HealthCheckFailedException if it is not.
    pub async fn monitor_health(&self) -> Result<(), RpcError> {
        let _: MonitorHealthResponseProto =
            self.0.call("monitorHealth", &MonitorHealthRequestProto {}).await?;
        Ok(())
    }

    /// Makes it active.
    ///
    /// # Errors
    /// ServiceFailedException if it cannot be.
    pub async fn to_active(&self, source: RequestSource) -> Result<(), RpcError> {
        let request = TransitionToActiveRequestProto { req_info: source.info() };
        let _: TransitionToActiveResponseProto =
            self.0.call("transitionToActive", &request).await?;
        Ok(())
    }

    /// Makes it standby.
    ///
    /// # Errors
    /// ServiceFailedException if it cannot be.
    pub async fn to_standby(&self, source: RequestSource) -> Result<(), RpcError> {
        let request = TransitionToStandbyRequestProto { req_info: source.info() };
        let _: TransitionToStandbyResponseProto =
            self.0.call("transitionToStandby", &request).await?;
        Ok(())
    }

    /// Makes it an observer.
    ///
    /// # Errors
    /// ServiceFailedException if it cannot be.
    pub async fn to_observer(&self, source: RequestSource) -> Result<(), RpcError> {
        let request = TransitionToObserverRequestProto { req_info: source.info() };
        let _: TransitionToObserverResponseProto =
            self.0.call("transitionToObserver", &request).await?;
        Ok(())
    }
}

/// Connections are given up after the call's own limit: a machine that is gone must not hold a failover up.
pub(crate) fn options(
    conf: &Conf,
    timeout: Duration,
    retries: u32,
) -> Result<ClientOptions, ConfError> {
    let mut options = ClientOptions::from_conf(conf)?;
    options.rpc_timeout = timeout;
    options.connect_retries = retries;
    options.connect_retries_on_timeouts = retries;
    options.connect_retry_interval = options.connect_retry_interval.min(RECONNECT_AFTER);
    if !timeout.is_zero()
        && (options.connect_timeout.is_zero() || options.connect_timeout > timeout)
    {
        options.connect_timeout = timeout;
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_not_tried_for_longer_than_the_call_may_take() {
        let options = options(&Conf::new(), Duration::from_secs(5), 1).unwrap();
        assert_eq!(options.connect_timeout, Duration::from_secs(5));
        assert_eq!((options.connect_retries, options.connect_retries_on_timeouts), (1, 1));
    }
}
