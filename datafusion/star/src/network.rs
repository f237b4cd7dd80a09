//! A network namespace in which cluster and client share one link, the loopback device, that tc(8) can throttle. Sockets of
//! the Unix domain do not go over it.

use crate::failure::Result;
use std::path::Path;
use std::process::Command;

const DEVICE: &str = "lo";
/// What the link's queue holds, as a switch with a buffer of a megabyte at 1 Gbit/s does.
const QUEUE: &str = "10ms";
/// A few of the largest packets of the loopback device, of 64 KiB.
const BURST: &str = "256k";
/// Brings the loopback device of a new namespace up and becomes the program that follows.
const ENTER: &str = "ip link set lo up && exec \"$@\"";

/// Tries in a namespace of its own whether a link can be throttled.
///
/// # Errors
/// Why it cannot, and what to do.
pub fn can_be_throttled() -> Result<(), String> {
    let mut words = vec!["tc".to_owned()];
    words.extend(throttle_words(1000));
    let advice = "run it as root, with iproute2 and util-linux installed";
    let output = command_in_namespace(Path::new(&words[0])).args(&words[1..]).output();
    let output = output.map_err(|error| format!("cannot run unshare: {error}; {advice}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.lines().next().unwrap_or("no reason was given");
    Err(format!("a network namespace with a throttled link cannot be made: {said}; {advice}"))
}

/// A command that runs a program in a network namespace of its own, which ends with it.
pub fn command_in_namespace(program: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", ENTER, "sh"]).arg(program);
    command
}

fn throttle_words(mbits: u32) -> Vec<String> {
    let rate = format!("{mbits}mbit");
    let words = ["qdisc", "replace", "dev", DEVICE, "root", "tbf", "rate", &rate, "burst", BURST];
    words.iter().chain(&["latency", QUEUE]).map(|word| (*word).to_owned()).collect()
}

/// The throttled link; at full speed again when dropped.
pub struct Throttle(());

impl Throttle {
    /// Throttles the link of this process's namespace to so many million bits a second.
    pub fn start(mbits: u32) -> Result<Self> {
        tc(&throttle_words(mbits))?;
        Ok(Self(()))
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let words = ["qdisc", "del", "dev", DEVICE, "root"].map(str::to_owned);
        if let Err(error) = tc(&words) {
            eprintln!("the link stays throttled: {error}");
        }
    }
}

fn tc(words: &[String]) -> Result<()> {
    let output = Command::new("tc").args(words).output();
    let output = output.map_err(|error| format!("cannot run tc: {error}; install iproute2"))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            Err(format!("tc {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr))
                .into())
        }
    }
}

/// Bytes that went over the loopback device of this process's namespace so far.
pub fn link_bytes() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/self/net/dev").ok()?;
    let device =
        |line: &str| line.trim().strip_prefix(DEVICE)?.strip_prefix(':').map(str::to_owned);
    counts.lines().find_map(device)?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_over_the_link_are_counted() {
        let before = link_bytes().unwrap();
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.send_to(&[0; 1000], socket.local_addr().unwrap()).unwrap();
        assert!(link_bytes().unwrap() >= before + 1000);
    }
}
