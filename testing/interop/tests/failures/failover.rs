//! Our client with two NameNodes of Apache's: standby, active, gone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use zerohop_client::ErrorKind;
use zerohop_interop::harm::{Explain, client, zerohop};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::site::{Setting, Site, settings};
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Outcome, java, ports, wait};

const LIMIT: Duration = Duration::from_secs(60);

struct Pair {
    directory: PathBuf,
    ports: [u16; 2],
    namenodes: [Option<Process>; 2],
}

impl Pair {
    fn settings(&self) -> Vec<Setting> {
        let at = |name: &str| format!("file://{}/{name}", self.directory.display());
        let mut all = settings(&[
            ("fs.defaultFS", "hdfs://pair"),
            ("dfs.nameservices", "pair"),
            ("dfs.ha.namenodes.pair", "a,b"),
            ("dfs.namenode.shared.edits.dir", &at("shared")),
            ("dfs.ha.fencing.methods", "shell(/bin/true)"),
            ("dfs.namenode.name.dir.pair.a", &at("name-a")),
            ("dfs.namenode.name.dir.pair.b", &at("name-b")),
            ("dfs.client.failover.sleep.base.millis", "100"),
            ("dfs.client.failover.max.attempts", "8"),
        ]);
        let provider = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider";
        all.extend(settings(&[("dfs.client.failover.proxy.provider.pair", provider)]));
        for (id, port) in ["a", "b"].iter().zip(self.ports) {
            let (rpc, http) = ("dfs.namenode.rpc-address.pair", "dfs.namenode.http-address.pair");
            all.push((format!("{rpc}.{id}"), format!("localhost:{port}")));
            all.push((format!("{http}.{id}"), format!("127.0.0.1:{}", ports::free())));
        }
        all
    }

    /// The configuration of NameNode `id`, or of clients.
    fn conf(&self, id: &str) -> PathBuf {
        self.directory.join(id).join("conf")
    }

    fn new() -> Outcome<Self> {
        let directory = tools::out().join("run/failover");
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).at("the test's directory")?;
        let directory = directory.canonicalize().at("the test's directory")?;
        let pair =
            Self { directory, ports: [ports::free(), ports::free()], namenodes: [None, None] };
        let shared = pair.settings();
        for id in ["a", "b", "client"] {
            let place = pair.directory.join(id);
            std::fs::create_dir_all(&place).at(id)?;
            let own = if id == "client" { vec![] } else { settings(&[("dfs.ha.namenode.id", id)]) };
            Site::new(&place, 0).write(&[shared.clone(), own].concat())?;
        }
        Ok(pair)
    }

    fn format(&self) -> Outcome {
        let log = self.directory.join("format.log");
        let mut command = Java::get()?.command(512);
        command.arg("zerohop.Daemon").arg("format").arg(self.conf("a"));
        let status = Process::daemon("format", command, &log)?.finish(LIMIT)?;
        match status.success() {
            true => copy(&self.directory.join("name-a"), &self.directory.join("name-b")),
            false => Err(tail(&log, 25)),
        }
    }

    fn start(&mut self, i: usize) -> Outcome {
        let id = ["a", "b"][i];
        let mut command = Java::get()?.command(512);
        command.arg("zerohop.Daemon").arg("namenode").arg(self.conf(id));
        let log = self.directory.join(format!("nn-{id}.log"));
        self.namenodes[i] = Some(Process::daemon(id, command, &log)?);
        let port = self.ports[i];
        wait::until("the NameNode's port", LIMIT, || {
            Ok(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok())
        })
        .map_err(|e| format!("{e}\n{}", tail(&log, 25)))
    }

    fn activate(&self, id: &str) -> Outcome {
        let class = "org.apache.hadoop.hdfs.tools.DFSHAAdmin";
        let args = ["-transitionToActive", "--forceactive", id];
        wait::until(&format!("{id} is active"), LIMIT, || {
            let found = java::run(class, &args, &self.conf("client"), LIMIT)?;
            if found.code == 0 { Ok(true) } else { Err(found.output) }
        })
    }
}

fn copy(from: &Path, to: &Path) -> Outcome {
    let status = std::process::Command::new("cp").arg("-r").arg(from).arg(to).status().at("cp")?;
    if status.success() { Ok(()) } else { Err("cp failed".to_owned()) }
}

fn run(pair: &mut Pair) -> Outcome {
    pair.format()?;
    // The first of the list is not there at all.
    pair.start(1)?;
    pair.activate("b")?;
    let fs = client(&pair.conf("client"), &[])?;
    fs.mkdirs("/first-is-down").at("with the first one down")?;
    // It is there, as standby.
    pair.start(0)?;
    let fresh = client(&pair.conf("client"), &[])?;
    fresh.mkdirs("/first-is-standby").at("with the first one standby")?;
    administer(pair)?;
    // The active one dies, the other takes over; both clients follow.
    pair.namenodes[1] = None;
    pair.activate("a")?;
    for fs in [&fs, &fresh] {
        for path in ["/first-is-down", "/first-is-standby"] {
            if !fs.exists(path).at(path)? {
                return Err(format!("{path} is lost"));
            }
        }
    }
    fs.mkdirs("/after").at("after the change")?;
    // Nobody is left: an error in the end, not a wait for ever.
    pair.namenodes[0] = None;
    match fs.status("/after").map_err(|e| e.kind()) {
        Err(ErrorKind::Unavailable) => Ok(()),
        other => Err(format!("with no NameNode: {other:?}")),
    }
}

/// Administration tells both NameNodes, as Apache's does; fsck finds the active one.
fn administer(pair: &Pair) -> Outcome {
    let conf = pair.conf("client");
    for words in [["-safemode", "get"], ["-refreshNodes", ""]] {
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let apache = java::run("org.apache.hadoop.hdfs.tools.DFSAdmin", &words, &conf, LIMIT)?;
        let (code, ours) = zerohop(&conf, &[&["dfsadmin"], &words[..]].concat())?;
        if (code, ours.as_str()) != (apache.code, apache.output.as_str()) || code != 0 {
            return Err(format!("{words:?}: {code} {ours}, Apache: {}", apache.output));
        }
    }
    for (verb, line) in [
        (&["dfsadmin", "-report"][..], "Present Capacity: 0 (0 B)"),
        (&["fsck", "/"], "The filesystem under path '/' is HEALTHY"),
    ] {
        let (code, text) = zerohop(&conf, verb)?;
        if code != 0 || !text.lines().any(|found| found == line) {
            return Err(format!("{verb:?}: {code} {text}"));
        }
    }
    Ok(())
}

#[test]
fn clients_follow_apache_namenodes() {
    let outcome = Pair::new().and_then(|mut pair| {
        run(&mut pair)?;
        pair.namenodes = [None, None];
        let _ = std::fs::remove_dir_all(&pair.directory);
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}
