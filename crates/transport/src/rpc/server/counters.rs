//! What a server counts besides its calls.

use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};
use zerohop_daemon::metrics::Counter;
use zerohop_system::clock;

/// A rate of requests is one over at least this time (`ipc.server.metrics.update.runner.interval`).
const RATE_PERIOD: Duration = Duration::from_secs(5);

/// What a server counts besides its calls.
#[derive(Debug, Default)]
pub(super) struct ServerCounters {
    /// Connections that are open.
    pub(super) connections: AtomicUsize,
    /// Calls that wait for their [`Reply::Later`](super::Reply::Later).
    pub(super) waiting: AtomicUsize,
    /// Connections that were not taken, or closed because their client kept the server waiting.
    pub(super) dropped_connections: Counter,
    pub(super) authentication_failures: Counter,
    pub(super) authentication_successes: Counter,
    pub(super) authorization_failures: Counter,
    pub(super) authorization_successes: Counter,
    /// Calls that were told to come back later.
    pub(super) backoff: Counter,
    /// Those of them whose connection was closed.
    pub(super) backoff_disconnected: Counter,
    users: Mutex<HashMap<Arc<str>, usize>>,
    methods: Mutex<BTreeSet<&'static str>>,
    rate: Mutex<Option<RateSample>>,
}

#[derive(Clone, Copy, Debug)]
struct RateSample {
    at: Instant,
    count: u64,
    per_second: u64,
}

impl ServerCounters {
    /// These methods are shown before their first call.
    pub(super) fn know_methods(&self, methods: Vec<&'static str>) {
        self.methods.lock().extend(methods);
    }

    /// The methods that are shown before their first call.
    pub(super) fn known_methods(&self) -> BTreeSet<&'static str> {
        self.methods.lock().clone()
    }

    /// A connection is one of this user until what this returns is dropped.
    pub(super) fn count_connection(self: &Arc<Self>, user: &Arc<str>) -> UserConnection {
        *self.users.lock().entry(Arc::clone(user)).or_default() += 1;
        UserConnection { counters: Arc::clone(self), user: Arc::clone(user) }
    }

    /// Open connections by user, in order of name.
    pub(super) fn connections_by_user(&self) -> Vec<(Arc<str>, usize)> {
        let users = self.users.lock();
        let mut found: Vec<_> =
            users.iter().map(|(user, count)| (Arc::clone(user), *count)).collect();
        found.sort();
        found
    }

    /// Requests each second since the last look that is long enough ago; `count` is how many there were ever.
    pub(super) fn requests_per_second(&self, count: u64) -> u64 {
        let now = clock::now();
        let mut rate = self.rate.lock();
        let last = *rate.get_or_insert(RateSample { at: now, count, per_second: 0 });
        let passed = now.saturating_duration_since(last.at);
        if passed < RATE_PERIOD {
            return last.per_second;
        }
        let per_second = (count.saturating_sub(last.count) as f64 / passed.as_secs_f64()) as u64;
        *rate = Some(RateSample { at: now, count, per_second });
        per_second
    }
}

/// An open connection of a user.
#[derive(Debug)]
pub(super) struct UserConnection {
    counters: Arc<ServerCounters>,
    user: Arc<str>,
}

impl Drop for UserConnection {
    fn drop(&mut self) {
        let mut users = self.counters.users.lock();
        if let Some(count) = users.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                users.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_counted_by_user_while_they_are_open() {
        let counters = Arc::<ServerCounters>::default();
        let (ann, bob) = (Arc::<str>::from("ann"), Arc::<str>::from("bob"));
        let open = [&ann, &bob, &ann].map(|user| counters.count_connection(user));
        assert_eq!(counters.connections_by_user(), [(ann, 2), (bob, 1)]);
        drop(open);
        assert!(counters.connections_by_user().is_empty());
    }
}
