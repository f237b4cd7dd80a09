//! From a call's protocol name to its service.

use super::request::MethodHeader;
use super::service::RpcService;
use std::collections::HashMap;
use std::sync::Arc;
use zerohop_wire::{JavaException, RemoteException};

/// The protocols of a server.
#[derive(Clone, Default)]
pub(super) struct Services(HashMap<&'static str, Arc<dyn RpcService>>);

impl Services {
    pub(super) fn insert(&mut self, service: Arc<dyn RpcService>) {
        self.0.insert(service.protocol(), service);
    }

    /// The service a call names.
    pub(super) fn find(
        &self,
        header: &MethodHeader,
    ) -> Result<&Arc<dyn RpcService>, RemoteException> {
        let protocol = header.protocol();
        let service = self.0.get(protocol).ok_or_else(|| {
            JavaException::RpcNoSuchProtocol.with(format!("Unknown protocol: {protocol}"))
        })?;
        let (client, server) = (header.version, service.version());
        if client != server {
            return Err(JavaException::RpcVersionMismatch.with(format!(
                "Protocol {protocol} version mismatch. (client = {client}, server = {server})"
            )));
        }
        Ok(service)
    }
}
