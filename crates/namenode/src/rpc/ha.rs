//! HAServiceProtocol. As in Apache's, everybody may ask for the state, and only the superuser for anything else.

use super::answer::{Call, RpcResult};
use super::service::Protocol;
use crate::call_error::CallError;
use crate::core::Core;
use crate::ha::HaState;
use crate::message::encode;
use crate::transition::{to_active, to_observer, to_standby};
use bytes::Bytes;
use std::sync::Arc;
use zerohop_conf::keys;
use zerohop_proto::Checked;
use zerohop_proto::common::{
    GetServiceStatusRequestProto, GetServiceStatusResponseProto, HaRequestSource,
    HaStateChangeRequestInfoProto, MonitorHealthRequestProto, MonitorHealthResponseProto,
    TransitionToActiveRequestProto, TransitionToActiveResponseProto,
    TransitionToObserverRequestProto, TransitionToObserverResponseProto,
    TransitionToStandbyRequestProto, TransitionToStandbyResponseProto,
};
use zerohop_transport::rpc::server::{Reply, no_such_method};
use zerohop_wire::JavaException;

pub(super) struct HaService;

impl Protocol for HaService {
    const NAME: &'static str = "org.apache.hadoop.ha.HAServiceProtocol";

    fn call(call: Call<'_>, method: &str) -> Reply {
        match method {
            "getServiceStatus" => {
                call.ask(|core, _, _: GetServiceStatusRequestProto| Ok(status(core)))
            }
            "monitorHealth" => call.ask(|core, op, _: MonitorHealthRequestProto| {
                core.check_superuser(op)?;
                check_health(core)?;
                Ok(MonitorHealthResponseProto {})
            }),
            "transitionToActive" => change(
                call,
                |core, request: TransitionToActiveRequestProto, host| {
                    check_source(core, &request.req_info, host)?;
                    // What an observer is told does not depend on its safe mode.
                    if core.ha.state() == HaState::Observer {
                        Ok(())
                    } else {
                        check_safe_mode(core)
                    }
                },
                |core| async {
                    to_active(core).await?;
                    Ok(encode(&TransitionToActiveResponseProto {}))
                },
            ),
            "transitionToStandby" => change(
                call,
                |core, request: TransitionToStandbyRequestProto, host| {
                    check_not_observer(core, &request.req_info, host)?;
                    check_source(core, &request.req_info, host)
                },
                |core| async {
                    to_standby(core).await?;
                    Ok(encode(&TransitionToStandbyResponseProto {}))
                },
            ),
            "transitionToObserver" => change(
                call,
                |core, request: TransitionToObserverRequestProto, host| {
                    check_source(core, &request.req_info, host)?;
                    check_safe_mode(core)
                },
                |core| async {
                    to_observer(core).await?;
                    Ok(encode(&TransitionToObserverResponseProto {}))
                },
            ),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}

/// A standby in safe mode knows too few replicas to serve.
fn status(core: &Core) -> GetServiceStatusResponseProto {
    let state = core.ha.state();
    let safe_mode_tip = core.read(|namespace| {
        let safe_mode = namespace.blocks().safe_mode();
        safe_mode.is_on().then(|| safe_mode.tip())
    });
    let not_ready_reason = match state {
        HaState::Active => None,
        HaState::Standby => cannot_catch_up(core)
            .or_else(|| safe_mode_tip.map(|tip| format!("The NameNode is in safemode. {tip}"))),
        HaState::Observer => Some("State is observer".to_owned()),
    };
    GetServiceStatusResponseProto {
        state: state.service_state().into(),
        ready_to_become_active: Some(not_ready_reason.is_none()),
        not_ready_reason,
    }
}

/// Returns the reason a standby or an observer can no longer catch up. Apache's NameNode ends its process then.
fn cannot_catch_up(core: &Core) -> Option<String> {
    let gap = core.following.gap()?;
    Some(format!(
        "The NameNode can no longer catch up with the active one: {gap}. Start the JournalNodes that are down; if none has these \
         edits, stop this NameNode, run `namenode -bootstrapStandby' and start it again"
    ))
}

fn change<Q: Checked, F>(
    call: Call<'_>,
    check: impl FnOnce(&Core, Q, &str) -> RpcResult<()>,
    transition: impl FnOnce(Arc<Core>) -> F,
) -> Reply
where
    F: Future<Output = RpcResult<Bytes>> + Send + 'static,
{
    let (core, op) = (call.core.clone(), call.op_context());
    let allowed = || -> RpcResult<()> {
        core.check_superuser(&op)?;
        core.ha.check_enabled().map_err(CallError::from)?;
        check(&core, call.request()?, &call.context.host)
    };
    match allowed() {
        Ok(()) => Reply::later(transition(core)),
        Err(error) => Reply::exception(error),
    }
}

/// With automatic failover only the failover controller, or a user who insists, changes the state; without it only users do.
fn check_source(core: &Core, request: &HaStateChangeRequestInfoProto, host: &str) -> RpcResult<()> {
    let is_automatic = core.conf.get(&keys::DFS_HA_AUTOMATIC_FAILOVER_ENABLED);
    let is_automatic = is_automatic.map_err(CallError::failed)?;
    let denied = |reason: String| Err(JavaException::AccessControl.with(reason));
    match (request.req_source(), is_automatic) {
        (HaRequestSource::RequestByUser, true) => denied(
            "Manual HA control for this NameNode is disallowed, because automatic HA is enabled."
                .to_owned(),
        ),
        (HaRequestSource::RequestByZkfc, false) => denied(format!(
            "Request from ZK failover controller at {host} denied since automatic HA is not enabled"
        )),
        (HaRequestSource::RequestByUserForced, true) => {
            tracing::warn!(
                "Allowing manual HA control from {host} even though automatic HA is enabled, because the user specified the \
                 force flag"
            );
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A failover controller that had this NameNode take part in an election must not take it out of the state that somebody has put
/// it into since (HDFS-14961).
fn check_not_observer(
    core: &Core,
    request: &HaStateChangeRequestInfoProto,
    host: &str,
) -> RpcResult<()> {
    let is_controllers = request.req_source() == HaRequestSource::RequestByZkfc;
    match is_controllers && core.ha.state() == HaState::Observer {
        true => Err(JavaException::AccessControl.with(format!(
            "Request from ZK failover controller at {host} denied since the namenode is in Observer state."
        ))),
        false => Ok(()),
    }
}

/// Whether safe mode keeps this NameNode from being one that others may rely on.
fn is_kept_by_safe_mode(core: &Core) -> RpcResult<bool> {
    let counts = core.conf.get(&keys::DFS_HA_NN_NOT_BECOME_ACTIVE_IN_SAFEMODE);
    Ok(counts.map_err(CallError::failed)?
        && core.read(|namespace| namespace.blocks().safe_mode().is_on()))
}

fn check_safe_mode(core: &Core) -> RpcResult<()> {
    match is_kept_by_safe_mode(core)? {
        true => Err(JavaException::ServiceFailed.with("NameNode still not leave safemode")),
        false => Ok(()),
    }
}

/// What a failover controller goes by.
fn check_health(core: &Core) -> RpcResult<()> {
    let is_low = core.read(|namespace| namespace.blocks().safe_mode().is_low_on_resources());
    let reason = match (is_low, is_kept_by_safe_mode(core)?, cannot_catch_up(core)) {
        (true, ..) => "The NameNode has no resources available".to_owned(),
        (_, true, _) => {
            "The NameNode is configured to report UNHEALTHY to ZKFC in Safemode.".to_owned()
        }
        (.., Some(reason)) => reason,
        (false, false, None) => return Ok(()),
    };
    Err(JavaException::HealthCheckFailed.with(reason))
}
