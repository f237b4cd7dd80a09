//! Single calls of a writer that take long (`dfs.datanode.slow.io.warning.threshold.ms`), each with what it waited for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use zerohop_daemon::log_limiter::LogLimiter;

/// What a writer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlowCall {
    /// The next DataNode of the pipeline takes packets.
    WriteToMirror,
    /// Data and checksums go into their files.
    WriteToDisk,
    /// Files are forced to the disk.
    FlushOrSync,
    /// The client, or the DataNode before this one, takes acknowledgements.
    AckToUpstream,
}

impl SlowCall {
    const COUNT: usize = 4;

    /// As Apache's lines begin.
    fn text(self) -> &'static str {
        match self {
            Self::WriteToMirror => "Slow BlockReceiver write packet to mirror took",
            Self::WriteToDisk => "Slow BlockReceiver write data to disk cost:",
            Self::FlushOrSync => "Slow flushOrSync took",
            Self::AckToUpstream => "Slow PacketResponder send ack to upstream took",
        }
    }
}

/// Warns of the long calls for the replicas of one volume. A disk that hangs has a thousand writers wait: of each kind of call there
/// is a line in ten seconds, with the number of those before it.
#[derive(Debug)]
pub(crate) struct SlowCalls {
    threshold: Duration,
    kinds: [Kind; SlowCall::COUNT],
}

#[derive(Debug, Default)]
struct Kind {
    count: AtomicU64,
    /// Since the last line.
    untold: AtomicU64,
    limiter: LogLimiter,
}

impl SlowCalls {
    pub(crate) fn new(threshold: Duration) -> Self {
        Self { threshold, kinds: Default::default() }
    }

    /// A call took so long; `about` says what it was for.
    pub(crate) fn note(&self, call: SlowCall, took: Duration, about: impl FnOnce() -> String) {
        if took <= self.threshold {
            return;
        }
        if let Some(line) = self.line(call, took, about) {
            tracing::warn!("{line}");
        }
    }

    fn line(
        &self,
        call: SlowCall,
        took: Duration,
        about: impl FnOnce() -> String,
    ) -> Option<String> {
        let kind = self.kinds.get(call as usize)?;
        kind.count.fetch_add(1, Ordering::Relaxed);
        if !kind.limiter.allow() {
            kind.untold.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let untold = match kind.untold.swap(0, Ordering::Relaxed) {
            0 => String::new(),
            count => format!("; {count} more since the last such line"),
        };
        let threshold = self.threshold.as_millis();
        Some(format!(
            "{} {}ms (threshold={threshold}ms), {}{untold}",
            call.text(),
            took.as_millis(),
            about()
        ))
    }

    /// How many calls of a kind were slow.
    pub(crate) fn count(&self, call: SlowCall) -> u64 {
        self.kinds.get(call as usize).map_or(0, |kind| kind.count.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_call_is_told_with_its_threshold_and_others_are_counted() {
        let slow = SlowCalls::new(Duration::from_millis(300));
        let line =
            |call, ms| slow.line(call, Duration::from_millis(ms), || "volume=/d1".to_owned());
        slow.note(SlowCall::WriteToDisk, Duration::from_millis(300), || unreachable!());
        assert_eq!(slow.count(SlowCall::WriteToDisk), 0);
        assert_eq!(
            line(SlowCall::WriteToDisk, 512).unwrap(),
            "Slow BlockReceiver write data to disk cost: 512ms (threshold=300ms), volume=/d1"
        );
        assert_eq!(line(SlowCall::WriteToDisk, 400), None);
        assert!(
            line(SlowCall::FlushOrSync, 301).unwrap().starts_with("Slow flushOrSync took 301ms")
        );
        assert_eq!((slow.count(SlowCall::WriteToDisk), slow.count(SlowCall::FlushOrSync)), (2, 1));
    }
}
