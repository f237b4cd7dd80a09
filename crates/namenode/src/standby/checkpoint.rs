//! Images that a standby makes for all NameNodes of its name service (`StandbyCheckpointer`).

use crate::call_error::CallError;
use crate::checkpoint::{ImageKind, in_background, ticks};
use crate::core::Core;
use crate::image_client::{TransferError, TransferOptions};
use crate::name_service::OtherNameNode;
use crate::storage;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_conf::keys;
use zerohop_system::clock;
use zerohop_wire::TxId;

/// Between two tries to save the image that a rolling upgrade can be rolled back to.
const AGAIN_MIN: Duration = Duration::from_millis(100);
const AGAIN_MAX: Duration = Duration::from_secs(5);

/// Another NameNode, and what became of the images that were sent to it.
#[derive(Clone, Debug)]
struct Receiver {
    namenode: OtherNameNode,
    /// It took the last one: it expects the next one from here.
    is_primary: bool,
    taken_at: Option<Instant>,
}

impl Receiver {
    /// Whether an image shall be sent to it: one that refused the last one gets none for a while.
    fn is_ready(&self, quiet: Duration) -> bool {
        self.is_primary || self.taken_at.is_none_or(|at| clock::since(at) >= quiet)
    }
}

/// Runs until it is aborted; never ends by itself.
pub(super) async fn run(core: Arc<Core>) -> Infallible {
    let multiplier = core.conf.get(&keys::DFS_NAMENODE_CHECKPOINT_CHECK_QUIET_MULTIPLIER);
    let (options, multiplier) = match (TransferOptions::from_conf(&core.conf), multiplier) {
        (Ok(options), Ok(multiplier)) => (options, multiplier),
        (Err(error), _) | (_, Err(error)) => {
            tracing::error!("this standby makes no checkpoints: {error}");
            return std::future::pending().await;
        }
    };
    let schedule = core.checkpoints.schedule;
    let quiet = schedule.quiet_after_refusal(multiplier);
    let receiver = |namenode: &OtherNameNode| Receiver {
        namenode: namenode.clone(),
        is_primary: true,
        taken_at: None,
    };
    let mut receivers: Vec<Receiver> = core.service.others.iter().map(receiver).collect();
    let mut ticks = ticks(schedule.check_interval);
    let mut last = clock::now();
    loop {
        // The begin of a rolling upgrade does not wait for the next look; its segment may not be finished yet.
        let again = core.following.period.clamp(AGAIN_MIN, AGAIN_MAX);
        tokio::select! {
            _ = ticks.tick() => {}
            () = clock::sleep(again), if core.needs_rollback_image() => {}
            () = core.served.advanced() => {
                if !core.needs_rollback_image() {
                    continue;
                }
            }
        }
        let edits = core.served.applied().0 - core.checkpoints.last_txid();
        let age_ms = clock::since(last).as_millis() as u64;
        let is_due = schedule.is_due(edits, age_ms) || core.needs_rollback_image();
        if edits <= 0 || !is_due {
            continue;
        }
        tracing::info!(
            "Triggering checkpoint: {edits} transactions, {age_ms} ms since the last one"
        );
        let targets = receivers.clone();
        let made = in_background(core.clone(), move |core| make(core, targets, options, quiet));
        match made.await {
            Ok(Some(after)) => receivers = after,
            Ok(None) => continue,
            Err(error) => tracing::error!("Exception in doCheckpoint: {error}"),
        }
        last = clock::now();
    }
}

/// Saves an image, and sends it to those that are ready; the receivers as they are then. None if there was nothing to save.
fn make(
    core: &Core,
    mut receivers: Vec<Receiver>,
    options: TransferOptions,
    quiet: Duration,
) -> Result<Option<Vec<Receiver>>, CallError> {
    let begun = clock::now();
    let Some((kind, txid)) = core.save_from_finished_segments()? else { return Ok(None) };
    tracing::info!(
        "Saved an image of transaction {txid} in {} ms",
        clock::since(begun).as_millis()
    );
    for receiver in receivers.iter_mut().filter(|receiver| receiver.is_ready(quiet)) {
        match send(core, receiver, kind, txid, options) {
            Ok(()) => (receiver.is_primary, receiver.taken_at) = (true, Some(clock::now())),
            // It is a standby, or has an image that is as good.
            Err(TransferError::Refused { url, status }) => {
                tracing::info!(
                    "Image upload rejected by the other NameNode: {url}, status {status}"
                );
                receiver.is_primary = false;
                receiver.taken_at.get_or_insert_with(clock::now);
            }
            Err(error) => tracing::error!("the image was not sent: {error}"),
        }
    }
    Ok(Some(receivers))
}

fn send(
    core: &Core,
    receiver: &Receiver,
    kind: ImageKind,
    txid: TxId,
    options: TransferOptions,
) -> Result<(), TransferError> {
    let kind = match kind {
        ImageKind::Checkpoint => storage::ImageKind::Image,
        ImageKind::Rollback => storage::ImageKind::Rollback,
    };
    let (http, begun) = (&receiver.namenode.http, clock::now());
    let failed =
        |reason: &str| TransferError::Failed { url: http.clone(), reason: reason.to_owned() };
    let path = core.storage.transfers().image_file_of(kind, txid.0);
    let path = path.ok_or_else(|| failed("the image that was just saved is gone"))?;
    options.send(http, (kind, txid.0), &path, &core.storage)?;
    tracing::info!(
        "Uploaded image with txid {txid} to namenode at {http} in {} ms",
        clock::since(begun).as_millis()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_refused_an_image_gets_none_for_a_while() {
        let namenode = OtherNameNode { id: "b".into(), rpc: "b:1".into(), http: "b:2".into() };
        let receiver = Receiver { namenode, is_primary: true, taken_at: None };
        let hour = Duration::from_secs(3600);
        assert!(receiver.is_ready(hour));
        let refused = Receiver { is_primary: false, taken_at: Some(clock::now()), ..receiver };
        assert!(!refused.is_ready(hour) && refused.is_ready(Duration::ZERO));
    }
}
