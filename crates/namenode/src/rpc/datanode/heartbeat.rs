//! Heartbeats: figures in, commands out.

use super::check::{check_sender, may_be_decoded};
use super::command;
use crate::convert;
use crate::identity::ha_status;
use crate::rpc::answer::{Call, RpcResult};
use crate::service::Answer;
use crate::storage::PendingSync;
use zerohop_namespace::blocks::{Command, Heartbeat, StorageReport, VolumeFailures};
use zerohop_proto::hdfs::datanode::{HeartbeatRequestProto, HeartbeatResponseProto};
use zerohop_transport::rpc::server::Reply;

/// The beat is noted at once; an answer that tells to delete or to recover leaves when all edits made so far are on disk:
/// a deleted file that comes back after a crash must find its replicas where they were.
pub(super) fn heartbeat(call: Call<'_>) -> Reply {
    let core = call.core;
    let beat = || -> RpcResult<(HeartbeatResponseProto, Option<PendingSync>)> {
        if !may_be_decoded(&call)? {
            let cmds = vec![command::proto(Command::Register, &core.identity.pool)];
            let ha_status = ha_status(core.ha.state(), core.claim_txid());
            return Ok((HeartbeatResponseProto { cmds, ha_status, ..Default::default() }, None));
        }
        let mut request: HeartbeatRequestProto = call.request()?;
        check_sender(core, &request.registration)?;
        let beat = figures(&mut request);
        let storages: Vec<StorageReport> =
            request.reports.into_iter().map(convert::storage_report).collect();
        let uuid = &request.registration.datanode_id.datanode_uuid;
        let now = core.clock.now();
        let notices_peers = core.adjustable().slow_reports.peers;
        let peers = request.slow_peers.iter().filter(|_| notices_peers);
        let peers: Vec<_> = peers.map(convert::slow_peer).collect();
        let disks: Vec<_> = request.slow_disks.into_iter().map(convert::slow_disk).collect();
        let ((reply, is_slow, upgrade), _) = core.write(|namespace| {
            let reply = namespace.heartbeat(uuid, beat, &storages, now);
            if !peers.is_empty() || !disks.is_empty() {
                namespace.blocks_mut().datanode_manager().report_slow(uuid, &peers, disks);
            }
            (reply, namespace.blocks().datanodes().is_slow(uuid), namespace.rolling_upgrade())
        });
        // The end of a rolling upgrade has DataNodes delete what a rollback would need.
        let is_irrevocable =
            upgrade.finalized_ms().is_some() || reply.commands.iter().any(is_irrevocable);
        let sync = is_irrevocable.then(|| core.log().barrier());
        let upgrade = convert::rolling_upgrade_status(upgrade, &core.identity.pool);
        let response = HeartbeatResponseProto {
            cmds: reply
                .commands
                .into_iter()
                .map(|command| command::proto(command, &core.identity.pool))
                .collect(),
            ha_status: ha_status(core.ha.state(), core.claim_txid()),
            // Older DataNodes read the first, and take any for one that is under way.
            rolling_upgrade_status: upgrade.clone().filter(|status| !status.finalized()),
            rolling_upgrade_status_v2: upgrade,
            full_block_report_lease_id: Some(reply.report_lease),
            is_slownode: Some(is_slow),
        };
        Ok((response, sync))
    };
    match beat() {
        Ok((response, sync)) => Answer::after(Ok(response), sync).into(),
        Err(error) => Reply::Now(Err(error)),
    }
}

/// What a heartbeat or a lifeline says of the DataNode as a whole.
pub(super) fn figures(request: &mut HeartbeatRequestProto) -> Heartbeat {
    let failures = request.volume_failure_summary.take().unwrap_or_default();
    Heartbeat {
        transfers_running: request.xmits_in_progress.unwrap_or(0),
        xceivers: request.xceiver_count.unwrap_or(0),
        failed_volumes: request.failed_volumes.unwrap_or(0),
        volume_failures: VolumeFailures {
            directories: failures.failed_storage_locations,
            last_ms: failures.last_volume_failure_date,
            capacity_lost: failures.estimated_capacity_lost_total,
        },
        cache_capacity: request.cache_capacity.unwrap_or(0),
        cache_used: request.cache_used.unwrap_or(0),
        wants_report_lease: request.request_full_block_report_lease.unwrap_or(false),
    }
}

/// Whether a DataNode cannot take back what it is told.
fn is_irrevocable(command: &Command) -> bool {
    match command {
        Command::Invalidate(_) | Command::Recover(_) => true,
        Command::Transfer(_)
        | Command::Cache(_)
        | Command::Uncache(_)
        | Command::Register
        | Command::BalancerBandwidth(_) => false,
    }
}
