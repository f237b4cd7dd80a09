//! Means of the last hours, of one thing and of many by name (`MutableRollingAverages`).

use std::collections::{HashMap, VecDeque};

/// The length of a window, and how many of them count for peers: three hours, as with Apache.
const WINDOW_MS: u64 = 300_000;
const WINDOWS: u64 = 36;
/// Peers that are remembered. Who writes says where to: the names may be anything.
const KEYS_MAX: usize = 10_000;

struct Window {
    index: u64,
    sum_ms: f64,
    count: u64,
}

/// Sums of samples, by window.
#[derive(Default)]
pub(super) struct RollingMean(VecDeque<Window>);

impl RollingMean {
    /// Takes a sample, and forgets those that are older than so many windows.
    pub(super) fn add(&mut self, sample_ms: f64, now_ms: u64, windows: u64) {
        let index = now_ms / WINDOW_MS;
        if self.0.back().is_none_or(|last| last.index != index) {
            self.0.push_back(Window { index, sum_ms: 0.0, count: 0 });
        }
        if let Some(last) = self.0.back_mut() {
            last.sum_ms += sample_ms;
            last.count += 1;
        }
        self.forget_old(now_ms, windows);
    }

    /// The mean over so many windows; none with fewer samples than this.
    pub(super) fn mean(&mut self, samples_min: u64, now_ms: u64, windows: u64) -> Option<f64> {
        self.forget_old(now_ms, windows);
        let count: u64 = self.0.iter().map(|window| window.count).sum();
        let sum: f64 = self.0.iter().map(|window| window.sum_ms).sum();
        (count >= samples_min.max(1)).then(|| sum / count as f64)
    }

    fn forget_old(&mut self, now_ms: u64, windows: u64) {
        let oldest = (now_ms / WINDOW_MS).saturating_sub(windows.saturating_sub(1));
        while self.0.front().is_some_and(|first| first.index < oldest) {
            self.0.pop_front();
        }
    }
}

/// Means by name.
#[derive(Default)]
pub(super) struct RollingMeans {
    by_key: HashMap<String, RollingMean>,
}

impl RollingMeans {
    /// Takes a sample. One of a new name is dropped when there are too many names.
    pub(super) fn add(&mut self, key: &str, sample_ms: f64, now_ms: u64) {
        if !self.by_key.contains_key(key) {
            if self.by_key.len() >= KEYS_MAX {
                self.forget_old(now_ms);
            }
            if self.by_key.len() >= KEYS_MAX {
                return;
            }
            self.by_key.insert(key.to_owned(), RollingMean::default());
        }
        if let Some(mean) = self.by_key.get_mut(key) {
            mean.add(sample_ms, now_ms, WINDOWS);
        }
    }

    fn forget_old(&mut self, now_ms: u64) {
        self.by_key.retain(|_, mean| {
            mean.forget_old(now_ms, WINDOWS);
            !mean.0.is_empty()
        });
    }

    /// The means of those with at least so many samples.
    pub(super) fn means(&mut self, samples_min: u64, now_ms: u64) -> Vec<(String, f64)> {
        self.forget_old(now_ms);
        let means = self.by_key.iter_mut();
        let mean = |(key, mean): (&String, &mut RollingMean)| {
            Some((key.clone(), mean.mean(samples_min, now_ms, WINDOWS)?))
        };
        means.filter_map(mean).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_of_the_last_three_hours() {
        let mut means = RollingMeans::default();
        means.add("a", 100.0, 0);
        means.add("a", 10.0, WINDOW_MS);
        means.add("a", 20.0, WINDOW_MS);
        assert_eq!(means.means(3, WINDOW_MS), [("a".to_owned(), 130.0 / 3.0)]);
        assert_eq!(means.means(4, WINDOW_MS), []);
        assert_eq!(means.means(2, WINDOWS * WINDOW_MS), [("a".to_owned(), 15.0)]);
        assert_eq!(means.means(1, (WINDOWS + 1) * WINDOW_MS), []);
        assert!(means.by_key.is_empty(), "it is forgotten");
    }

    #[test]
    fn names_that_are_made_up_do_not_fill_the_memory() {
        let mut means = RollingMeans::default();
        (0..KEYS_MAX + 5).for_each(|key| means.add(&key.to_string(), 1.0, 0));
        assert_eq!(means.by_key.len(), KEYS_MAX);
        means.add("new", 1.0, WINDOWS * WINDOW_MS);
        assert_eq!(means.by_key.len(), 1);
    }
}
