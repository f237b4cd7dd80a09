//! What all files and calls of one client share.

use crate::error::Result;
use crate::lease::Leases;
use crate::namenode::{NameNode, Target};
use crate::read::{DeadNodes, LocalReads, Totals};
use crate::settings::Settings;
use crate::types::DatanodeInfo;
use parking_lot::Mutex;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use zerohop_conf::Conf;
use zerohop_transport::login::User;
use zerohop_transport::net::{self, ConnectOptions, Pool};
use zerohop_transport::rpc::ClientOptions;

/// The other end of a data connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Peer {
    Tcp(SocketAddr),
    /// A domain socket by its path.
    Domain(PathBuf),
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(addr) => write!(f, "/{addr}"),
            Self::Domain(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// What all files and calls of one client share.
pub(crate) struct Client {
    pub(crate) settings: Settings,
    pub(crate) namenode: NameNode,
    pub(crate) target: Target,
    pub(crate) user: User,
    /// The name under which leases are held.
    pub(crate) name: String,
    /// Data connections that wait for their next request.
    pub(crate) pool: Pool<Peer>,
    pub(crate) local: LocalReads,
    pub(crate) read_totals: Totals,
    pub(crate) dead: DeadNodes,
    pub(crate) leases: Arc<Leases>,
    pub(crate) runtime: Handle,
    pub(crate) rpc_options: ClientOptions,
    /// Addresses of DataNodes, by what was asked.
    resolved: Mutex<Vec<(String, SocketAddr)>>,
}

impl Client {
    pub(crate) fn new(
        conf: &Conf,
        uri: Option<&str>,
        user: User,
        runtime: Handle,
    ) -> Result<Arc<Self>> {
        let settings = Settings::from_conf(conf)?;
        let target = Target::find(conf, uri)?;
        let namenode = NameNode::new(conf, &target, &user)?;
        let rpc_options = ClientOptions::from_conf(conf)?;
        let pool = Pool::new(settings.pool_capacity, settings.pool_expiry);
        let number = fastrand::i32(..);
        let name = format!("DFSClient_NONMAPREDUCE_{number}_{}", std::process::id());
        Ok(Arc::new(Self {
            local: LocalReads::new(&settings, name.clone(), &user, &rpc_options),
            read_totals: Totals::default(),
            rpc_options,
            leases: Leases::new(namenode.clone(), name.clone(), runtime.clone()),
            dead: DeadNodes::default(),
            resolved: Mutex::default(),
            settings,
            namenode,
            target,
            user,
            name,
            pool,
            runtime,
        }))
    }

    /// Waits for an answer on a thread that is none of a runtime's own.
    pub(crate) fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        self.runtime.block_on(answer)
    }

    /// Where block data of a DataNode is served.
    pub(crate) fn transfer_addr(&self, node: &DatanodeInfo) -> io::Result<SocketAddr> {
        if !self.settings.by_host_name
            && let Ok(ip) = node.ip().parse()
        {
            return Ok(SocketAddr::new(ip, node.transfer_port()));
        }
        let name = node.transfer_addr(self.settings.by_host_name);
        if let Some((_, addr)) = self.resolved.lock().iter().find(|(known, _)| *known == name) {
            return Ok(*addr);
        }
        let host = if self.settings.by_host_name { node.host() } else { node.ip() };
        let addr = net::resolve(host, node.transfer_port())?;
        self.resolved.lock().push((name, addr));
        Ok(addr)
    }

    /// A fresh data connection.
    pub(crate) fn connect(
        &self,
        addr: SocketAddr,
        read_timeout: Duration,
        write_timeout: Duration,
    ) -> io::Result<TcpStream> {
        let options = ConnectOptions {
            connect_timeout: self.settings.socket_timeout,
            read_timeout,
            write_timeout,
            tcp_nodelay: self.settings.tcp_nodelay,
            send_buffer_len: 0,
        };
        net::connect(addr, &options)
    }
}
