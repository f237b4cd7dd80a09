//! Waiting for a condition.

use std::time::{Duration, Instant};

use crate::Outcome;

/// Asks `condition` until it is `Ok(true)`; after `limit` the last answer becomes the error.
pub fn until(
    what: &str,
    limit: Duration,
    mut condition: impl FnMut() -> Outcome<bool>,
) -> Outcome<()> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(10);
    loop {
        let answer = condition();
        if answer == Ok(true) {
            return Ok(());
        }
        if start.elapsed() > limit {
            return Err(format!(
                "{what}: not within {} s (last answer {answer:?})",
                limit.as_secs()
            ));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}
