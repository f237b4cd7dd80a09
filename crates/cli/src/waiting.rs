//! What a command waits for, on standard error once it has waited for a second.

use std::fmt::{Debug, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use zerohop_system::clock;

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

/// Shorter waits are not reported.
const SILENT: Duration = Duration::from_secs(1);

/// Prints the waits reported to [`WAITS`](zerohop_transport::waits::WAITS).
#[derive(Default)]
pub struct Waiting {
    row: Mutex<Option<Row>>,
}

/// Waits one after another.
struct Row {
    begin: Instant,
    /// When the last of them ends.
    end: Instant,
}

impl Waiting {
    /// Whether a wait of so long, beginning now, is worth a line.
    fn is_long(&self, now: Instant, wait: Duration) -> bool {
        let mut row = self.row.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = match &*row {
            Some(row) if now.saturating_duration_since(row.end) < SILENT => row.begin,
            _ => now,
        };
        let end = now + wait;
        *row = Some(Row { begin, end });
        end.saturating_duration_since(begin) > SILENT
    }
}

impl<S: Subscriber> Layer<S> for Waiting {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut wait = Wait::default();
        event.record(&mut wait);
        if self.is_long(clock::now(), Duration::from_millis(wait.ms)) {
            noteln!("{}", wait.text);
        }
    }
}

#[derive(Default)]
struct Wait {
    text: String,
    ms: u64,
}

impl Visit for Wait {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "wait_ms" {
            self.ms = value;
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            let _ = write!(self.text, "{value:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_more_than_a_second_is_told() {
        let waiting = Waiting::default();
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        assert!(!waiting.is_long(start, second));
        assert!(waiting.is_long(start + second, second));
        // Another wait, long after: its own first second is silent again.
        let later = start + 60 * second;
        assert!(!waiting.is_long(later, second / 2));
        assert!(!waiting.is_long(later + second / 2, second / 2));
        assert!(waiting.is_long(later + second, second / 2));
        assert!(waiting.is_long(later + 60 * second, 3 * second));
    }
}
