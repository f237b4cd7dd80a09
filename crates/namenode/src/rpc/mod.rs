//! The protocols on the RPC port, a directory or a file each.

mod answer;
mod client;
mod datanode;
mod ha;
mod local;
mod namenode;
mod reconfigure;
mod refresh;
mod service;

pub use local::{DatanodeHttp, LocalCalls};

use crate::core::Core;
use service::serve;
use std::sync::Arc;
use zerohop_transport::rpc::server::RpcServer;

/// What the port of lifelines answers.
pub(crate) fn register_lifelines(server: &RpcServer, core: &Arc<Core>) {
    serve::<datanode::LifelineProtocol>(server, core);
}

/// Everything a port answers.
pub(crate) fn register(server: &RpcServer, core: &Arc<Core>) {
    serve::<client::ClientProtocol>(server, core);
    serve::<datanode::DatanodeProtocol>(server, core);
    serve::<namenode::NamenodeProtocol>(server, core);
    serve::<ha::HaService>(server, core);
    serve::<reconfigure::ReconfigurationProtocol>(server, core);
    serve::<refresh::UserMappings>(server, core);
    serve::<refresh::RefreshUserMappings>(server, core);
    serve::<refresh::RefreshAuthorization>(server, core);
}
