//! Which directories operations are about lately.

use crate::top_users::RollingCount;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Directories that are told apart.
const DIRECTORIES_MAX: usize = 4096;
/// Of the ten spans that a count is over: five minutes in all.
const BUCKET_MS: u64 = 30_000;

/// Counts operations by the directory that holds what they are about.
#[derive(Default)]
pub(crate) struct HotDirectories(Mutex<HashMap<Box<str>, RollingCount>>);

impl HotDirectories {
    /// How far back the counts go.
    pub(crate) const WINDOW_MS: u64 = 10 * BUCKET_MS;

    /// Counts an operation on a path; `now_ms` is of the steady clock.
    pub(crate) fn count(&self, path: &str, now_ms: u64) {
        let directory = match path.rsplit_once('/') {
            Some(("", _)) => "/",
            Some((directory, _)) => directory,
            None => return,
        };
        let mut counts = self.0.lock();
        if let Some(count) = counts.get_mut(directory) {
            return count.add(now_ms, BUCKET_MS);
        }
        if counts.len() >= DIRECTORIES_MAX {
            let total: u64 = counts.values().map(|count| count.sum(now_ms, BUCKET_MS)).sum();
            let usual = total / counts.len() as u64;
            counts.retain(|_, count| count.sum(now_ms, BUCKET_MS) > usual);
        }
        let mut count = RollingCount::default();
        count.add(now_ms, BUCKET_MS);
        counts.insert(directory.into(), count);
    }

    /// The directories with the most operations in the last five minutes, the first of them first.
    pub(crate) fn hottest(&self, max: usize, now_ms: u64) -> Vec<(String, u64)> {
        let counts = self.0.lock();
        let mut found: Vec<(String, u64)> = counts
            .iter()
            .map(|(directory, count)| (directory.to_string(), count.sum(now_ms, BUCKET_MS)))
            .filter(|(_, count)| *count > 0)
            .collect();
        found.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
        found.truncate(max);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_that_are_asked_once_do_not_drive_out_the_hot_one() {
        let hot = HotDirectories::default();
        for number in 0..100 {
            hot.count(&format!("/hot/{number}"), 0);
        }
        for number in 0..3 * DIRECTORIES_MAX {
            hot.count(&format!("/cold{number}/x"), 10);
        }
        hot.count("/top", 10);
        hot.count("no path", 10);
        assert_eq!(hot.hottest(1, 20), [("/hot".to_owned(), 100)]);
        assert!(hot.0.lock().len() <= DIRECTORIES_MAX);
        assert!(hot.hottest(10, 400_000).is_empty());
    }
}
