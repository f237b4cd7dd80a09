//! Administration: safe mode, images, edits, upgrades, and the server's defaults.

use crate::convert;
use crate::ha::OperationCategory;
use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use crate::service::{RollingUpgradeAction, SafeModeAction};
use zerohop_proto::hdfs::{
    FinalizeUpgradeRequestProto, FinalizeUpgradeResponseProto, GetCurrentEditLogTxidRequestProto,
    GetCurrentEditLogTxidResponseProto, GetServerDefaultsRequestProto,
    GetServerDefaultsResponseProto, HaServiceStateRequestProto, HaServiceStateResponseProto,
    MetaSaveRequestProto, MetaSaveResponseProto, MsyncRequestProto, MsyncResponseProto,
    RefreshNodesRequestProto, RefreshNodesResponseProto, RestoreFailedStorageRequestProto,
    RestoreFailedStorageResponseProto, RollEditsRequestProto, RollEditsResponseProto,
    RollingUpgradeActionProto, RollingUpgradeRequestProto, RollingUpgradeResponseProto,
    SafeModeActionProto, SaveNamespaceRequestProto, SaveNamespaceResponseProto,
    SetBalancerBandwidthRequestProto, SetBalancerBandwidthResponseProto, SetSafeModeRequestProto,
    SetSafeModeResponseProto, UpgradeStatusRequestProto, UpgradeStatusResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::JavaException;

pub(super) const METHODS: &[Method] = &[
    ("getServerDefaults", server_defaults),
    ("setSafeMode", set_safe_mode),
    ("saveNamespace", save_namespace),
    ("rollEdits", roll_edits),
    ("refreshNodes", refresh_nodes),
    ("finalizeUpgrade", finalize_upgrade),
    ("upgradeStatus", upgrade_status),
    ("rollingUpgrade", rolling_upgrade),
    ("restoreFailedStorage", restore_failed_storage),
    ("setBalancerBandwidth", set_balancer_bandwidth),
    ("metaSave", metasave),
    ("getCurrentEditLogTxid", current_txid),
    ("getHAServiceState", ha_state),
    ("msync", msync),
];

fn server_defaults(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Read, |core, _, _: GetServerDefaultsRequestProto| {
        Ok(GetServerDefaultsResponseProto {
            server_defaults: core.settings.server_defaults.clone(),
        })
    })
}

fn set_safe_mode(call: Call<'_>) -> Reply {
    call.serve(|service, q: SetSafeModeRequestProto| {
        let action = match q.action() {
            SafeModeActionProto::SafemodeGet => SafeModeAction::Get,
            SafeModeActionProto::SafemodeEnter => SafeModeAction::Enter,
            SafeModeActionProto::SafemodeLeave => SafeModeAction::Leave,
            SafeModeActionProto::SafemodeForceExit => SafeModeAction::ForceExit,
        };
        service
            .administration()
            .set_safe_mode(action)
            .map(|result| SetSafeModeResponseProto { result })
    })
}

fn metasave(call: Call<'_>) -> Reply {
    call.serve(|service, q: MetaSaveRequestProto| {
        service.administration().metasave(&q.filename).map(|()| MetaSaveResponseProto {})
    })
}

fn save_namespace(call: Call<'_>) -> Reply {
    call.serve(|service, q: SaveNamespaceRequestProto| {
        service
            .administration()
            .save_namespace(q.time_window.unwrap_or(0), q.tx_gap.unwrap_or(0))
            .map(|saved| SaveNamespaceResponseProto { saved: Some(saved) })
    })
}

fn roll_edits(call: Call<'_>) -> Reply {
    call.serve(|service, _: RollEditsRequestProto| {
        service
            .administration()
            .roll_edits()
            .map(|ended| RollEditsResponseProto { new_segment_tx_id: ended.0 as u64 + 1 })
    })
}

fn refresh_nodes(call: Call<'_>) -> Reply {
    call.serve(|service, _: RefreshNodesRequestProto| {
        service.administration().refresh_nodes().map(|()| RefreshNodesResponseProto {})
    })
}

/// There is never an upgrade to finalize.
fn finalize_upgrade(call: Call<'_>) -> Reply {
    call.ask(|core, op, _: FinalizeUpgradeRequestProto| {
        core.check_superuser(op)?;
        Ok(FinalizeUpgradeResponseProto {})
    })
}

fn upgrade_status(call: Call<'_>) -> Reply {
    call.ask(|_, _, _: UpgradeStatusRequestProto| {
        Ok(UpgradeStatusResponseProto { upgrade_finalized: true })
    })
}

fn rolling_upgrade(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    call.serve(|service, q: RollingUpgradeRequestProto| {
        let action = match q.action() {
            RollingUpgradeActionProto::Query => RollingUpgradeAction::Query,
            RollingUpgradeActionProto::Start => RollingUpgradeAction::Prepare,
            RollingUpgradeActionProto::Finalize => RollingUpgradeAction::Finalize,
        };
        service.administration().rolling_upgrade(action).map(move |report| {
            RollingUpgradeResponseProto {
                rolling_upgrade_info: report
                    .and_then(|report| convert::rolling_upgrade(report, &pool)),
            }
        })
    })
}

fn restore_failed_storage(call: Call<'_>) -> Reply {
    call.ask(|core, op, q: RestoreFailedStorageRequestProto| {
        core.check_superuser(op)?;
        match q.arg.as_str() {
            "check" => Ok(RestoreFailedStorageResponseProto { result: false }),
            _ => Err(JavaException::UnsupportedOperation
                .with("restoreFailedStorage is not supported by this NameNode")),
        }
    })
}

fn set_balancer_bandwidth(call: Call<'_>) -> Reply {
    call.serve(|service, q: SetBalancerBandwidthRequestProto| {
        service
            .administration()
            .set_balancer_bandwidth(q.bandwidth)
            .map(|()| SetBalancerBandwidthResponseProto {})
    })
}

fn current_txid(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Read, |core, op, _: GetCurrentEditLogTxidRequestProto| {
        core.check_superuser(op)?;
        Ok(GetCurrentEditLogTxidResponseProto { txid: core.last_txid().0 })
    })
}

fn ha_state(call: Call<'_>) -> Reply {
    call.ask(|core, _, _: HaServiceStateRequestProto| {
        Ok(HaServiceStateResponseProto { state: core.ha.state().service_state().into() })
    })
}

/// The active NameNode is always up to date.
fn msync(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Write, |_, _, _: MsyncRequestProto| Ok(MsyncResponseProto {}))
}
