//! Administration: safe mode, images, edits, upgrades, and what the server is.

use crate::audit::Line;
use crate::checkpoint::NEEDS_SAFE_MODE;
use crate::message::{decode, encode};
use crate::rpc::answer::{Call, Outcome, synced};
use zerohop_namespace::blocks::SafeMode;
use zerohop_proto::common::HaServiceStateProto;
use zerohop_proto::hdfs::{
    FinalizeUpgradeRequestProto, FinalizeUpgradeResponseProto, GetCurrentEditLogTxidRequestProto,
    GetCurrentEditLogTxidResponseProto, GetServerDefaultsRequestProto,
    GetServerDefaultsResponseProto, HaServiceStateRequestProto, HaServiceStateResponseProto,
    MsyncRequestProto, MsyncResponseProto, RefreshNodesRequestProto, RefreshNodesResponseProto,
    RestoreFailedStorageRequestProto, RestoreFailedStorageResponseProto, RollEditsRequestProto,
    RollEditsResponseProto, RollingUpgradeActionProto, RollingUpgradeRequestProto,
    RollingUpgradeResponseProto, SafeModeActionProto, SaveNamespaceRequestProto,
    SaveNamespaceResponseProto, SetBalancerBandwidthRequestProto,
    SetBalancerBandwidthResponseProto, SetSafeModeRequestProto, SetSafeModeResponseProto,
    UpgradeStatusRequestProto, UpgradeStatusResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::JavaException;

pub(super) fn server_defaults(call: Call<'_>) -> Reply {
    call.ask(|core, _, _: GetServerDefaultsRequestProto| {
        Ok(GetServerDefaultsResponseProto {
            server_defaults: core.settings.server_defaults.clone(),
        })
    })
}

pub(super) fn set_safe_mode(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    call.write(
        |q: &SetSafeModeRequestProto| Line::of(safe_mode_command(q.action())),
        |namespace, op, q| {
            let safe_mode = namespace.blocks_mut().safe_mode_mut();
            match q.action() {
                SafeModeActionProto::SafemodeGet => {}
                SafeModeActionProto::SafemodeEnter => {
                    core.check_superuser(op)?;
                    tracing::info!("STATE* Safe mode is ON.");
                    safe_mode.enter();
                }
                SafeModeActionProto::SafemodeLeave => {
                    core.check_superuser(op)?;
                    leave(safe_mode, false);
                }
                SafeModeActionProto::SafemodeForceExit => {
                    core.check_superuser(op)?;
                    leave(safe_mode, true);
                }
            }
            Ok(SetSafeModeResponseProto { result: safe_mode.is_on() })
        },
    )
}

/// Blocks that are newer than the metadata go when safe mode ends, so that takes force. The caller sees that it is still on.
fn leave(safe_mode: &mut SafeMode, force: bool) {
    let bytes = safe_mode.bytes_in_future();
    if !safe_mode.leave(force) {
        return tracing::error!(
            "Refusing to leave safe mode without a force flag. Exiting safe mode will cause a deletion of {bytes} byte(s). \
             Please use -forceExit flag to exit safe mode forcefully if data loss is acceptable."
        );
    }
    if bytes > 0 {
        tracing::warn!(
            "Leaving safe mode due to forceExit. This will cause a data loss of {bytes} byte(s)."
        );
    }
    tracing::info!("STATE* Safe mode is OFF");
}

fn safe_mode_command(action: SafeModeActionProto) -> &'static str {
    match action {
        SafeModeActionProto::SafemodeGet => "safemode_get",
        SafeModeActionProto::SafemodeEnter => "safemode_enter",
        SafeModeActionProto::SafemodeLeave => "safemode_leave",
        SafeModeActionProto::SafemodeForceExit => "safemode_force_exit",
    }
}

/// Nothing changes in safe mode, so readers may go on while the image is written.
pub(super) fn save_namespace(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    let op = call.op_context();
    if let Err(error) = core.check_superuser(&op) {
        return Reply::exception(error);
    }
    let request = match decode::<SaveNamespaceRequestProto>(call.param) {
        Ok(request) => request,
        Err(error) => return Reply::exception(error),
    };
    if !core.read(|namespace| namespace.blocks().safe_mode().is_on()) {
        return Reply::exception(JavaException::Io.with(NEEDS_SAFE_MODE));
    }
    let (window, gap) = (request.time_window.unwrap_or(0), request.tx_gap.unwrap_or(0));
    Reply::later(async move {
        let saved =
            tokio::task::spawn_blocking(move || core.save_namespace_if_due(window, gap)).await;
        let saved = saved.map_err(|e| JavaException::Io.with(e.to_string()))?;
        Ok(encode(&SaveNamespaceResponseProto { saved: Some(saved?) }))
    })
}

