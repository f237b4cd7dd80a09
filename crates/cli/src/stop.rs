//! The signals that end a daemon in order.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Outcome;

/// A signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    Interrupt,
    Terminate,
    Hangup,
}

impl Cause {
    pub fn name(self) -> &'static str {
        match self {
            Cause::Interrupt => "SIGINT",
            Cause::Terminate => "SIGTERM",
            Cause::Hangup => "SIGHUP",
        }
    }

    /// The exit code that a shell would give to the signal.
    pub fn exit_code(self) -> i32 {
        match self {
            Cause::Hangup => 129,
            Cause::Interrupt => 130,
            Cause::Terminate => 143,
        }
    }
}

/// Waits for them.
pub struct Stop {
    interrupt: Signal,
    terminate: Signal,
    /// `None`: whoever started us does not want it to count (`nohup`).
    hangup: Option<Signal>,
}

impl Stop {
    pub fn new() -> Outcome<Stop> {
        let hangup = match hangup_is_ignored() {
            true => None,
            false => Some(signal(SignalKind::hangup())?),
        };
        let interrupt = signal(SignalKind::interrupt())?;
        let terminate = signal(SignalKind::terminate())?;
        Ok(Stop { interrupt, terminate, hangup })
    }

    pub async fn wait(&mut self) -> Cause {
        let hangup = async {
            match &mut self.hangup {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Cause::Interrupt,
            _ = self.terminate.recv() => Cause::Terminate,
            _ = hangup => Cause::Hangup,
        }
    }
}

/// As the kernel tells it: a set of bits, the first of which is signal 1.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0) & 1 == 1
}
