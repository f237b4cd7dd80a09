//! The cluster that tests of faults and appends share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, client};
use zerohop_interop::http::{Answer, Connection};
use zerohop_interop::{Kind, Outcome, content, site};

use crate::gateway::{Gateway, gateway};

pub const BLOCK: u64 = 4 << 20;
pub const LIMIT: Duration = Duration::from_secs(120);
pub const OCTETS: (&str, &str) = ("Content-Type", "application/octet-stream");

/// What the tests share.
pub struct Shared {
    pub cluster: Cluster,
    pub gateway: Gateway,
    pub fs: FileSystem,
}

impl Shared {
    fn start() -> Outcome<Self> {
        let settings = site::settings(&[("dfs.blocksize", "4194304"), ("dfs.replication", "2")]);
        let (namenode, datanodes) = (Kind::Ours, Kind::Ours);
        let spec = Spec { name: "rest-faults", namenode, datanodes, count: 3, settings };
        let cluster = Cluster::start(&spec)?;
        // A reader gives up when all DataNodes are gone, and not after a minute.
        let gateway = gateway(&cluster, &["dfs.client.retry.window.base=200"])?;
        let fs = client(&cluster.conf(), &[])?;
        Ok(Self { cluster, gateway, fs })
    }

    /// All runs.
    pub fn restore(&mut self, killed: &[usize]) -> Outcome {
        for i in killed {
            self.cluster.start_datanode(*i)?;
        }
        self.cluster.wait_serving()
    }

    /// The status of a path.
    pub fn status(&self, path: &str) -> Outcome<u16> {
        let target = format!("/webhdfs/v1{path}?op=GETFILESTATUS&user.name=root");
        Ok(self.gateway.ask("GET", &target, &[], b"")?.status)
    }

    /// Begins an upload of unknown length.
    pub fn begin(&self, method: &str, path: &str, query: &str) -> Outcome<Connection> {
        let mut connection = self.gateway.connect()?;
        let target = format!("/webhdfs/v1{path}?{query}&data=true&user.name=root");
        connection.begin(method, &target, &[OCTETS]).at(path)?;
        Ok(connection)
    }
}

/// Runs a test; its cluster's logs stay when it fails.
pub fn with_shared(test: impl FnOnce(&mut Shared) -> Outcome) {
    static SHARED: Mutex<Weak<Mutex<Shared>>> = Mutex::new(Weak::new());
    let shared = {
        let mut running = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        running.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Mutex::new(Shared::start().unwrap()));
            *running = Arc::downgrade(&started);
            started
        })
    };
    let mut shared: MutexGuard<'_, Shared> = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let done = test(&mut shared);
    if let Err(failure) = done {
        shared.cluster.keep_logs = true;
        panic!("{failure}\n{}\n{}", shared.gateway.log(), shared.cluster.logs());
    }
}

/// Sends the bytes from `from` to `to` of the stream of `seed`, in chunks.
pub fn send(connection: &mut Connection, seed: u64, from: u64, to: u64) -> Outcome {
    let mut at = from;
    while at < to {
        let mut piece = vec![0; (to - at).min(1 << 16) as usize];
        content::fill(seed, at, &mut piece);
        connection.send_chunk(&piece).at("sending")?;
        at += piece.len() as u64;
    }
    Ok(())
}

/// Ends an upload.
pub fn end(connection: &mut Connection) -> Outcome<Answer> {
    connection.send_chunk(b"").at("ending")?;
    connection.answer(false).at("the answer")
}

pub fn is(answer: &Answer, status: u16) -> Outcome {
    match answer.status == status {
        true => Ok(()),
        false => Err(format!("not {status}: {} {}", answer.status, answer.text())),
    }
}

/// Whether bytes are those of the stream of `seed` from its beginning.
pub fn is_beginning(bytes: &[u8], seed: u64) -> bool {
    let mut expected = vec![0; bytes.len()];
    content::fill(seed, 0, &mut expected);
    bytes == expected
}
