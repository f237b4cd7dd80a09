//! The stacks of a NameNode that is not well, in the log.

use crate::controller::View;
use crate::health::Health;
use crate::target::Target;
use std::time::Duration;
use tokio::sync::watch;
use zerohop_conf::keys;

/// Logs the stacks each time the NameNode is found not to be well. The failover does not wait for that.
pub(crate) async fn log_when_not_well(target: Target, mut view: watch::Receiver<View>) {
    let (Ok(timeout), Ok(address)) = (
        target.conf().get(&keys::DFS_HA_ZKFC_NN_HTTP_TIMEOUT),
        target.conf().get(&keys::DFS_NAMENODE_HTTP_ADDRESS),
    ) else {
        return;
    };
    if timeout.is_zero() {
        return;
    }
    let host = target.host();
    let address = match address.strip_prefix("0.0.0.0:") {
        Some(port) => format!("{host}:{port}"),
        None => address,
    };
    let is_ill = |view: &View| matches!(view.health, Health::Unhealthy | Health::NotResponding);
    loop {
        if view.wait_for(is_ill).await.is_err() {
            return;
        }
        let url = format!("http://{address}/stacks");
        let fetched = tokio::task::spawn_blocking(move || fetch(&url, timeout)).await;
        match fetched {
            Ok(Ok(text)) => tracing::info!("the stacks of {target}:\n{text}"),
            Ok(Err(error)) => tracing::warn!("the stacks of {target} cannot be fetched: {error}"),
            Err(_) => return,
        }
        if view.wait_for(|view| !is_ill(view)).await.is_err() {
            return;
        }
    }
}

fn fetch(url: &str, timeout: Duration) -> Result<String, ureq::Error> {
    let agent: ureq::Agent =
        ureq::Agent::config_builder().timeout_global(Some(timeout)).build().into();
    agent.get(url).call()?.body_mut().read_to_string()
}
