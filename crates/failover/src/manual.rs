//! Failover by hand, where no controllers run (`FailoverController`).

use crate::fencing::Fencer;
use crate::service::{RequestSource, Service, ServiceState};
use crate::target::Target;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_transport::rpc::RpcError;
use zerohop_wire::JavaException;

/// What an administrator insists on.
#[derive(Clone, Copy, Debug, Default)]
pub struct FailoverOptions {
    /// Fences the old active even if it became standby when it was asked.
    pub force_fence: bool,
    /// Makes the new one active even if it says that it is not ready.
    pub force_active: bool,
}

/// Why a failover did not come about.
#[derive(Debug, thiserror::Error)]
pub enum FailoverError {
    /// The configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// Fencing is not configured, or not rightly.
    #[error("{0}")]
    Fencing(String),
    /// Nothing was changed, or the old active is active again, or not even that: the text says which.
    #[error("{0}")]
    Failed(String),
}

fn failed(text: impl Into<String>) -> FailoverError {
    FailoverError::Failed(text.into())
}

/// Makes `from` standby, by fencing if it does not answer, and `to` active; `from` becomes active again if that fails.
///
/// # Errors
/// [`FailoverError`]
pub async fn fail_over(
    conf: &Conf,
    from: &Target,
    to: &Target,
    options: FailoverOptions,
    source: RequestSource,
) -> Result<(), FailoverError> {
    let fencer = Fencer::of(from).map_err(|error| FailoverError::Fencing(error.to_string()))?;
    let fencer = fencer.ok_or_else(|| {
        FailoverError::Fencing(format!(
            "failover requires a fencer: set {} to a method a line, as sshfence or shell(COMMAND)",
            keys::DFS_HA_FENCING_METHODS.name
        ))
    })?;
    check(conf, from, to, options.force_active).await?;
    let became_standby = make_standby(conf, from, source).await;
    let must_fence = !became_standby || options.force_fence;
    if must_fence && !fencer.fence(from, Some(to)).await {
        return Err(failed(format!("Unable to fence {from}. Fencing failed.")));
    }
    let Err(error) = new_active(conf, to)?.to_active(source).await else { return Ok(()) };
    tracing::error!("{to} did not become active: {error}");
    let mut text = format!("Unable to failover to {to}");
    if !must_fence {
        // The other way round nothing is asked: one of them must be active.
        let insists = FailoverOptions { force_fence: true, force_active: true };
        if let Err(error) = Box::pin(fail_over(conf, to, from, insists, source)).await {
            text.push_str(&format!(". Failback to {from} failed ({error})"));
        }
    }
    Err(failed(format!("{text}: {error}")))
}

async fn check(
    conf: &Conf,
    from: &Target,
    to: &Target,
    force_active: bool,
) -> Result<(), FailoverError> {
    if from.address() == to.address() {
        return Err(failed("Can't failover a service to itself"));
    }
    let service = new_active(conf, to)?;
    let status = service.status().await;
    let status =
        status.map_err(|error| failed(format!("Unable to get service state for {to}: {error}")))?;
    if status.state != ServiceState::Standby {
        return Err(failed(format!("Can't failover to an {} service", status.state)));
    }
    if let Some(reason) = status.not_ready {
        if !force_active {
            return Err(failed(format!("{to} is not ready to become active: {reason}")));
        }
        tracing::warn!("{to} is not ready to become active ({reason}), and is made so");
    }
    service.monitor_health().await.map_err(|error| match is_unhealthy(&error) {
        true => failed(format!("Can't failover to an unhealthy service: {error}")),
        false => failed(format!("Got an IO exception: {error}")),
    })
}

fn new_active(conf: &Conf, target: &Target) -> Result<Service, ConfError> {
    target.service(conf.get(&keys::HA_NEW_ACTIVE_RPC_TIMEOUT)?)
}

/// Whether a NameNode became standby when it was asked. If not, it may still write, and must be fenced.
pub(crate) async fn make_standby(conf: &Conf, target: &Target, source: RequestSource) -> bool {
    let service = || -> Result<Service, ConfError> {
        let timeout: Duration = conf.get(&keys::HA_GRACEFUL_FENCE_RPC_TIMEOUT)?;
        let retries = conf.get(&keys::HA_GRACEFUL_FENCE_CONNECTION_RETRIES)?;
        let retries = u32::try_from(retries).unwrap_or(0);
        Service::new(target.conf(), &target.address(), timeout, retries)
    };
    let outcome = match service() {
        Ok(service) => service.to_standby(source).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match outcome {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!("{target} did not become standby when it was asked: {error}");
            false
        }
    }
}

