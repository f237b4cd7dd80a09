//! Two machines on this one: network namespaces, each with an address, that are joined by one link (veth). tc(8) throttles it
//! at both ends. Sockets of the Unix domain, and what stays within a namespace, do not go over it.

use crate::failure::Result;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// The address of the machine with the NameNode, the first DataNode and the client.
pub const NEAR: &str = "10.213.11.1";
/// The address of the machine with the second DataNode.
pub const FAR: &str = "10.213.11.2";
/// The link's end, on both machines.
const DEVICE: &str = "eth0";
/// What the link's queue holds, as a switch with a buffer of a megabyte at 1 Gbit/s does.
const QUEUE: &str = "10ms";
/// A few of the largest packets of a virtual link, of 64 KiB.
const BURST: &str = "256k";
/// Of the trial whether a link can be throttled.
const TRIAL_MBITS: u32 = 1000;
const ADVICE: &str = "run it as root, with iproute2 and util-linux installed";
/// Says that the namespace exists, then keeps it until standard input ends.
const HOLD: &str = "echo made && exec cat";

/// Both machines; they and their link are gone when dropped.
pub struct Machines {
    near: Holder,
    far: Holder,
}

impl Machines {
    /// Makes them, and tries whether their link can be throttled.
    ///
    /// # Errors
    /// Why they cannot be made, and what to do.
    pub fn start() -> Result<Self, String> {
        let made = || -> Result<Self> {
            let machines = Self { near: Holder::start()?, far: Holder::start()? };
            let far = machines.far.pid();
            machines
                .near
                .ip(&format!("link add {DEVICE} type veth peer name {DEVICE} netns {far}"))?;
            for (machine, address) in [(&machines.near, NEAR), (&machines.far, FAR)] {
                machine.ip(&format!("addr add {address}/24 dev {DEVICE}"))?;
                machine.ip(&format!("link set {DEVICE} up"))?;
                machine.ip("link set lo up")?;
                let mut tc = machine.inside(Path::new("tc"));
                run(tc.args(throttle_words(TRIAL_MBITS)))?;
                let mut tc = machine.inside(Path::new("tc"));
                run(tc.args(free_words()))?;
            }
            Ok(machines)
        };
        made().map_err(|error| {
            format!(
                "two network namespaces with a throttled link cannot be made: {error}; {ADVICE}"
            )
        })
    }

    /// A command that runs a program on the near machine.
    pub fn on_near(&self, program: &Path) -> Command {
        self.near.inside(program)
    }

    /// A command that runs a program on the far machine.
    pub fn on_far(&self, program: &Path) -> Command {
        self.far.inside(program)
    }

    /// A process on the far machine, by which [`Throttle`] finds it.
    pub fn far_pid(&self) -> u32 {
        self.far.pid()
    }
}

/// The process that keeps a namespace.
struct Holder(Child);

impl Holder {
    fn start() -> Result<Self> {
        let mut command = Command::new("unshare");
        command.args(["--net", "sh", "-c", HOLD]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|error| format!("cannot run unshare: {error}"))?;
        let mut holder = Self(child);
        let mut line = String::new();
        if let Some(output) = holder.0.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        if line.trim() == "made" {
            return Ok(holder);
        }
        let mut said = String::new();
        if let Some(errors) = holder.0.stderr.as_mut() {
            errors.read_to_string(&mut said)?;
        }
        Err(format!("unshare: {}", first_line(&said)).into())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn inside(&self, program: &Path) -> Command {
        inside(self.pid(), program)
    }

    fn ip(&self, words: &str) -> Result<()> {
        run(self.inside(Path::new("ip")).args(words.split(' ')))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// A command that runs a program in the network namespace of a process.
fn inside(pid: u32, program: &Path) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/proc/{pid}/ns/net")).arg("--").arg(program);
    command
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output();
    let name = command_name(command);
    let Output { status, stderr, .. } =
        output.map_err(|error| format!("cannot run {name}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{name}: {}", first_line(&String::from_utf8_lossy(&stderr))).into()),
    }
}

fn command_name(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn first_line(said: &str) -> &str {
    said.lines().next().unwrap_or("no reason was given")
}

fn throttle_words(mbits: u32) -> Vec<String> {
    let rate = format!("{mbits}mbit");
    let words = ["qdisc", "replace", "dev", DEVICE, "root", "tbf", "rate", &rate, "burst", BURST];
    words.iter().chain(&["latency", QUEUE]).map(|word| (*word).to_owned()).collect()
}

fn free_words() -> Vec<String> {
    ["qdisc", "del", "dev", DEVICE, "root"].map(str::to_owned).to_vec()
}

/// The throttled link, seen from the near machine; at full speed again when dropped.
pub struct Throttle {
    far: u32,
}

impl Throttle {
    /// Throttles both directions of the link between this process's machine and that of the process `far` to so many
    /// million bits a second.
    pub fn start(mbits: u32, far: u32) -> Result<Self> {
        let throttle = Self { far };
        throttle.tc(&throttle_words(mbits))?;
        Ok(throttle)
    }

    fn tc(&self, words: &[String]) -> Result<()> {
        run(Command::new("tc").args(words))?;
        run(inside(self.far, Path::new("tc")).args(words))
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        if let Err(error) = self.tc(&free_words()) {
            eprintln!("the link stays throttled: {error}");
        }
    }
}

/// Bytes that this process's machine has received so far: over the link where there is one, else over the loopback device.
pub fn link_bytes() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/self/net/dev").ok()?;
    let of = |device: &str| {
        let mut lines = counts.lines();
        let counts = lines.find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'))?;
        counts.split_whitespace().next()?.parse().ok()
    };
    of(DEVICE).or_else(|| of("lo"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where no namespaces can be made, the reason is said with what to do.
    #[test]
    fn machines_reach_each_other_or_the_reason_is_said() {
        let machines = match Machines::start() {
            Ok(machines) => machines,
            Err(why) => return assert!(why.contains(ADVICE), "{why}"),
        };
        for (mut command, address) in
            [(machines.on_near(Path::new("ip")), FAR), (machines.on_far(Path::new("ip")), NEAR)]
        {
            let output = command.args(["route", "get", address]).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains(&format!("dev {DEVICE}")), "{said}");
        }
    }

    #[test]
    fn bytes_of_this_machine_are_counted() {
        assert!(link_bytes().is_some());
    }
}
