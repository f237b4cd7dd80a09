//! ReconfigurationProtocol: `hdfs dfsadmin -reconfig namenode`.

use super::answer::Call;
use super::service::Protocol;
use zerohop_transport::reconfigure::{properties, start, status};
use zerohop_transport::rpc::server::{Reply, no_such_method};

pub(super) struct ReconfigurationProtocol;

impl Protocol for ReconfigurationProtocol {
    const NAME: &'static str = "org.apache.hadoop.hdfs.protocol.ReconfigurationProtocol";

    fn call(call: Call<'_>, method: &str) -> Reply {
        if let Err(error) = call.core.check_superuser(&call.op_context()) {
            return Reply::exception(error.into());
        }
        match method {
            "startReconfiguration" => start(call.core),
            "getReconfigurationStatus" => status(&**call.core),
            "listReconfigurableProperties" => properties(&**call.core),
            other => Reply::exception(no_such_method(Self::NAME, other)),
        }
    }
}