pub(super) fn roll_edits(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    let op = call.op_context();
    let checked: Outcome<RollEditsRequestProto> =
        core.check_superuser(&op).and_then(|()| decode(call.param));
    if let Err(error) = checked {
        return Reply::exception(error);
    }
    let (ended, ticket) = match core.roll_edits() {
        Ok(rolled) => rolled,
        Err(error) => return Reply::exception(error),
    };
    Reply::later(async move {
        synced(ticket).await?;
        Ok(encode(&RollEditsResponseProto { new_segment_tx_id: ended.0 as u64 + 1 }))
    })
}

/// Reads the host files again; names in them are looked up, which may take a while.
pub(super) fn refresh_nodes(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    let op = call.op_context();
    let checked: Outcome<RefreshNodesRequestProto> =
        core.check_superuser(&op).and_then(|()| decode(call.param));
    if let Err(error) = checked {
        return Reply::exception(error);
    }
    Reply::later(async move {
        let read = tokio::task::spawn_blocking(move || {
            core.hosts.refresh()?;
            _ = core
                .write(|namespace| namespace.blocks_mut().apply_hosts(|id| core.hosts.judge(id)));
            std::io::Result::Ok(())
        });
        let failed = |error: &dyn std::fmt::Display| JavaException::Io.with(error.to_string());
        read.await.map_err(|e| failed(&e))?.map_err(|e| failed(&e))?;
        Ok(encode(&RefreshNodesResponseProto {}))
    })
}

/// There is never an upgrade to finalize.
pub(super) fn finalize_upgrade(call: Call<'_>) -> Reply {
    call.ask(|core, op, _: FinalizeUpgradeRequestProto| {
        core.check_superuser(op)?;
        Ok(FinalizeUpgradeResponseProto {})
    })
}

pub(super) fn upgrade_status(call: Call<'_>) -> Reply {
    call.ask(|_, _, _: UpgradeStatusRequestProto| {
        Ok(UpgradeStatusResponseProto { upgrade_finalized: true })
    })
}

pub(super) fn rolling_upgrade(call: Call<'_>) -> Reply {
    call.ask(|core, op, q: RollingUpgradeRequestProto| {
        core.check_superuser(op)?;
        match q.action() {
            RollingUpgradeActionProto::Query => Ok(RollingUpgradeResponseProto::default()),
            _ => Err(JavaException::UnsupportedOperation
                .with("rollingUpgrade is not supported by this NameNode")),
        }
    })
}

pub(super) fn restore_failed_storage(call: Call<'_>) -> Reply {
    call.ask(|core, op, q: RestoreFailedStorageRequestProto| {
        core.check_superuser(op)?;
        match q.arg.as_str() {
            "check" => Ok(RestoreFailedStorageResponseProto { result: false }),
            _ => Err(JavaException::UnsupportedOperation
                .with("restoreFailedStorage is not supported by this NameNode")),
        }
    })
}

pub(super) fn set_balancer_bandwidth(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    call.write(
        |_: &SetBalancerBandwidthRequestProto| Line::of("setBalancerBandwidth"),
        |namespace, op, q| {
            core.check_superuser(op)?;
            if q.bandwidth < 0 {
                return Err(
                    JavaException::IllegalArgument.with("Bandwidth should not be negative.")
                );
            }
            namespace.blocks_mut().set_balancer_bandwidth(q.bandwidth as u64);
            Ok(SetBalancerBandwidthResponseProto {})
        },
    )
}

pub(super) fn current_txid(call: Call<'_>) -> Reply {
    call.ask(|core, op, _: GetCurrentEditLogTxidRequestProto| {
        core.check_superuser(op)?;
        Ok(GetCurrentEditLogTxidResponseProto { txid: core.log.last_txid().0 })
    })
}

pub(super) fn ha_state(call: Call<'_>) -> Reply {
    call.ask(|_, _, _: HaServiceStateRequestProto| {
        Ok(HaServiceStateResponseProto { state: HaServiceStateProto::Active.into() })
    })
}

/// The only NameNode is always up to date.
pub(super) fn msync(call: Call<'_>) -> Reply {
    call.ask(|_, _, _: MsyncRequestProto| Ok(MsyncResponseProto {}))
}
