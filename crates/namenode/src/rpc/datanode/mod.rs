//! DatanodeProtocol: registration, heartbeats, reports.

mod check;
mod command;
mod heartbeat;
mod lifeline;
mod register;
mod report;

use super::answer::Call;
use super::client::report_bad_blocks;
use super::service::Protocol;
use zerohop_proto::hdfs::{VersionRequestProto, VersionResponseProto};
use zerohop_transport::rpc::server::{Reply, no_such_method};

pub(super) struct DatanodeProtocol;

impl Protocol for DatanodeProtocol {
    const NAME: &'static str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";

    fn methods() -> Vec<&'static str> {
        vec!["sendHeartbeat", "blockReport", "blockReceivedAndDeleted", "cacheReport"]
    }

    fn call(call: Call<'_>, method: &str) -> Reply {
        match method {
            "versionRequest" => version(call),
            "registerDatanode" => register::register(call),
            "sendHeartbeat" => heartbeat::heartbeat(call),
            "blockReport" => report::full(call),
            "blockReceivedAndDeleted" => report::incremental(call),
            "cacheReport" => report::cache(call),
            "errorReport" => report::error(call),
            "reportBadBlocks" => report_bad_blocks(call),
            "commitBlockSynchronization" => report::commit_synchronization(call),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}

fn version(call: Call<'_>) -> Reply {
    call.ask(|core, _, _: VersionRequestProto| {
        Ok(VersionResponseProto { info: core.identity.namespace_info(core.ha.state()) })
    })
}

/// The protocol of the port `dfs.namenode.lifeline.rpc-address`.
pub(super) struct LifelineProtocol;

impl Protocol for LifelineProtocol {
    const NAME: &'static str = "org.apache.hadoop.hdfs.server.protocol.DatanodeLifelineProtocol";

    fn call(call: Call<'_>, method: &str) -> Reply {
        match method {
            "sendLifeline" => Reply::Now(lifeline::lifeline(&call)),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}
