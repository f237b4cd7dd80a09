//! A pair of ours with failover controllers of ours and of Apache's, on a real ZooKeeper.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command};
use std::time::Duration;

use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Outcome, ports, wait};

/// How long something may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);

/// What `zerohop up --ha` runs, and the ZooKeeper that it uses.
struct Pair {
    directory: PathBuf,
    /// It goes on to say what happens.
    _output: BufReader<ChildStdout>,
    _up: Process,
    /// Daemons that a test started in place of one of them.
    started: Vec<Process>,
    pids: Vec<(String, i32)>,
    _zookeeper: Process,
}

fn zookeeper(directory: &Path, port: u16) -> Outcome<Process> {
    let mut command = Java::get()?.command(128);
    command.arg("-Dzookeeper.admin.enableServer=false");
    command.arg("org.apache.zookeeper.server.ZooKeeperServerMain");
    command.arg(port.to_string()).arg(directory.join("zookeeper"));
    let log = directory.join("zookeeper.log");
    let process = Process::daemon("ZooKeeper", command, &log)?;
    let reached = || Ok(TcpStream::connect(("127.0.0.1", port)).is_ok());
    wait::until("ZooKeeper listens", LIMIT, reached)
        .map_err(|error| format!("{error}\n{}", tail(&log, 20)))?;
    Ok(process)
}

