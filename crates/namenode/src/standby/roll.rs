//! The active NameNode ends its segment now and then at a standby's request: what is finalized can be read.

use crate::core::Core;
use crate::other_namenode::NameNodeLink;
use std::convert::Infallible;
use std::sync::Arc;
use zerohop_system::clock;
use zerohop_wire::TxId;

/// Runs until it is aborted; never ends by itself.
pub(super) async fn run(core: Arc<Core>) -> Infallible {
    let Some(period) = core.following.roll_period else { return std::future::pending().await };
    let links = core.service.others.iter().map(|other| NameNodeLink::new(other, &core.conf));
    let links = match links.collect::<Result<Vec<_>, _>>() {
        Ok(links) => links,
        Err(error) => {
            tracing::error!("the active NameNode is not asked to roll its edit log: {error}");
            return std::future::pending().await;
        }
    };
    let mut rolled_at = TxId(-1);
    loop {
        // Many NameNodes in one process must not ask without a pause where the period is 0.
        clock::sleep(period.max(std::time::Duration::from_millis(100))).await;
        let applied = core.served.applied();
        // Where nothing came since the last time, there is nothing to finalize.
        if applied <= rolled_at {
            continue;
        }
        let asked = tokio::time::timeout(core.following.roll_timeout, ask(&core, &links)).await;
        match asked {
            Ok(true) => rolled_at = applied,
            Ok(false) => tracing::warn!("Unable to trigger a roll of the active NameNode"),
            Err(_) => tracing::warn!(
                "Unable to finish rolling edits in {} ms",
                core.following.roll_timeout.as_millis()
            ),
        }
    }
}

/// Asks one after the other, until one has done it.
async fn ask(core: &Core, links: &[NameNodeLink]) -> bool {
    for _ in 0..core.following.roll_rounds {
        for link in links {
            match link.roll_edit_log().await {
                Ok(()) => return true,
                Err(error) => tracing::debug!("rollEditLog: {error}"),
            }
        }
    }
    false
}
