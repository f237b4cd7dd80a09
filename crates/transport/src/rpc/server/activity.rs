//! What the calls of a server do: which are running, how often each method was called and how long it took.

use super::counters::ServerCounters;
use super::slow_calls::{CallTimes, SlowCallSettings};
use crate::trace;
use bytes::Bytes;
use parking_lot::Mutex;
use std::cell::Cell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tracing::Span;
use zerohop_daemon::metrics::{IntervalMean, Intervals, QuantilesOverTime};
use zerohop_system::clock;
use zerohop_wire::{CallerIdentity, RemoteException};

/// Connections share the counters of few others, so that calls seldom wait for each other here.
const SHARDS: usize = 16;
/// Methods that are told apart; names come from clients.
const METHODS_MAX: usize = 256;
/// The name for the others.
const OTHERS: &str = "otherMethods";

thread_local! {
    /// How long the call that this thread is carrying out has waited for locks, in nanoseconds.
    static LOCK_WAIT_NS: Cell<u64> = const { Cell::new(0) };
}

/// Says that the call that this thread is carrying out has waited for a lock.
pub fn note_lock_wait(waited: Duration) {
    let waited = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
    LOCK_WAIT_NS.with(|total| total.set(total.get().saturating_add(waited)));
}

fn take_lock_wait() -> Duration {
    Duration::from_nanos(LOCK_WAIT_NS.with(Cell::take))
}

/// Tells how many calls wait for a handler.
pub(super) type QueueLength = Box<dyn Fn() -> usize + Send + Sync>;

/// The calls of one server.
pub struct CallActivity {
    shards: [Mutex<Shard>; SHARDS],
    slow: SlowCallSettings,
    slow_calls: AtomicU64,
    successes: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
    counters: Arc<ServerCounters>,
    quantiles: CallQuantiles,
    /// Where calls are scheduled: those that wait for a handler.
    queue_length: Option<QueueLength>,
}

/// Percentiles of the times of calls, in milliseconds (`rpc.metrics.quantile.enable`).
#[derive(Debug)]
pub(super) struct CallQuantiles {
    pub(super) queue: QuantilesOverTime,
    pub(super) lock: QuantilesOverTime,
    pub(super) processing: QuantilesOverTime,
}

impl CallQuantiles {
    fn new(intervals: &Intervals) -> Self {
        let [queue, lock, processing] = [(); 3].map(|()| QuantilesOverTime::new(intervals));
        Self { queue, lock, processing }
    }

    fn add(&self, queue: Duration, lock: Duration, processing: Duration) {
        for (quantiles, took) in
            [(&self.queue, queue), (&self.lock, lock), (&self.processing, processing)]
        {
            quantiles.add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
        }
    }
}

#[derive(Default)]
struct Shard {
    running: HashMap<u64, Running>,
    next: u64,
    methods: HashMap<Arc<str>, MethodTimes>,
    /// Calls that were refused or failed, by the name of the exception.
    failures: HashMap<Arc<str>, MethodTimes>,
    queue: IntervalMean,
    lock: IntervalMean,
    processing: IntervalMean,
    /// Sums of the processing times and of their squares, in milliseconds, for what is slow.
    sum_ms: f64,
    squares_ms: f64,
}

struct Running {
    method: Arc<str>,
    identity: CallerIdentity,
    remote: SocketAddr,
    begun: Instant,
    /// The trace that the client says the call belongs to.
    trace_id: Option<Arc<str>>,
}

/// The calls of one method.
#[derive(Clone, Copy, Debug, Default)]
pub struct MethodTimes {
    /// How many have ended.
    pub count: u64,
    /// How long all of them took.
    pub total: Duration,
    interval: IntervalMean,
    /// From the arrival on.
    overall: IntervalMean,
}

impl MethodTimes {
    /// Milliseconds that a call took lately.
    pub fn mean_ms(&self, now: Instant) -> f64 {
        self.interval.mean(now)
    }

