//! A cluster whose descriptors strangers have used up: it neither spins nor fills its log, and serves
//! again when they have gone.
#![allow(clippy::disallowed_methods, reason = "this is a test")]

use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use zerohop_system::ports;

const BINARY: &str = env!("CARGO_BIN_EXE_zerohop");
const LIMIT: Duration = Duration::from_secs(60);
/// What the cluster may open.
const DESCRIPTORS: &str = "150";

/// Killed when the test ends.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < LIMIT, "{what}: not within {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Time on a processor, in hundredths of a second.
fn cpu_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

fn warnings(log: &Path) -> usize {
    std::fs::read_to_string(log).unwrap().matches("Too many open files").count()
}

#[test]
fn without_descriptors_no_port_spins() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let ports = [(); 5].map(|()| ports::free().unwrap());
    let [rpc, web, transfer, node_rpc, node_web] = ports.map(|port| port.to_string());
    let address = |key: &str, port: &str| format!("-Ddfs.datanode.{key}=127.0.0.1:{port}");
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "ulimit -n $0; exec \"$@\"", DESCRIPTORS, BINARY, "up"]);
    command.args(["--port", &rpc, "--http-port", &web, "--data", data.to_str().unwrap()]);
    command.arg(address("address", &transfer)).arg(address("ipc.address", &node_rpc));
    // By default an RPC port takes fewer connections than the process has descriptors.
    command.arg("-Dipc.server.max.connections=1000");
    command.arg(address("http.address", &node_web)).env_remove("HADOOP_CONF_DIR");
    let child = Killed(command.stdout(Stdio::null()).process_group(0).spawn().unwrap());
    let conf = data.join("conf");
    let ls = || {
        let mut command = Command::new(BINARY);
        command.arg("--config").arg(&conf).args(["fs", "-ls", "/"]).stderr(Stdio::null());
        command.status().unwrap().success().then_some(())
    };
    until("the cluster serves", || conf.join("hdfs-site.xml").exists().then_some(()));
    until("the first listing", ls);

    let mut strangers = Vec::new();
    let connect = |port| TcpStream::connect(("127.0.0.1", port)).unwrap();
    strangers.extend((0..200).map(|_| connect(ports[0])));
    strangers.extend(ports[1..].iter().map(|port| connect(*port)));
    let log = data.join("zerohop.log");
    // Each of the five ports says it once.
    until("all ports are out of descriptors", || (warnings(&log) >= 5).then_some(()));
    let (before, start) = (cpu_ticks(child.0.id()), Instant::now());
    std::thread::sleep(Duration::from_secs(2));
    let percent = (cpu_ticks(child.0.id()) - before) as f64 / start.elapsed().as_secs_f64();
    assert!(percent < 50.0, "{percent}% of a processor for nothing");
    assert!(warnings(&log) <= 10, "{} lines", warnings(&log));

    drop(strangers);
    until("the cluster serves again", ls);
}
