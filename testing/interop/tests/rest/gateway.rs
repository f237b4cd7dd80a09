//! Gateways in front of clusters, and one that tests share.

use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::Explain;
use zerohop_interop::http::{Answer, Connection};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Kind, Outcome, ports, site, tools, wait};

/// A gateway: a process that can be killed and started again on its port.
pub struct Gateway {
    pub port: u16,
    conf: PathBuf,
    settings: Vec<String>,
    log: PathBuf,
    process: Option<Process>,
}

impl Gateway {
    /// Starts it, after it was killed too, and waits until it listens.
    pub fn start(&mut self) -> Outcome {
        let mut command = Command::new(tools::zerohop()?);
        command.arg("--config").arg(&self.conf).arg("gateway");
        let address =
            ["httpfs.http.hostname=127.0.0.1", &format!("httpfs.http.port={}", self.port)];
        let settings = address.into_iter().chain(self.settings.iter().map(String::as_str));
        command.args(settings.flat_map(|setting| ["-D", setting]));
        self.process = Some(Process::daemon("gateway", command, &self.log)?);
        let reached = || Ok(TcpStream::connect(("127.0.0.1", self.port)).is_ok());
        wait::until("the gateway listens", Duration::from_secs(60), reached)
            .map_err(|error| format!("{error}\n{}", tail(&self.log, 20)))
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// SIGTERM; waits until it has ended by itself.
    pub fn stop(&mut self) -> Outcome {
        let mut process = self.process.take().ok_or("no gateway runs")?;
        let status = process.stop(Duration::from_secs(120))?;
        if status.success() { Ok(()) } else { Err(format!("{status}\n{}", self.log())) }
    }

    /// A connection to it.
    pub fn connect(&self) -> Outcome<Connection> {
        Connection::open(self.port).at("the gateway's port")
    }

    /// Asks on a connection of its own.
    pub fn ask(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Outcome<Answer> {
        self.connect()?.ask(method, target, headers, body).at(target)
    }

    /// The end of its log.
    pub fn log(&self) -> String {
        tail(&self.log, 25)
    }
}

pub fn gateway(cluster: &Cluster, settings: &[&str]) -> Outcome<Gateway> {
    let port = ports::free();
    let log = cluster.directory().join(format!("gateway-{port}.log"));
    let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let mut gateway = Gateway { port, conf: cluster.conf(), settings, log, process: None };
    gateway.start()?;
    Ok(gateway)
}

/// A cluster of ours with a gateway, for tests that leave both as they were.
pub struct Shared {
    pub gateway: Gateway,
    pub http_port: u16,
    pub uri: String,
    pub conf: PathBuf,
    pub directory: PathBuf,
    _cluster: Mutex<Cluster>,
}

impl Shared {
    /// The one that other tests use just now, or a new one. The last test that holds it stops it.
    pub fn get() -> Outcome<Arc<Self>> {
        static SHARED: Mutex<Weak<Shared>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Ok(running);
        }
        let cluster = cluster("rest-shared", Kind::Ours)?;
        let started = Arc::new(Self {
            gateway: gateway(&cluster, &[])?,
            http_port: cluster.site.http_port,
            uri: cluster.uri(),
            conf: cluster.conf(),
            directory: cluster.directory().to_owned(),
            _cluster: Mutex::new(cluster),
        });
        *shared = Arc::downgrade(&started);
        Ok(started)
    }
}

pub fn cluster(name: &str, kind: Kind) -> Outcome<Cluster> {
    let settings = site::settings(&[("dfs.blocksize", "1048576"), ("dfs.replication", "1")]);
    Cluster::start(&Spec { name, namenode: kind, datanodes: kind, count: 1, settings })
}

/// `curl -s -i` with these arguments: the answer with its head.
pub fn curl(gateway: &Gateway, path: &str, args: &[&str]) -> String {
    let url = format!("http://127.0.0.1:{}{path}", gateway.port);
    let out =
        Command::new("curl").args(["-s", "-i", "--max-time", "60"]).args(args).arg(url).output();
    String::from_utf8_lossy(&out.unwrap().stdout).replace('\r', "")
}