    /// The same with the wait for a thread.
    pub(super) fn overall_mean_ms(&self, now: Instant) -> f64 {
        self.overall.mean(now)
    }

    fn add(&mut self, now: Instant, processing: Duration, overall: Duration) {
        self.count += 1;
        self.total += processing;
        self.interval.add(now, ms(processing));
        self.overall.add(now, ms(overall));
    }

    fn merge(&mut self, other: &Self, now: Instant) {
        self.count += other.count;
        self.total += other.total;
        self.interval.merge(&other.interval, now);
        self.overall.merge(&other.overall, now);
    }
}

/// A call that has no answer yet.
#[derive(Clone, Debug)]
pub struct RunningCallInfo {
    /// Its method.
    pub method: Arc<str>,
    /// Who calls.
    pub identity: CallerIdentity,
    /// From where.
    pub remote: SocketAddr,
    /// For how long.
    pub age: Duration,
}

/// Figures of all calls of a server.
#[derive(Clone, Debug, Default)]
pub struct ActivityFigures {
    /// Calls that have arrived.
    pub begun: u64,
    /// Those that have no answer yet.
    pub running: usize,
    /// Calls that have ended.
    pub count: u64,
    /// Those that were carried out.
    pub successes: u64,
    /// Milliseconds that calls waited for a thread lately.
    pub queue_ms: f64,
    /// Milliseconds that they waited for locks lately.
    pub lock_ms: f64,
    /// Milliseconds from then to their answer.
    pub processing_ms: f64,
    /// Calls that took far longer than others.
    pub slow: u64,
    /// Bytes of requests.
    pub received: u64,
    /// Bytes of answers.
    pub sent: u64,
    /// By method, in order of name.
    pub methods: Vec<(Arc<str>, MethodTimes)>,
    /// Those that failed, by the exception's name.
    pub failures: Vec<(Arc<str>, MethodTimes)>,
}

impl CallActivity {
    pub(super) fn new(
        slow: SlowCallSettings,
        intervals: &Intervals,
        counters: Arc<ServerCounters>,
        queue_length: Option<QueueLength>,
    ) -> Self {
        Self {
            shards: Default::default(),
            slow,
            slow_calls: AtomicU64::new(0),
            successes: AtomicU64::new(0),
            received: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            counters,
            quantiles: CallQuantiles::new(intervals),
            queue_length,
        }
    }

    pub(super) fn counters(&self) -> &ServerCounters {
        &self.counters
    }

    pub(super) fn quantiles(&self) -> &CallQuantiles {
        &self.quantiles
    }

    /// Calls that wait for a handler.
    pub(super) fn queue_length(&self) -> usize {
        self.queue_length.as_ref().map_or(0, |length| length())
    }

    /// A call begins; it ends, and its span does, when what this returns is dropped.
    pub(super) fn begin(
        self: &Arc<Self>,
        method: &str,
        identity: &CallerIdentity,
        (remote, trace_id): (SocketAddr, Option<Arc<str>>),
        request_len: usize,
        span: Span,
    ) -> Arc<RunningCall> {
        self.received.fetch_add(request_len as u64, Ordering::Relaxed);
        let begun = clock::now();
        let shard = usize::from(remote.port()) % SHARDS;
        let id = self.shards.get(shard).map_or(0, |shard| {
            let mut shard = shard.lock();
            let method = shard.method(method);
            let id = shard.next;
            shard.next += 1;
            let identity = identity.clone();
            shard.running.insert(id, Running { method, identity, remote, begun, trace_id });
            id
        });
        take_lock_wait();
        Arc::new(RunningCall {
            activity: Arc::clone(self),
            shard,
            id,
            times: Mutex::new(CallTimes::begin(begun)),
            failure: OnceLock::new(),
            span,
        })
    }

