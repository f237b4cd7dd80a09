//! Machines: network namespaces with an address each, on one network, whose cables can be pulled and whose packets to one another
//! can be lost one way. They are gone with the test.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::process::Process;
use crate::{Outcome, wait};

const LIMIT: Duration = Duration::from_secs(20);
/// A hardware address that no machine has.
const NOBODY: &str = "02:00:00:00:00:01";

/// Some machines on one network.
pub struct Machines {
    /// What connects them.
    hub: Machine,
    machines: Vec<Machine>,
}

struct Machine {
    name: String,
    /// The namespace lasts as long as a process has it.
    holder: Process,
}

impl Machine {
    fn start(name: &str, log: &Path) -> Outcome<Self> {
        let mut command = Command::new("unshare");
        // It ends with its standard input.
        command.args(["--net", "cat"]);
        let mut holder = Process::daemon(name, command, log)?;
        let own = std::fs::read_link("/proc/self/ns/net").map_err(|e| e.to_string())?;
        wait::until(&format!("a network namespace for {name}"), LIMIT, || {
            let namespace = std::fs::read_link(namespace_of(holder.id()));
            Ok(holder.ended().is_some() || namespace.is_ok_and(|namespace| namespace != own))
        })?;
        holder.alive()?;
        Ok(Self { name: name.to_owned(), holder })
    }

    /// Runs `ip` on it.
    fn ip(&self, words: &str) -> Outcome {
        let mut command = self.inside("ip");
        run(command.args(words.split(' '))).map_err(|error| format!("ip {words}: {error}"))
    }

    fn inside(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", namespace_of(self.holder.id()))).arg("--").arg(program);
        command
    }
}

fn namespace_of(pid: u32) -> String {
    format!("/proc/{pid}/ns/net")
}

fn address_of(at: usize) -> String {
    format!("10.213.9.{}", at + 1)
}

impl Machines {
    /// Machines with these names, one address each. `None`, with the reason printed, where this user may not make them.
    pub fn start(names: &[&str], log: &Path) -> Outcome<Option<Self>> {
        // SAFETY: geteuid has no preconditions and cannot fail.
        if unsafe { libc::geteuid() } != 0 {
            println!("skipped: only root may make network namespaces");
            return Ok(None);
        }
        let mut trial = Command::new("unshare");
        trial.args(["--net", "ip", "link", "add", "br0", "type", "bridge"]);
        if let Err(reason) = run(&mut trial) {
            println!("skipped: no network namespaces here: {reason}");
            return Ok(None);
        }
        let hub = Machine::start("hub", log)?;
        hub.ip("link add br0 type bridge")?;
        hub.ip("link set br0 up")?;
        let mut all = Self { hub, machines: Vec::new() };
        for name in names {
            all.add(name, log)?;
        }
        Ok(Some(all))
    }

    fn add(&mut self, name: &str, log: &Path) -> Outcome {
        let machine = Machine::start(name, log)?;
        let (at, pid) = (self.machines.len(), machine.holder.id());
        self.hub.ip(&format!("link add port{at} type veth peer name eth0 netns {pid}"))?;
        self.hub.ip(&format!("link set port{at} master br0 up"))?;
        machine.ip(&format!("addr add {}/24 dev eth0", address_of(at)))?;
        machine.ip("link set eth0 up")?;
        machine.ip("link set lo up")?;
        self.machines.push(machine);
        Ok(())
    }

    fn find(&self, name: &str) -> Outcome<(usize, &Machine)> {
        let found = self.machines.iter().enumerate().find(|(_, machine)| machine.name == name);
        found.ok_or_else(|| format!("no machine {name}"))
    }

    /// The address of a machine.
    pub fn address(&self, name: &str) -> Outcome<String> {
        Ok(address_of(self.find(name)?.0))
    }

    /// The command on a machine.
    pub fn on(&self, name: &str, command: &Command) -> Outcome<Command> {
        let mut inside = self.find(name)?.1.inside(command.get_program());
        inside.args(command.get_args());
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ok(inside)
    }

    /// Moves this thread to a machine, and with it the threads and processes that it starts from now on.
    pub fn move_to(&self, name: &str) -> Outcome {
        let path = namespace_of(self.find(name)?.1.holder.id());
        let namespace = File::open(&path).map_err(|e| format!("{path}: {e}"))?;
        // SAFETY: the descriptor is open for the call, which changes the calling thread alone.
        match unsafe { libc::setns(namespace.as_raw_fd(), libc::CLONE_NEWNET) } {
            0 => Ok(()),
            _ => Err(format!("{path}: {}", std::io::Error::last_os_error())),
        }
    }

    /// Pulls a machine's cable, or puts it back.
    pub fn plug(&self, name: &str, is_in: bool) -> Outcome {
        let state = if is_in { "up" } else { "down" };
        self.hub.ip(&format!("link set port{} {state}", self.find(name)?.0))
    }

    /// From now on packets from one machine to the other are lost; those the other way arrive.
    pub fn lose(&self, from: &str, to: &str) -> Outcome {
        let (at, _) = self.find(to)?;
        let neighbour =
            format!("neigh replace {} lladdr {NOBODY} nud permanent dev eth0", address_of(at));
        self.find(from)?.1.ip(&neighbour)
    }

    /// They arrive again.
    pub fn deliver(&self, from: &str, to: &str) -> Outcome {
        let (at, _) = self.find(to)?;
        self.find(from)?.1.ip(&format!("neigh del {} dev eth0", address_of(at)))
    }
}

fn run(command: &mut Command) -> Outcome {
    let output = command.output().map_err(|e| e.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
