//! What all files and calls of one client share.

use crate::error::{Error, Result};
use crate::lease::Leases;
use crate::namenode::{self, CLIENT_PROTOCOL, Calls, LocalNameNode, NameNode, Target};
use crate::read::{Buffers, DeadNodes, Hedge, LocalReads, Totals};
use crate::resolved::Resolved;
use crate::runtime;
use crate::settings::Settings;
use crate::turns::Turns;
use crate::types::DatanodeInfo;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::Sleep;
use zerohop_conf::{Conf, keys};
use zerohop_system::{clock, random};
use zerohop_transport::login::User;
use zerohop_transport::net::{self, ConnectOptions, DataStream, Pool};
use zerohop_transport::rpc::ClientOptions;
use zerohop_transport::trace;

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
    pub(crate) calls: Calls,
    pub(crate) target: Target,
    pub(crate) user: User,
    /// The name under which leases are held.
    pub(crate) name: String,
    /// Data connections that wait for their next request.
    pub(crate) pool: Pool<Peer>,
    /// Set while a task closes the connections in `pool` that expire.
    is_expiring: AtomicBool,
    pub(crate) local: LocalReads,
    pub(crate) read_totals: Totals,
    /// Where reads are hedged.
    pub(crate) hedge: Option<Hedge>,
    /// Memory for reads that hand their bytes out.
    pub(crate) buffers: Arc<Buffers>,
    pub(crate) unreachable: DeadNodes,
    pub(crate) leases: Arc<Leases>,
    /// Serializes the calls that open one file for writing.
    pub(crate) turns: Turns,
    pub(crate) runtime: Handle,
    pub(crate) rpc_options: ClientOptions,
    resolved: Resolved,
}

impl Client {
    pub(crate) fn new(
        conf: &Conf,
        uri: Option<&str>,
        user: User,
        runtime: Handle,
    ) -> Result<Arc<Self>> {
        let target = Target::find(conf, uri)?;
        let namenode = namenode::connect(CLIENT_PROTOCOL, conf, &target, &user, &runtime)?;
        Self::of(conf, target, namenode, user, runtime)
    }

    /// A client of a NameNode in this process.
    pub(crate) fn within(
        conf: &Conf,
        uri: Option<&str>,
        namenode: Arc<dyn LocalNameNode>,
        user: User,
        runtime: Handle,
    ) -> Result<Arc<Self>> {
        let target = Target::find(conf, uri)?;
        let namenode = namenode::within(namenode, conf, &runtime)?;
        Self::of(conf, target, namenode, user, runtime)
    }

    fn of(
        conf: &Conf,
        target: Target,
        namenode: NameNode,
        user: User,
        runtime: Handle,
    ) -> Result<Arc<Self>> {
        let settings = Settings::from_conf(conf)?;
        let mut rpc_options = ClientOptions::from_conf(conf)?;
        rpc_options.runtime = Some(runtime.clone());
        let pool = Pool::new(settings.pool_capacity, settings.pool_expiry);
        let number = random::i32(..);
        let task = conf.get(&keys::MAPREDUCE_TASK_ATTEMPT_ID)?;
        let name = format!("DFSClient_{task}_{number}_{}", std::process::id());
        Ok(Arc::new(Self {
            local: LocalReads::new(&settings, name.clone(), &user, &rpc_options),
            calls: Calls::new(&namenode, settings.umask, name.clone()),
            read_totals: Totals::default(),
            hedge: Hedge::new(&settings.hedge),
            buffers: Arc::default(),
            rpc_options,
            leases: Leases::new(namenode.clone(), name.clone(), runtime.clone()),
            turns: Turns::default(),
            unreachable: DeadNodes::default(),
            resolved: Resolved::default(),
            settings,
            namenode,
            target,
            user,
            name,
            pool,
            is_expiring: AtomicBool::new(false),
            runtime,
        }))
    }

    /// Waits for an answer; must not be called on a thread of a runtime.
    pub(crate) fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        self.runtime.block_on(answer)
    }

    /// Sleeps by the timer of the client's runtime; can be awaited anywhere.
    pub(crate) fn sleep(&self, time: Duration) -> Sleep {
        let _within = self.runtime.enter();
        clock::sleep(time)
    }

    /// Does blocking work on a thread of the runtime that is made for it.
    pub(crate) async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let span = trace::current_span();
        let work = move || span.in_scope(work);
        self.runtime.spawn_blocking(work).await.map_err(Error::of_thread)?
    }

    /// Keeps a data connection for its next request. A task in the background closes it when it expires, because the DataNode
    /// closes its end and an idle client makes no further call.
    pub(crate) fn keep_connection(self: &Arc<Self>, peer: Peer, stream: DataStream) {
        self.pool.put(peer, stream);
        if self.is_expiring.swap(true, Ordering::AcqRel) {
            return;
        }
        let Ok(runtime) = runtime::background() else { return };
        let (client, expiry) = (Arc::downgrade(self), self.settings.pool_expiry);
        runtime.spawn(async move {
            loop {
                clock::sleep(expiry).await;
                let Some(client) = client.upgrade() else { return };
                if client.pool.expire() {
                    continue;
                }
                client.is_expiring.store(false, Ordering::Release);
                // One may have been put there before that.
                if !client.pool.expire() || client.is_expiring.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        });
    }

    /// Where block data of a DataNode is served.
    pub(crate) fn transfer_addr(&self, node: &DatanodeInfo) -> io::Result<SocketAddr> {
        if !self.settings.by_host_name
            && let Ok(ip) = node.ip().parse()
        {
            return Ok(SocketAddr::new(ip, node.transfer_port()));
        }
        let host = if self.settings.by_host_name { node.host() } else { node.ip() };
        let port = node.transfer_port();
        self.resolved.get(&format!("{host}:{port}"), || net::resolve(host, port))
    }

    /// A fresh data connection.
    pub(crate) fn connect(
        &self,
        addr: SocketAddr,
        read_timeout: Duration,
        write_timeout: Duration,
    ) -> io::Result<DataStream> {
        let options = ConnectOptions {
            connect_timeout: self.settings.socket_timeout,
            read_timeout,
            write_timeout,
            tcp_nodelay: self.settings.tcp_nodelay,
            send_buffer_len: 0,
        };
        DataStream::connect(addr, &options).inspect_err(|_| self.resolved.forget(addr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    /// An expired connection used to stay open until the client's next call.
    #[test]
    fn a_connection_that_no_request_comes_for_is_closed_without_a_call() {
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", "hdfs://127.0.0.1:1");
        conf.set("dfs.client.socketcache.expiryMsec", "10");
        let background = runtime::background().unwrap();
        let client = Client::new(&conf, None, User::new("test"), background).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        for _ in 0..2 {
            client.keep_connection(Peer::Tcp(addr), TcpStream::connect(addr).unwrap().into());
            let mut far = listener.accept().unwrap().0;
            far.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            assert_eq!(far.read(&mut [0]).unwrap(), 0);
        }
    }
}