    pub(super) fn count_sent(&self, len: usize) {
        self.sent.fetch_add(len as u64, Ordering::Relaxed);
    }

    fn end(&self, shard: usize, id: u64, times: CallTimes, failure: Option<Arc<str>>) {
        let now = clock::now();
        let Some(shard) = self.shards.get(shard) else { return };
        let mut shard = shard.lock();
        let Some(call) = shard.running.remove(&id) else { return };
        let processing = now.saturating_duration_since(times.started);
        let overall = processing + times.queued();
        shard.queue.add(now, ms(times.queued()));
        shard.lock.add(now, ms(times.locked));
        shard.processing.add(now, ms(processing));
        shard.sum_ms += ms(processing);
        shard.squares_ms += ms(processing) * ms(processing);
        let (count, sum, squares) = (shard.processing.count(), shard.sum_ms, shard.squares_ms);
        if let Some(method) = shard.methods.get_mut(&call.method) {
            method.add(now, processing, overall);
        }
        if let Some(exception) = failure {
            shard.failures.entry(exception).or_default().add(now, processing, overall);
        }
        drop(shard);
        self.quantiles.add(times.queued(), times.locked, processing);
        if self.slow.is_slow(processing, count, sum, squares) {
            self.slow_calls.fetch_add(1, Ordering::Relaxed);
            let (method, user) = (&call.method, call.identity.user());
            let spent = times.spent_until(now);
            let trace = call.trace_id.map_or_else(String::new, |id| format!("; trace {id}"));
            tracing::warn!(
                "Slow RPC : {method} of {user} from {} took {spent}{trace}",
                call.remote
            );
        }
    }

    /// The calls that have no answer yet, the oldest first.
    pub fn running(&self) -> Vec<RunningCallInfo> {
        let now = clock::now();
        let mut found = Vec::new();
        for shard in &self.shards {
            found.extend(shard.lock().running.values().map(|call| RunningCallInfo {
                method: Arc::clone(&call.method),
                identity: call.identity.clone(),
                remote: call.remote,
                age: now.saturating_duration_since(call.begun),
            }));
        }
        found.sort_by_key(|call| std::cmp::Reverse(call.age));
        found
    }

    /// What has been counted.
    pub fn figures(&self) -> ActivityFigures {
        let now = clock::now();
        let (mut methods, mut failures) = (HashMap::new(), HashMap::new());
        let (mut begun, mut running) = (0, 0);
        let (mut queue, mut lock, mut processing) =
            (IntervalMean::default(), IntervalMean::default(), IntervalMean::default());
        for shard in &self.shards {
            let shard = shard.lock();
            queue.merge(&shard.queue, now);
            lock.merge(&shard.lock, now);
            processing.merge(&shard.processing, now);
            begun += shard.next;
            running += shard.running.len();
            merge(&mut methods, &shard.methods, now);
            merge(&mut failures, &shard.failures, now);
        }
        ActivityFigures {
            begun,
            running,
            count: processing.count(),
            successes: self.successes.load(Ordering::Relaxed),
            queue_ms: queue.mean(now),
            lock_ms: lock.mean(now),
            processing_ms: processing.mean(now),
            slow: self.slow_calls.load(Ordering::Relaxed),
            received: self.received.load(Ordering::Relaxed),
            sent: self.sent.load(Ordering::Relaxed),
            methods: sorted(methods),
            failures: sorted(failures),
        }
    }
}

type ByName = HashMap<Arc<str>, MethodTimes>;

fn merge(all: &mut ByName, shard: &ByName, now: Instant) {
    for (name, times) in shard {
        all.entry(Arc::clone(name)).or_default().merge(times, now);
    }
}

