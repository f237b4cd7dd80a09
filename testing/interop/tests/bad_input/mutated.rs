//! Good traffic, a little changed, on every port of a cluster in one process: bits turned around,
//! pieces cut out, doubled, exchanged with those of other streams. Random bytes fail at the first
//! length; these get as far as the changed place.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fastrand::Rng;
use zerohop_client::DatanodeReportType;
use zerohop_interop::harm::{Explain, client};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::{Outcome, tools, wait};

use super::beside::{Beside, Watch};
use super::frames::Port;
use super::recorded;

/// Changed streams for each port.
const STREAMS: usize = 8000;
/// Connections at a time.
const AT_ONCE: usize = 8;
const SEED: u64 = 20_261_122;
const LIMIT: Duration = Duration::from_secs(60);

/// `zerohop up`, killed when dropped.
struct Up {
    process: Process,
    directory: tempfile::TempDir,
    log: PathBuf,
}

impl Up {
    fn start() -> Outcome<Self> {
        let directory = tempfile::tempdir().at("a directory")?;
        let log = directory.path().join("up.log");
        let mut command = Command::new(tools::zerohop()?);
        // Requests for pools that are not there wait for them.
        command.args(["-Ddfs.datanode.bp-ready.timeout=0", "-Ddfs.permissions.enabled=true"]);
        command.args(["up", "--port", "0", "--http-port", "0", "--data"]);
        command.arg(directory.path().join("data"));
        let mut process = Process::daemon("up", command, &log)?;
        wait::until("up serves", LIMIT, || {
            process.alive()?;
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            Ok(said.contains("HADOOP_CONF_DIR="))
        })?;
        Ok(Self { process, directory, log })
    }

    fn conf(&self) -> PathBuf {
        self.directory.path().join("data/conf")
    }

    fn logs(&self) -> Vec<PathBuf> {
        vec![self.log.clone(), self.directory.path().join("data/zerohop.log")]
    }
}

/// One of the streams with one change, or a few.
fn changed(random: &mut Rng, streams: &[Vec<u8>]) -> Vec<u8> {
    let any = |random: &mut Rng| streams[random.usize(..streams.len())].clone();
    let mut bytes = any(random);
    for _ in 0..random.usize(1..4) {
        let (from, to) = range(random, bytes.len());
        match random.usize(..6) {
            0 => (0..random.usize(1..9)).for_each(|_| {
                let at = random.usize(..bytes.len());
                bytes[at] ^= 1 << random.u8(..8);
            }),
            1 => bytes.truncate(from.max(1)),
            2 => drop(bytes.drain(from..to)),
            3 => {
                let piece = bytes[from..to].to_vec();
                bytes.splice(to..to, piece);
            }
            4 => {
                let other = any(random);
                let (a, b) = range(random, other.len());
                bytes.splice(from..to, other[a..b].iter().copied());
            }
            _ => {
                let extremes = [[0xff; 4], [0; 4], [0x7f, 0xff, 0xff, 0xff], [0x80, 0, 0, 0]];
                let value = extremes[random.usize(..extremes.len())];
                let to = (from + 4).min(bytes.len());
                bytes.splice(from..to, value);
            }
        }
        if bytes.is_empty() {
            bytes.push(random.u8(..));
        }
    }
    bytes
}

/// A piece, mostly short, which may be empty.
fn range(random: &mut Rng, len: usize) -> (usize, usize) {
    let from = random.usize(..=len.saturating_sub(1));
    let most = if random.bool() { 16 } else { len };
    (from, from + random.usize(..=most.min(len - from)))
}

/// Sends changed streams, several at once; each connection must end.
fn hammer(port: &Port, streams: &[Vec<u8>]) -> Outcome {
    if streams.iter().all(Vec::is_empty) {
        return Err(format!("{}: nothing was recorded", port.0));
    }
    let streams: Vec<Vec<u8>> = streams.iter().filter(|s| !s.is_empty()).cloned().collect();
    // Unchanged they are good: an answer comes.
    for (i, stream) in streams.iter().enumerate() {
        port.must_answer(stream, &format!("stream {i} as it is"))?;
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let work = || -> Outcome {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= STREAMS {
                    return Ok(());
                }
                let mut random = Rng::with_seed(SEED + i as u64);
                let bytes = changed(&mut random, &streams);
                port.must_close(&bytes, &format!("changed stream {i} (seed {SEED})"))?;
            }
        };
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|t| t.join().map_err(|_| "a thread died".to_owned())?)
    })
}

fn all_ports(up: &Up) -> Outcome {
    let conf = up.conf();
    let fs = client(&conf, &[])?;
    let node = fs.datanode_report(DatanodeReportType::Live).at("DataNodes")?.pop();
    let node = node.ok_or("no DataNode")?;
    let settings = zerohop_conf::Conf::load(&conf).at("the configuration")?;
    let port_of = |key: &str| -> Outcome<u16> {
        let value = settings.get_raw(key).ok_or_else(|| format!("no {key}"))?;
        value.rsplit(':').next().and_then(|p| p.trim_matches('/').parse().ok()).ok_or(value)
    };
    let block = recorded::a_block(&conf)?;
    let rpc = port_of("fs.defaultFS")?;
    let ports = [
        (Port("NameNode RPC", rpc), recorded::namenode(&conf, rpc)?),
        (Port("DataNode data", node.transfer_port()), recorded::transfers(&block)),
        (Port("DataNode RPC", node.ipc_port()), recorded::datanode_rpc(node.ipc_port(), &block)?),
        (Port("NameNode HTTP", port_of("dfs.namenode.http-address")?), recorded::http()),
        (Port("DataNode HTTP", node.proto().id.info_port as u16), recorded::http()),
    ];
    let watch = Watch::over(vec![("up", up.process.id())], up.logs());
    let beside = Beside::start(&conf)?;
    beside.goes_on(5, LIMIT)?;
    let mut failures = Vec::new();
    for (port, streams) in &ports {
        let since = Instant::now();
        let outcome = hammer(port, streams).and_then(|()| beside.goes_on(3, LIMIT));
        let outcome = outcome.and_then(|()| watch.look(port.0));
        println!("{}: {STREAMS} changed streams in {:?}", port.0, since.elapsed());
        failures.extend(outcome.err().map(|e| format!("{}: {e}", port.0)));
    }
    println!("the client beside: slowest round {:?}", beside.stop()?);
    failures.extend(watch.logs().err());
    // What was there is there.
    zerohop_interop::harm::check(&fs, "/block", 6, 5000)?;
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

#[test]
fn changed_traffic_on_every_port() {
    let outcome = Up::start().and_then(|mut up| {
        let outcome = all_ports(&up).and_then(|()| up.process.alive());
        outcome.map_err(|e| format!("{e}\n{}", tail(&up.logs()[1], 30)))
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}
