//! Priorities by how much each user called lately (`DecayRpcScheduler`).

use super::options::FairOptions;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Counts calls and response times; all of it decays as time passes.
pub(super) struct Scheduler {
    options: FairOptions,
    /// Calls of each user, those of long ago counting less.
    calls: HashMap<String, u64>,
    /// Sum of the above without the service users'.
    total: u64,
    /// Priorities as they were at the last decay; who is not among them is judged when he calls.
    levels: HashMap<String, usize>,
    /// Response times since the last decay, and the mean before it, by priority.
    times: Vec<ResponseTimes>,
    next_decay: Instant,
}

#[derive(Clone, Copy, Default)]
struct ResponseTimes {
    sum: Duration,
    count: u32,
    mean: Duration,
}

impl Scheduler {
    pub(super) fn new(options: FairOptions, now: Instant) -> Self {
        Self {
            calls: HashMap::new(),
            total: 0,
            levels: HashMap::new(),
            times: vec![ResponseTimes::default(); options.levels],
            next_decay: now + options.period,
            options,
        }
    }

    /// The priority of a user's next call, 0 the highest.
    pub(super) fn level(&mut self, user: &str, now: Instant) -> usize {
        if !self.options.decays {
            return 0;
        }
        self.decay_if_due(now);
        match self.levels.get(user) {
            Some(level) => *level,
            None => self.judge(user),
        }
    }

    /// Whether calls of a priority are refused because those that come first take too long already.
    pub(super) fn is_too_slow(&self, level: usize) -> bool {
        let limits = self.options.response_time_max.iter();
        limits.zip(&self.times).take(level + 1).any(|(limit, times)| times.mean > *limit)
    }

    /// Whether a priority is the lowest one.
    pub(super) fn is_lowest(&self, level: usize) -> bool {
        level + 1 == self.options.levels
    }

    /// A call was carried out.
    pub(super) fn count(&mut self, user: &str, level: usize, took: Duration) {
        if let Some(times) = self.times.get_mut(level) {
            times.sum += took;
            times.count += 1;
        }
        if !self.options.decays {
            return;
        }
        match self.calls.get_mut(user) {
            Some(calls) => *calls += 1,
            None => _ = self.calls.insert(user.to_owned(), 1),
        }
        self.total += u64::from(!self.is_service(user));
    }

    fn is_service(&self, user: &str) -> bool {
        self.options.service_users.contains(user)
    }

    fn judge(&self, user: &str) -> usize {
        if self.is_service(user) || self.total == 0 {
            return 0;
        }
        let calls = self.calls.get(user).copied().unwrap_or(0);
        let share = calls as f64 / self.total as f64;
        let reached = |limit: &f64| share >= *limit;
        self.options.thresholds.iter().rposition(reached).map_or(0, |at| at + 1)
    }

    fn decay_if_due(&mut self, now: Instant) {
        if now < self.next_decay {
            return;
        }
        let late = now.duration_since(self.next_decay).as_nanos() / self.options.period.as_nanos();
        self.next_decay = now + self.options.period;
        let factor = self.options.factor.powi(late.min(1000) as i32 + 1);
        self.calls.retain(|_, calls| {
            *calls = (*calls as f64 * factor) as u64;
            *calls > 0
        });
        let others = self.calls.iter().filter(|(user, _)| !self.is_service(user));
        self.total = others.map(|(_, calls)| calls).sum();
        self.levels = self.calls.keys().map(|user| (user.clone(), self.judge(user))).collect();
        for times in &mut self.times {
            let mean = times.sum.checked_div(times.count).unwrap_or_default();
            *times = ResponseTimes { mean, ..ResponseTimes::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_conf::Conf;

    fn scheduler(settings: &[(&str, &str)], now: Instant) -> Scheduler {
        let mut conf = Conf::new();
        conf.set("ipc.callqueue.impl", "org.apache.hadoop.ipc.FairCallQueue");
        settings.iter().for_each(|(name, value)| conf.set(name, *value));
        Scheduler::new(FairOptions::from_conf(&conf, 1).unwrap().unwrap(), now)
    }

    #[test]
    fn who_calls_much_gets_a_low_priority_until_he_calls_less() {
        let (start, period) = (Instant::now(), Duration::from_secs(5));
        let mut scheduler = scheduler(&[("ipc.decay-scheduler.service-users", "yarn")], start);
        for (user, calls) in [("heavy", 900), ("middle", 300), ("light", 10), ("yarn", 9000)] {
            (0..calls).for_each(|_| scheduler.count(user, 0, Duration::ZERO));
        }
        let mut levels = |now| {
            ["heavy", "middle", "light", "yarn", "new"].map(|user| scheduler.level(user, now))
        };
        assert_eq!(levels(start + period), [3, 1, 0, 0, 0]);
        // All counts are gone by then.
        assert_eq!(levels(start + 100 * period), [0; 5]);
    }

    #[test]
    fn calls_are_refused_while_those_before_them_take_too_long() {
        let (start, period) = (Instant::now(), Duration::from_secs(5));
        let settings = [
            ("ipc.decay-scheduler.backoff.responsetime.enable", "true"),
            ("ipc.decay-scheduler.backoff.responsetime.thresholds", "1s,2s,3s,4s"),
        ];
        let mut scheduler = scheduler(&settings, start);
        scheduler.count("a", 1, Duration::from_millis(2500));
        assert!(!scheduler.is_too_slow(3), "judged at the end of a period");
        scheduler.level("a", start + period);
        assert_eq!(
            [0, 1, 2, 3].map(|level| scheduler.is_too_slow(level)),
            [false, true, true, true]
        );
        scheduler.level("a", start + 2 * period);
        assert!(!scheduler.is_too_slow(3));
    }
}
