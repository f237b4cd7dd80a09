//! The three calls of `dfsadmin -reconfig`.

use super::answer::reply;
use crate::node::Node;
use crate::reconfigure::{Change, Reconfiguration, reconfigure};
use std::sync::Arc;
use zerohop_proto::hdfs::{
    GetReconfigurationStatusConfigChangeProto, GetReconfigurationStatusResponseProto,
    ListReconfigurablePropertiesResponseProto, StartReconfigurationResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::JavaException;

/// Starts a task.
pub(super) fn start(node: &Arc<Node>) -> Reply {
    let started = reconfigure(node).map_err(|text| JavaException::Io.with(text));
    reply(started.map(|()| StartReconfigurationResponseProto {}))
}

/// How far the last task is.
pub(super) fn status(node: &Node) -> Reply {
    let status = node.reconfiguration.status();
    Reply::message(&GetReconfigurationStatusResponseProto {
        start_time: status.started_ms as i64,
        end_time: (status.ended_ms > 0).then_some(status.ended_ms as i64),
        changes: status.changes.into_iter().map(change).collect(),
    })
}

fn change(change: Change) -> GetReconfigurationStatusConfigChangeProto {
    GetReconfigurationStatusConfigChangeProto {
        name: change.name.to_owned(),
        old_value: change.old.unwrap_or_default(),
        new_value: change.new,
        error_message: change.error,
    }
}

/// What can be changed.
pub(super) fn properties() -> Reply {
    Reply::message(&ListReconfigurablePropertiesResponseProto {
        name: Reconfiguration::properties(),
    })
}
