//! What `zerohop up --ha` runs: a pair of NameNodes with its failover controllers, and the ZooKeeper that they use.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command};
use std::time::Duration;

use crate::harm::http;
use crate::process::{Process, tail};
use crate::tools::{self, Java};
use crate::{Outcome, ports, wait};

/// How long something may take on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(180);

/// A frozen NameNode is soon replaced.
pub const SHORT: [(&str, &str); 2] = [
    ("ha.health-monitor.rpc-timeout.ms", "2000"),
    ("ha.failover-controller.graceful-fence.rpc-timeout.ms", "2000"),
];

/// What `zerohop up --ha` runs, and the ZooKeeper that it uses.
pub struct Pair {
    /// Where all of it is.
    pub directory: PathBuf,
    /// It goes on to say what happens.
    _output: BufReader<ChildStdout>,
    _up: Process,
    /// Daemons that a test started in place of one of them.
    pub started: Vec<Process>,
    /// Names and process ids.
    pub pids: Vec<(String, i32)>,
    /// Where ZooKeeper listens.
    pub zookeeper_port: u16,
    _zookeeper: Process,
}

/// A ZooKeeper whose files are in `directory`; it listens.
pub fn start_zookeeper(directory: &Path, port: u16) -> Outcome<Process> {
    let mut command = Java::get()?.command(128);
    command.arg("-Dzookeeper.admin.enableServer=false");
    command.arg("org.apache.zookeeper.server.ZooKeeperServerMain");
    // It ends sessions at whole ticks, of 3 s by default: a session of 10 s would last up to 13 s.
    command.arg(port.to_string()).arg(directory.join("zookeeper")).arg("500");
    let log = directory.join("zookeeper.log");
    let process = Process::daemon("ZooKeeper", command, &log)?;
    let reached = || Ok(TcpStream::connect(("127.0.0.1", port)).is_ok());
    wait::until("ZooKeeper listens", LIMIT, reached)
        .map_err(|error| format!("{error}\n{}", tail(&log, 20)))?;
    Ok(process)
}

impl Pair {
    /// With health checks of two seconds, so that a frozen NameNode is soon replaced.
    pub fn start(name: &str) -> Outcome<Self> {
        Self::start_with(name, &SHORT, 1)
    }

    /// With settings of all its daemons and clients.
    pub fn start_with(name: &str, settings: &[(&str, &str)], datanodes: usize) -> Outcome<Self> {
        Self::start_as(name, settings, datanodes, |_| ())
    }

