//! Log lines that say the same again and again.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// Between two lines about the same.
const EVERY: Duration = Duration::from_secs(10);

/// Lets a line through now and then: what fails many times a second must not fill the disk.
#[derive(Debug, Default)]
pub struct Rarely {
    last: Mutex<Option<Instant>>,
}

impl Rarely {
    /// Whether a line is due: at once, then every ten seconds.
    pub fn is_due(&self) -> bool {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&self, now: Instant) -> bool {
        let mut last = self.last.lock();
        let due = last.is_none_or(|last| now.saturating_duration_since(last) >= EVERY);
        if due {
            *last = Some(now);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_in_ten_seconds() {
        let (lines, start) = (Rarely::default(), Instant::now());
        let at = |ms| lines.is_due_at(start + Duration::from_millis(ms));
        assert_eq!(
            [0, 5, 9_999, 10_000, 19_000, 20_001].map(at),
            [true, false, false, true, false, true]
        );
    }
}
