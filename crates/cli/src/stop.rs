//! The signals that end a daemon in order.

use std::time::Duration;
use zerohop_system::clock;

use procfs::process::Process;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::Outcome;

/// One event may send its signal more than once: a terminal that closes, and `timeout`, to the process
/// and to its group. Within this time it is still the same.
const SAME: Duration = Duration::from_millis(500);

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

/// Waits for them. `None`: whoever started us does not want that signal to count (`nohup`, or a shell
/// without job control and its background commands).
pub struct Stop {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
}

impl Stop {
    pub fn new() -> Outcome<Stop> {
        let ignored = ignored_signals();
        let listen = |kind: SignalKind| match is_in(ignored, kind) {
            true => Ok(None),
            false => signal(kind).map(Some),
        };
        let interrupt = listen(SignalKind::interrupt())?;
        let terminate = listen(SignalKind::terminate())?;
        let hangup = listen(SignalKind::hangup())?;
        Ok(Stop { interrupt, terminate, hangup })
    }

    pub async fn wait(&mut self) -> Cause {
        tokio::select! {
            () = next(&mut self.interrupt) => Cause::Interrupt,
            () = next(&mut self.terminate) => Cause::Terminate,
            () = next(&mut self.hangup) => Cause::Hangup,
        }
    }

    /// Lets things end in order, as long as that takes (a disk may hang), unless another signal comes:
    /// then `ending` goes on without being waited for, and the caller is to end the process.
    pub async fn unless_again(
        &mut self,
        ending: impl Future<Output = ()> + Send + 'static,
    ) -> Option<Cause> {
        ended_or_again(ending, async || self.wait().await).await
    }
}

async fn ended_or_again(
    ending: impl Future<Output = ()> + Send + 'static,
    mut signal: impl AsyncFnMut() -> Cause,
) -> Option<Cause> {
    let deaf_until = clock::now() + SAME;
    // A task of its own: dropped halfway it might wait as well.
    let mut ending = tokio::spawn(ending);
    loop {
        tokio::select! {
            biased;
            _ = &mut ending => return None,
            cause = signal() => if clock::now() >= deaf_until {
                return Some(cause);
            },
        }
    }
}

async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// As the kernel tells it: a set of bits, the first of which is signal 1.
fn ignored_signals() -> u64 {
    let status = Process::myself().and_then(|process| process.status());
    status.map_or(0, |status| status.sigign)
}

fn is_in(signals: u64, kind: SignalKind) -> bool {
    let bit = u32::try_from(kind.as_raw_value() - 1).unwrap_or(u32::MAX);
    signals.checked_shr(bit).unwrap_or(0) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An orderly end that waits for a hung disk could be ended by SIGKILL only.
    #[tokio::test]
    async fn another_signal_does_not_wait_for_an_orderly_end() {
        let never = async || std::future::pending().await;
        assert_eq!(ended_or_again(async {}, never).await, None);
        let start = clock::now();
        // The first ones count as one event with that before.
        let often = async || {
            tokio::time::sleep(SAME / 10).await;
            Cause::Terminate
        };
        let cause = ended_or_again(std::future::pending(), often).await;
        assert_eq!(cause, Some(Cause::Terminate));
        assert!(start.elapsed() >= SAME);
    }
}