    /// The same with another command, made of the usual one.
    pub fn start_as(
        name: &str,
        settings: &[(&str, &str)],
        datanodes: usize,
        change: impl FnOnce(&mut Command),
    ) -> Outcome<Self> {
        let directory = tools::clusters().join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
        let port = ports::free();
        let zookeeper = start_zookeeper(&directory, port)?;
        let mut command = Command::new(tools::zerohop()?);
        for (key, value) in settings {
            command.arg("-D").arg(format!("{key}={value}"));
        }
        command.args(["up", "--ha", "--port", "0", "--http-port", "0", "--rest-port", "0"]);
        command.arg("--zookeeper").arg(format!("127.0.0.1:{port}"));
        command.arg("--datanodes").arg(datanodes.to_string());
        command.arg("--data").arg(directory.join("data"));
        change(&mut command);
        let mut up = Process::talker("up", command, &directory.join("up.log"))?;
        let (_, output) = up.pipes().ok_or("no pipes")?;
        let mut output = BufReader::new(output);
        let mut pids = Vec::new();
        let mut line = String::new();
        while output.read_line(&mut line).map_err(|e| e.to_string())? > 0 {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["pid", pid, name] => pids.push(((*name).to_owned(), pid.parse().unwrap_or(0))),
                ["stop", ..] => {
                    let started = Vec::new();
                    return Ok(Self {
                        directory,
                        _output: output,
                        _up: up,
                        started,
                        pids,
                        zookeeper_port: port,
                        _zookeeper: zookeeper,
                    });
                }
                _ => {}
            }
            line.clear();
        }
        Err(format!("up --ha ended\n{}", tail(&directory.join("up.log"), 25)))
    }

    /// The configuration of clients.
    pub fn conf(&self) -> PathBuf {
        self.directory.join("data/conf")
    }

    /// What a command of ours prints; it must succeed.
    pub fn ours(&self, words: &[&str]) -> Outcome<String> {
        let mut command = Command::new(tools::zerohop()?);
        let output = command.arg("--config").arg(self.conf()).args(words).output();
        let output = output.map_err(|e| e.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!("{words:?}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// The NameNode that says it is active; none while none does.
    pub fn active(&self) -> Outcome<Option<&'static str>> {
        let states = self.ours(&["haadmin", "-getAllServiceState"])?;
        let mut active = ["nn1", "nn2"].into_iter().zip(states.lines());
        Ok(active.find(|(_, line)| line.trim_end().ends_with(" active")).map(|(id, _)| id))
    }

    /// Waits until a NameNode is active.
    pub fn until_active(&self, id: &str) -> Outcome {
        wait::until(&format!("{id} is active"), LIMIT, || Ok(self.active()? == Some(id)))
    }

    /// Sends a signal to a daemon.
    pub fn signal(&self, name: &str, signal: i32) -> Outcome {
        let pid = self.pids.iter().rev().find(|(known, _)| known == name).map(|(_, pid)| *pid);
        let pid = pid.filter(|pid| *pid > 0).ok_or_else(|| format!("no process {name}"))?;
        // SAFETY: kill takes no pointers. The process is a child of `up`, which reaps it only after it has ended; a test ends each
        // process once.
        match unsafe { libc::kill(pid, signal) } {
            0 => Ok(()),
            _ => Err(format!("{name}: {}", std::io::Error::last_os_error())),
        }
    }

    /// Starts a NameNode again that was killed.
    pub fn start_namenode(&mut self, id: &str, options: &[&str]) -> Outcome {
        let mut command = Command::new(tools::zerohop()?);
        command.arg("namenode").args(options).arg("--config").arg(self.conf().join(id));
        let process = Process::daemon(id, command, &self.directory.join(format!("{id}.log")))?;
        self.pids.push((id.to_owned(), i32::try_from(process.id()).map_err(|e| e.to_string())?));
        self.started.push(process);
        let is_standby = || {
            let state = self.ours(&["haadmin", "-getServiceState", id]);
            Ok(state.is_ok_and(|state| state.trim() == "standby"))
        };
        wait::until(&format!("{id} is standby"), LIMIT, is_standby)?;
        // Until then it would have no place for blocks.
        wait::until(&format!("{id} has a DataNode"), LIMIT, || self.has_datanodes(id))
    }

    /// Whether a DataNode has registered with a NameNode.
    fn has_datanodes(&self, id: &str) -> Outcome<bool> {
        let key = format!("dfs.namenode.http-address.ha.{id}");
        let address = self.ours(&["getconf", "-confKey", &key])?;
        let port = address.trim().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let port = port.ok_or_else(|| format!("{key}: {address}"))?;
        let page = http(port, "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState")?;
        let beans: serde_json::Value =
            serde_json::from_str(&page).map_err(|error| format!("{error}: {page}"))?;
        Ok(beans["beans"][0]["NumLiveDataNodes"].as_u64().is_some_and(|count| count > 0))
    }

    /// Starts a failover controller again that was killed.
    pub fn start_controller(&mut self, id: &str) -> Outcome {
        let name = format!("zkfc-{id}");
        let mut command = Command::new(tools::zerohop()?);
        command.arg("zkfc").arg("--config").arg(self.conf().join(id));
        let process = Process::daemon(&name, command, &self.directory.join(format!("{name}.log")))?;
        self.pids.push((name, i32::try_from(process.id()).map_err(|e| e.to_string())?));
        self.started.push(process);
        Ok(())
    }

    /// Writes and reads back; nothing may fail, whatever happens to the NameNodes.
    pub fn write(&self, number: usize) -> Outcome {
        let path = format!("/file-{number}");
        self.ours(&["fs", "-mkdir", &format!("/dir-{number}")])?;
        self.ours(&["fs", "-put", "/etc/hostname", &path])?;
        let wanted = std::fs::read_to_string("/etc/hostname").map_err(|e| e.to_string())?;
        match self.ours(&["fs", "-cat", &path])? == wanted {
            true => Ok(()),
            false => Err(format!("{path} has other content")),
        }
    }

    /// What the first writes made must be there.
    pub fn all_are_there(&self, count: usize) -> Outcome {
        let listed = self.ours(&["fs", "-ls", "-C", "/"])?;
        for number in 0..count {
            for name in [format!("/file-{number}"), format!("/dir-{number}")] {
                if !listed.lines().any(|line| line == name) {
                    return Err(format!("{name} is lost:\n{listed}"));
                }
            }
        }
        Ok(())
    }

    /// The ends of the NameNodes' logs.
    pub fn logs(&self) -> String {
        let of = |name: &str| tail(&self.directory.join(format!("data/logs/{name}.log")), 12);
        ["nn1", "nn2"].map(of).join("\n")
    }
}

/// The other NameNode.
pub fn other(id: &str) -> &'static str {
    if id == "nn1" { "nn2" } else { "nn1" }
}