fn sorted(all: ByName) -> Vec<(Arc<str>, MethodTimes)> {
    let mut found: Vec<_> = all.into_iter().filter(|(_, times)| times.count > 0).collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

impl Shard {
    /// The name as it is kept; that of all others where there are too many.
    fn method(&mut self, name: &str) -> Arc<str> {
        if let Some((known, _)) = self.methods.get_key_value(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = if self.methods.len() < METHODS_MAX { name } else { OTHERS }.into();
        self.methods.entry(Arc::clone(&name)).or_default();
        name
    }
}

/// A call, until it is answered.
pub(super) struct RunningCall {
    activity: Arc<CallActivity>,
    shard: usize,
    id: u64,
    times: Mutex<CallTimes>,
    /// The name of the exception that it was answered with.
    failure: OnceLock<Arc<str>>,
    span: Span,
}

impl RunningCall {
    /// A thread has taken the call from the queue.
    pub(super) fn started(&self) {
        take_lock_wait();
        self.times.lock().started = clock::now();
    }

    /// What is done for the call is within it.
    pub(super) fn span(&self) -> &Span {
        &self.span
    }

    /// This is the answer.
    pub(super) fn answered(&self, answer: &Result<Bytes, RemoteException>) {
        match answer {
            Ok(_) => _ = self.activity.successes.fetch_add(1, Ordering::Relaxed),
            Err(exception) => {
                trace::record_failure(&self.span, exception);
                _ = self.failure.set(simple_name(&exception.class).into());
            }
        }
    }

    /// The service has answered, or has promised to.
    pub(super) fn served(&self) {
        let mut times = self.times.lock();
        times.locked = take_lock_wait();
        times.served = Some(clock::now());
    }
}

impl std::fmt::Debug for RunningCall {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "RunningCall({})", self.id)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let times = *self.times.get_mut();
        self.activity.end(self.shard, self.id, times, self.failure.take());
    }
}

/// The name of a Java class without its package and outer class.
fn simple_name(class: &str) -> &str {
    class.rsplit(['.', '$']).next().unwrap_or(class)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::rpc::server) fn activity() -> Arc<CallActivity> {
        let (slow, intervals) = (SlowCallSettings::default(), Intervals::default());
        Arc::new(CallActivity::new(slow, &intervals, Arc::default(), None))
    }

    #[test]
    fn a_call_runs_until_its_last_holder_drops_it() {
        let activity = activity();
        let user = CallerIdentity::simple("ann", None);
        let remote = SocketAddr::from(([127, 0, 0, 1], 7));
        let call = activity.begin("create", &user, (remote, None), 10, Span::none());
        let same = Arc::clone(&call);
        call.served();
        drop(call);
        let running = activity.running();
        assert_eq!((running.len(), &*running[0].method), (1, "create"));
        drop(same);
        assert!(activity.running().is_empty());
        let figures = activity.figures();
        assert_eq!((figures.count, figures.received, figures.methods.len()), (1, 10, 1));
    }

    #[test]
    fn names_of_methods_that_clients_make_up_are_few() {
        let activity = activity();
        let user = CallerIdentity::simple("eve", None);
        let remote = SocketAddr::from(([127, 0, 0, 1], 7));
        for number in 0..METHODS_MAX + 50 {
            drop(activity.begin(&format!("m{number}"), &user, (remote, None), 0, Span::none()));
        }
        let figures = activity.figures();
        assert_eq!(figures.methods.len(), METHODS_MAX + 1);
        assert_eq!(figures.count, (METHODS_MAX + 50) as u64);
    }

    #[test]
    fn waits_for_locks_belong_to_the_call_of_the_thread() {
        let activity = activity();
        let user = CallerIdentity::simple("ann", None);
        let remote = SocketAddr::from(([127, 0, 0, 1], 7));
        note_lock_wait(Duration::from_secs(9));
        let call = activity.begin("create", &user, (remote, None), 0, Span::none());
        note_lock_wait(Duration::from_millis(30));
        call.served();
        drop(call);
        let lock_ms = activity.figures().lock_ms;
        assert!((29.0..31.0).contains(&lock_ms), "{lock_ms}");
    }
}
