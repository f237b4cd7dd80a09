//! A second process with the id of a NameNode: it would follow the edits and send images, and a failover might reach either.

use crate::Error;
use crate::name_service::{NameService, OtherNameNode};
use crate::other_namenode::NameNodeLink;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use zerohop_conf::{Conf, keys};

/// How long a process at this NameNode's address may take to accept a connection, and to say that it is a NameNode.
const PATIENCE: Duration = Duration::from_secs(2);

/// Refuses to start where a NameNode answers at the address of this one, whose configuration is `conf`. To be asked before the port is taken; a process that is no NameNode is found when the port is taken.
///
/// # Errors
/// If a NameNode answers there: the ids and keys of both, and what to change.
pub(crate) async fn check_none_runs(service: &NameService, conf: &Conf) -> Result<(), Error> {
    let address = service.own_rpc(conf)?;
    // Nearly always the connection is refused at once.
    let is_taken = matches!(timeout(PATIENCE, TcpStream::connect(&address)).await, Ok(Ok(_)));
    if !is_taken {
        return Ok(());
    }
    let at_it =
        OtherNameNode { id: service.namenode.clone(), rpc: address.clone(), http: String::new() };
    let link = NameNodeLink::new(&at_it, conf)?;
    match timeout(PATIENCE, link.version()).await {
        Ok(Ok(_)) => Err(Error::Invalid(format!(
            "{id_key}: {namenode} of {service} is in use: another NameNode answers at {address} ({rpc_key}.{service}.{namenode}); \
             stop it, or set {id_key} and {rpc_key} of this one to an id and an address of its own, and name the id in \
             {ids_key}.{service}",
            id_key = keys::DFS_HA_NAMENODE_ID.name,
            rpc_key = keys::DFS_NAMENODE_RPC_ADDRESS.name,
            ids_key = keys::DFS_HA_NAMENODES.name,
            namenode = service.namenode,
            service = service.id,
        ))),
        _ => Ok(()),
    }
}
