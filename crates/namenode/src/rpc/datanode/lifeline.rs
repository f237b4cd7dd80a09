//! A lifeline: a DataNode is alive, although its heartbeats do not get through.

use super::check::{check_registration, may_be_decoded};
use super::heartbeat::figures;
use crate::convert;
use crate::message::encode;
use crate::rpc::answer::{Call, RpcResult};
use bytes::Bytes;
use zerohop_namespace::blocks::StorageReport;
use zerohop_proto::hdfs::LifelineResponseProto;
use zerohop_proto::hdfs::datanode::HeartbeatRequestProto;

/// Nothing is ordered in the answer, and a DataNode that is not known is not told so: its next
/// heartbeat says it.
pub(super) fn lifeline(call: &Call<'_>) -> RpcResult<Bytes> {
    let core = call.core;
    if !may_be_decoded(call)? {
        return Ok(encode(&LifelineResponseProto {}));
    }
    let mut request: HeartbeatRequestProto = call.request()?;
    check_registration(core, &request.registration)?;
    let beat = figures(&mut request);
    let storages: Vec<StorageReport> =
        request.reports.into_iter().map(convert::storage_report).collect();
    let uuid = &request.registration.datanode_id.datanode_uuid;
    let now = core.clock.now();
    core.write(|namespace| {
        namespace.blocks_mut().datanode_manager().lifeline(uuid, beat, &storages, now)
    });
    Ok(encode(&LifelineResponseProto {}))
}
