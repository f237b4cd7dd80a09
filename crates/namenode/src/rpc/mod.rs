//! The protocols on the RPC port, a folder or a file each.

mod answer;
mod client;
mod datanode;
mod ha;
mod namenode;
mod refresh;

pub(crate) use answer::encode;
pub(crate) use client::appended_proto;

use crate::core::Core;
use std::sync::Arc;
use zerohop_transport::rpc::server::RpcServer;

/// Everything a port answers.
pub(crate) fn register(server: &RpcServer, core: &Arc<Core>) {
    server.register(Arc::new(client::ClientProtocol::new(core.clone())));
    server.register(Arc::new(datanode::DatanodeProtocol::new(core.clone())));
    server.register(Arc::new(namenode::NamenodeProtocol::new(core.clone())));
    server.register(Arc::new(ha::HaService::new(core.clone())));
    server.register(Arc::new(refresh::UserMappings::new(core.clone())));
    server.register(Arc::new(refresh::RefreshUserMappings::new(core.clone())));
    server.register(Arc::new(refresh::RefreshAuthorization::new(core.clone())));
}
