//! Heartbeats: figures in, commands out.

use super::check::check_registration;
use super::command;
use crate::convert;
use crate::message::{decode, encode};
use crate::rpc::answer::{Call, Outcome};
use zerohop_namespace::blocks::{Heartbeat, StorageReport};
use zerohop_proto::hdfs::datanode::{HeartbeatRequestProto, HeartbeatResponseProto};
use zerohop_transport::rpc::server::Reply;

pub(super) fn heartbeat(call: Call<'_>) -> Reply {
    let core = call.core;
    let beat = || -> Outcome<HeartbeatResponseProto> {
        let request: HeartbeatRequestProto = decode(call.param.clone())?;
        check_registration(core, &request.registration)?;
        let beat = Heartbeat {
            transfers_running: request.xmits_in_progress.unwrap_or(0),
            xceivers: request.xceiver_count.unwrap_or(0),
            failed_volumes: request.failed_volumes.unwrap_or(0),
            cache_capacity: request.cache_capacity.unwrap_or(0),
            cache_used: request.cache_used.unwrap_or(0),
            wants_report_lease: request.request_full_block_report_lease.unwrap_or(false),
        };
        let storages: Vec<StorageReport> =
            request.reports.into_iter().map(convert::storage_report).collect();
        let uuid = &request.registration.datanode_id.datanode_uuid;
        let now = core.clock.now();
        let (reply, _) =
            core.write(|namespace| namespace.blocks.heartbeat(uuid, beat, &storages, now));
        Ok(HeartbeatResponseProto {
            cmds: reply
                .commands
                .into_iter()
                .map(|command| command::proto(command, &core.identity.pool))
                .collect(),
            ha_status: core.identity.ha_status(core.log.last_txid().0 as u64),
            rolling_upgrade_status: None,
            rolling_upgrade_status_v2: None,
            full_block_report_lease_id: Some(reply.report_lease),
            is_slownode: Some(false),
        })
    };
    Reply::Now(beat().map(|response| encode(&response)))
}
