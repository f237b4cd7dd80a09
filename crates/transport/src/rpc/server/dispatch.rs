//! From a call's protocol name to its service.

use super::request::MethodHeader;
use super::service::RpcService;
use std::sync::Arc;
use zerohop_wire::{JavaException, RemoteException};

/// The protocols of a server: so few that going through them is the fastest way to one.
#[derive(Clone, Default)]
pub(super) struct Services(Vec<Arc<dyn RpcService>>);

impl Services {
    pub(super) fn insert(&mut self, service: Arc<dyn RpcService>) {
        self.0.retain(|other| other.protocol() != service.protocol());
        self.0.push(service);
    }

    /// The service a call names.
    pub(super) fn find(
        &self,
        header: &MethodHeader,
    ) -> Result<&Arc<dyn RpcService>, RemoteException> {
        let protocol = header.protocol();
        let service = self.0.iter().find(|service| service.protocol() == protocol);
        let service = service.ok_or_else(|| {
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
