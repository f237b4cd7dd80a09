//! The RPC port: what clients and other DataNodes ask.

mod answer;
mod client;
mod inter;
mod privileges;
pub(crate) mod recovery;

use crate::error::Error;
use crate::node::Node;
use std::sync::Arc;
use zerohop_conf::{Conf, keys};
use zerohop_transport::groups::Groups;
use zerohop_transport::rpc::RpcServer;

/// Offers the protocols.
pub(crate) fn register(server: &RpcServer, node: &Arc<Node>, conf: &Conf) -> Result<(), Error> {
    let privileges = Arc::new(privileges::Privileges {
        checked: conf.get(&keys::DFS_PERMISSIONS_ENABLED)?,
        owner: node.user.name.clone(),
        supergroup: conf.get(&keys::DFS_PERMISSIONS_SUPERUSERGROUP)?,
        groups: Arc::new(Groups::from_conf(conf)),
        path_users: conf.get(&keys::DFS_BLOCK_LOCAL_PATH_ACCESS_USER)?,
    });
    if !privileges.path_users.is_empty() {
        tracing::warn!(
            "dfs.block.local-path-access.user is set: {} may ask where block files lie and open them. \
             That works only where the files' permissions let them, so they can read every block, \
             past the NameNode's permissions, and what is deleted or appended is not taken back. Use \
             dfs.domain.socket.path instead",
            privileges.path_users.join(", ")
        );
    }
    let inter =
        inter::InterProtocol { node: Arc::clone(node), privileges: Arc::clone(&privileges) };
    server.register(Arc::new(client::ClientProtocol { node: Arc::clone(node), privileges }));
    server.register(Arc::new(inter));
    Ok(())
}
