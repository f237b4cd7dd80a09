//! WebHDFS on the HTTP ports of the NameNode and DataNodes of this process.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use zerohop_client::{LocalAnswer, LocalNameNode, User};
use zerohop_conf::{Conf, ConfError};
use zerohop_datanode::DataNode;
use zerohop_gateway::{
    ChosenDatanode, Datanodes, HostNameNode, rest_of_namenode, webhdfs_of_datanode,
};
use zerohop_namenode::{LocalCalls, NameNode};
use zerohop_wire::CallerIdentity;

/// Serves WebHDFS and the file browser on the NameNode's HTTP port. DataNodes reach the NameNode at the authority of fs.defaultFS.
pub fn serve_namenode(node: &NameNode, conf: &Conf) -> Result<(), ConfError> {
    let host = Arc::new(Host(node.local_calls()));
    let rest = rest_of_namenode(conf.clone(), rpc_address(node, conf), host, node.page_site())?;
    if let Some(rest) = rest {
        node.serve_webhdfs(rest.webhdfs);
        node.serve_explorer(rest.explorer);
    }
    Ok(())
}

/// Serves WebHDFS on a DataNode's HTTP port.
pub fn serve_datanode(node: &DataNode, conf: &Conf) -> Result<(), ConfError> {
    let router = webhdfs_of_datanode(conf.clone())?;
    router.into_iter().for_each(|router| node.serve_webhdfs(router));
    Ok(())
}

/// A name that means this NameNode on all machines of the cluster, with the port that was taken.
fn rpc_address(node: &NameNode, conf: &Conf) -> String {
    match conf.default_hdfs().ok().flatten() {
        Some(authority) if authority.port() == Some(0) => {
            format!("{}:{}", authority.host(), node.rpc_addr().port())
        }
        Some(authority) => authority.to_string(),
        None => node.rpc_addr().to_string(),
    }
}

/// The NameNode as WebHDFS asks it.
struct Host(LocalCalls);

/// One user's calls.
struct UserCalls {
    calls: LocalCalls,
    identity: CallerIdentity,
    remote: SocketAddr,
}

impl LocalNameNode for UserCalls {
    fn call(&self, method: &'static str, request: Bytes) -> LocalAnswer {
        let (calls, identity, remote) = (self.calls.clone(), self.identity.clone(), self.remote);
        Box::pin(async move { calls.call(identity, remote, method, request).await })
    }
}

impl HostNameNode for Host {
    fn calls_of(&self, user: &User, remote: IpAddr) -> Arc<dyn LocalNameNode> {
        let real = user.real.as_deref().map(Into::into);
        Arc::new(UserCalls {
            calls: self.0.clone(),
            identity: CallerIdentity::simple(user.name.as_str(), real),
            remote: SocketAddr::new(remote, 0),
        })
    }

    fn datanode_for_block(
        &self,
        client: IpAddr,
        block_size: u64,
        excluded: Vec<String>,
    ) -> ChosenDatanode {
        let calls = self.0.clone();
        Box::pin(async move {
            let chosen = calls.datanode_for_block(client, block_size, excluded).await?;
            Some((chosen.host, chosen.port))
        })
    }

    fn datanodes_in_service(&self, excluded: Vec<String>) -> Datanodes {
        let calls = self.0.clone();
        Box::pin(async move {
            let nodes = calls.datanodes_in_service(excluded).await?.into_iter();
            Ok(nodes.map(|node| (node.uuid, node.host, node.port)).collect())
        })
    }
}