/// Whether the NameNode answered that it is not well.
pub(crate) fn is_unhealthy(error: &RpcError) -> bool {
    error.remote_kind() == Some(JavaException::HealthCheckFailed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::FakeNameNode;

    async fn pair(fencing: &str) -> (Conf, FakeNameNode, FakeNameNode, Target, Target) {
        let (one, two) = (FakeNameNode::start().await, FakeNameNode::start().await);
        let mut conf = crate::fixture::pair(one.port(), two.port());
        conf.set("dfs.ha.fencing.methods", fencing);
        let (from, to) =
            (Target::find(&conf, None, "nn1").unwrap(), Target::find(&conf, None, "nn2").unwrap());
        one.become_active();
        (conf, one, two, from, to)
    }

    const USER: RequestSource = RequestSource::User;

    #[tokio::test]
    async fn the_active_state_moves() {
        let (conf, one, two, from, to) = pair("shell(false)").await;
        fail_over(&conf, &from, &to, FailoverOptions::default(), USER).await.unwrap();
        assert_eq!((one.state(), two.state()), (ServiceState::Standby, ServiceState::Active));
        let error = fail_over(&conf, &from, &to, FailoverOptions::default(), USER).await;
        assert_eq!(error.unwrap_err().to_string(), "Can't failover to an active service");
        let error = fail_over(&conf, &to, &to, FailoverOptions::default(), USER).await;
        assert_eq!(error.unwrap_err().to_string(), "Can't failover a service to itself");
    }

    #[tokio::test]
    async fn what_does_not_answer_is_fenced_before_the_other_is_active() {
        let (conf, one, two, from, to) = pair("shell(true)").await;
        drop(one);
        fail_over(&conf, &from, &to, FailoverOptions::default(), USER).await.unwrap();
        assert_eq!(two.state(), ServiceState::Active);
        let (conf, one, two, from, to) = pair("shell(false)").await;
        drop(one);
        let error = fail_over(&conf, &from, &to, FailoverOptions::default(), USER).await;
        assert!(error.unwrap_err().to_string().ends_with("Fencing failed."));
        assert_eq!(two.state(), ServiceState::Standby);
    }

    #[tokio::test]
    async fn one_that_is_not_ready_becomes_active_only_if_somebody_insists() {
        let (conf, one, two, from, to) = pair("shell(true)").await;
        two.say_not_ready("in safe mode");
        let error = fail_over(&conf, &from, &to, FailoverOptions::default(), USER).await;
        assert!(
            error.unwrap_err().to_string().ends_with("not ready to become active: in safe mode")
        );
        assert_eq!(one.state(), ServiceState::Active);
        let insists = FailoverOptions { force_active: true, ..FailoverOptions::default() };
        fail_over(&conf, &from, &to, insists, USER).await.unwrap();
        assert_eq!(two.state(), ServiceState::Active);
    }

    #[tokio::test]
    async fn the_old_one_is_active_again_if_the_new_one_fails() {
        let (conf, one, two, from, to) = pair("shell(true)").await;
        two.refuse_to_become_active();
        let error = fail_over(&conf, &from, &to, FailoverOptions::default(), USER).await;
        assert!(error.unwrap_err().to_string().starts_with("Unable to failover to"));
        assert_eq!((one.state(), two.state()), (ServiceState::Active, ServiceState::Standby));
    }

    #[tokio::test]
    async fn without_a_fencing_method_nothing_is_done() {
        let (mut conf, one, _two, _, to) = pair("").await;
        conf.unset("dfs.ha.fencing.methods");
        let from = Target::find(&conf, None, "nn1").unwrap();
        let error = fail_over(&conf, &from, &to, FailoverOptions::default(), USER).await;
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("failover requires a fencer: set dfs.ha.fencing.methods"),
            "{error}"
        );
        assert_eq!(one.state(), ServiceState::Active);
    }
}