impl Pair {
    fn start(name: &str) -> Outcome<Self> {
        let directory = tools::clusters().join(name);
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).map_err(|e| e.to_string())?;
        let port = ports::free();
        let zookeeper = zookeeper(&directory, port)?;
        let mut command = Command::new(tools::zerohop()?);
        command.args(["-D", "ha.health-monitor.rpc-timeout.ms=2000"]);
        command.args(["-D", "ha.failover-controller.graceful-fence.rpc-timeout.ms=2000"]);
        command.args(["up", "--ha", "--port", "0", "--http-port", "0", "--rest-port", "0"]);
        command.arg("--zookeeper").arg(format!("127.0.0.1:{port}"));
        command.arg("--data").arg(directory.join("data"));
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
                        _zookeeper: zookeeper,
                    });
                }
                _ => {}
            }
            line.clear();
        }
        Err(format!("up --ha ended\n{}", tail(&directory.join("up.log"), 25)))
    }

    fn conf(&self) -> PathBuf {
        self.directory.join("data/conf")
    }

    /// What a command of ours prints; it must succeed.
    fn ours(&self, words: &[&str]) -> Outcome<String> {
        let mut command = Command::new(tools::zerohop()?);
        let output = command.arg("--config").arg(self.conf()).args(words).output();
        let output = output.map_err(|e| e.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!("{words:?}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// The NameNode that says it is active; none while none does.
    fn active(&self) -> Outcome<Option<&'static str>> {
        let states = self.ours(&["haadmin", "-getAllServiceState"])?;
        let mut active = ["nn1", "nn2"].into_iter().zip(states.lines());
        Ok(active.find(|(_, line)| line.trim_end().ends_with(" active")).map(|(id, _)| id))
    }

    fn until_active(&self, id: &str) -> Outcome {
        wait::until(&format!("{id} is active"), LIMIT, || Ok(self.active()? == Some(id)))
    }

    fn signal(&self, name: &str, signal: i32) -> Outcome {
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
    fn start_namenode(&mut self, id: &str, options: &[&str]) -> Outcome {
        let mut command = Command::new(tools::zerohop()?);
        command.arg("namenode").args(options).arg("--config").arg(self.conf().join(id));
        let process = Process::daemon(id, command, &self.directory.join(format!("{id}.log")))?;
        self.pids.push((id.to_owned(), i32::try_from(process.id()).map_err(|e| e.to_string())?));
        self.started.push(process);
        let is_standby = || {
            let state = self.ours(&["haadmin", "-getServiceState", id]);
            Ok(state.is_ok_and(|state| state.trim() == "standby"))
        };
        wait::until(&format!("{id} is standby"), LIMIT, is_standby)
    }

    /// Writes and reads back; nothing may fail, whatever happens to the NameNodes.
    fn write(&self, number: usize) -> Outcome {
        let path = format!("/file-{number}");
        self.ours(&["fs", "-mkdir", &format!("/dir-{number}")])?;
        self.ours(&["fs", "-put", "/etc/hostname", &path])?;
        let wanted = std::fs::read_to_string("/etc/hostname").map_err(|e| e.to_string())?;
        match self.ours(&["fs", "-cat", &path])? == wanted {
            true => Ok(()),
            false => Err(format!("{path} has other content")),
        }
    }

    fn all_are_there(&self, count: usize) -> Outcome {
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

    fn logs(&self) -> String {
        let of = |name: &str| tail(&self.directory.join(format!("data/logs/{name}.log")), 12);
        ["nn1", "nn2"].map(of).join("\n")
    }
}

fn other(id: &str) -> &'static str {
    if id == "nn1" { "nn2" } else { "nn1" }
}

/// The active NameNode is told to give up, killed, and frozen.
fn history(pair: &mut Pair) -> Outcome {
    wait::until("one is active", LIMIT, || Ok(pair.active()?.is_some()))?;
    let first = pair.active()?.ok_or("none is active")?;
    pair.write(0)?;
    pair.ours(&["haadmin", "-failover", first, other(first)])?;
    pair.until_active(other(first))?;
    pair.write(1)?;
    // By hand nothing is changed where controllers decide.
    if let Ok(said) = pair.ours(&["haadmin", "-transitionToStandby", other(first)]) {
        return Err(format!("a transition by hand: {said}"));
    }
    pair.signal(other(first), libc::SIGKILL)?;
    pair.write(2)?;
    pair.until_active(first)?;
    pair.start_namenode(other(first), &[])?;
    pair.signal(first, libc::SIGSTOP)?;
    pair.write(3)?;
    pair.until_active(other(first))?;
    // It wakes up, and ends with the first edit that it tries, or became standby when it was asked at last.
    pair.signal(first, libc::SIGCONT)?;
    pair.write(4)?;
    pair.all_are_there(5)?;
    match pair.active()? == Some(other(first)) {
        true => Ok(()),
        false => Err("the NameNode that was frozen is active again".to_owned()),
    }
}

#[test]
fn no_operation_fails_while_the_active_namenode_moves_is_killed_and_is_frozen() {
    let mut pair = Pair::start("failover-ours").unwrap();
    let outcome = history(&mut pair);
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
}

/// Apache's controller in place of one of ours, for a NameNode of ours.
fn with_apaches_controller(pair: &mut Pair) -> Outcome {
    wait::until("one is active", LIMIT, || Ok(pair.active()?.is_some()))?;
    let ours = pair.active()?.ok_or("none is active")?;
    let apaches = other(ours);
    pair.signal(&format!("zkfc-{apaches}"), libc::SIGKILL)?;
    let mut command = Java::get()?.command(128);
    command.arg("zerohop.Daemon").arg("zkfc").arg(pair.conf().join(apaches));
    let log = pair.directory.join("apaches-zkfc.log");
    // Its port is free as soon as the other one's process is gone.
    pair.started.push(Process::daemon("Apache's controller", command, &log)?);
    pair.write(0)?;
    let moved = || {
        let moved = pair.ours(&["haadmin", "-failover", ours, apaches]);
        moved.map(|_| true).map_err(|error| format!("{error}\n{}", tail(&log, 12)))
    };
    wait::until("Apache's controller takes over", LIMIT, moved)?;
    pair.until_active(apaches)?;
    pair.write(1)?;
    pair.ours(&["haadmin", "-failover", apaches, ours])?;
    pair.until_active(ours)?;
    pair.write(2)?;
    // Whom ours has made active, Apache's fences.
    pair.signal(ours, libc::SIGKILL)?;
    pair.write(3)?;
    pair.until_active(apaches)?;
    // And the same with the controller in the NameNode's process.
    pair.signal(&format!("zkfc-{ours}"), libc::SIGKILL)?;
    pair.start_namenode(ours, &["--zkfc"])?;
    let moved = || pair.ours(&["haadmin", "-failover", apaches, ours]).map(|_| true);
    wait::until("the NameNode's own controller takes over", LIMIT, moved)?;
    pair.until_active(ours)?;
    pair.write(4)?;
    pair.all_are_there(5)
}

#[test]
fn controllers_of_both_kinds_hand_the_active_state_to_each_other() {
    let mut pair = Pair::start("failover-mixed").unwrap();
    let outcome = with_apaches_controller(&mut pair);
    outcome.unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
}

#[test]
fn a_cluster_of_two_namenodes_runs_one_command_and_ends_with_its_code() {
    let mut command = Command::new(tools::zerohop().unwrap());
    command.args(["up", "--ha", "--port", "0", "--http-port", "0", "--rest-port", "0", "--exec"]);
    // By hand: without a ZooKeeper.
    command.arg(
        "zerohop fs -mkdir /a && zerohop haadmin -failover nn1 nn2 && zerohop fs -mkdir /b \
         && zerohop haadmin -failover nn2 nn1 && zerohop fs -ls -C / && exit 7",
    );
    let output = command.output().unwrap();
    let (said, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(7), "{said}{errors}");
    assert!(said.contains("/a\n/b\n"), "{said}{errors}");
}
