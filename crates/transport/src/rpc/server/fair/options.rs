//! The keys of fair scheduling.

use std::collections::HashSet;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};

const FAIR_QUEUE: &str = "org.apache.hadoop.ipc.FairCallQueue";
const PLAIN_QUEUE: &str = "java.util.concurrent.LinkedBlockingQueue";
const DECAY_SCHEDULER: &str = "org.apache.hadoop.ipc.DecayRpcScheduler";
const PLAIN_SCHEDULER: &str = "org.apache.hadoop.ipc.DefaultRpcScheduler";
const USER_IDENTITY: &str = "org.apache.hadoop.ipc.UserIdentityProvider";
const CALL_COST: &str = "org.apache.hadoop.ipc.DefaultCostProvider";

/// More than any cluster has use for.
const LEVELS_MAX: usize = 64;

/// How calls of a port are scheduled.
#[derive(Clone, Debug, PartialEq)]
pub struct FairOptions {
    /// Priorities, 0 the highest (`scheduler.priority.levels`).
    pub levels: usize,
    /// Calls taken from the queue of each priority before the next one's turn (`faircallqueue.multiplexer.weights`).
    pub weights: Vec<u32>,
    /// Parts of the capacity that the queues get (`callqueue.capacity.weights`).
    pub capacity_weights: Vec<u32>,
    /// Whether users get priorities by how much they call (`scheduler.impl`); else all have the highest.
    pub decays: bool,
    /// Time between two decays of the counts (`decay-scheduler.period-ms`).
    pub period: Duration,
    /// What is left of a count at each decay (`decay-scheduler.decay-factor`).
    pub factor: f64,
    /// Shares of all calls from which on a user has priority 1, 2, ... (`decay-scheduler.thresholds`, percent).
    pub thresholds: Vec<f64>,
    /// Users who always have the highest priority and do not count (`decay-scheduler.service-users`).
    pub service_users: HashSet<String>,
    /// Mean response times of a priority beyond which its calls are refused
    /// (`decay-scheduler.backoff.responsetime.thresholds`); empty if that is off.
    pub response_time_max: Vec<Duration>,
}

/// Reads `ipc.<port>.<name>`, else `ipc.<name>`.
struct Reader<'a> {
    conf: &'a Conf,
    port: u16,
}

impl Reader<'_> {
    fn find(&self, name: &str) -> Option<(String, String)> {
        let name = name.strip_prefix("ipc.").unwrap_or(name);
        let names = [format!("ipc.{}.{name}", self.port), format!("ipc.{name}")];
        // A default is no answer: what the other keys say comes before it.
        let mut set = names.into_iter().filter(|name| self.conf.is_set(name));
        set.find_map(|name| {
            let value = self.conf.get_raw(&name)?.trim().to_owned();
            (!value.is_empty()).then_some((name, value))
        })
    }

    /// A value, or that of the name it had before; none if it is not set.
    fn parsed<T>(
        &self,
        names: &[&str],
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, ConfError> {
        let Some((name, value)) = names.iter().find_map(|name| self.find(name)) else {
            return Ok(None);
        };
        match parse(&value) {
            Some(value) => Ok(Some(value)),
            None => Err(self.conf.misfit(&name, expected)),
        }
    }

    /// Refuses a class that is not here.
    fn class(
        &self,
        name: &str,
        known: &[&str],
        expected: &'static str,
    ) -> Result<String, ConfError> {
        let parse = |class: &str| known.contains(&class).then(|| class.to_owned());
        let class = self.parsed(&[name], expected, parse)?;
        Ok(class.unwrap_or_default())
    }

    fn switch(&self, name: &str) -> Result<bool, ConfError> {
        let parse = |text: &str| text.to_ascii_lowercase().parse().ok();
        Ok(self.parsed(&[name], "true or false", parse)?.unwrap_or(false))
    }
}

impl FairOptions {
    /// The options of a port; none where calls are not queued (`LinkedBlockingQueue`, the default).
    ///
    /// # Errors
    /// If a class is named that is not here, or a value does not fit.
    pub fn from_conf(conf: &Conf, port: u16) -> Result<Option<Self>, ConfError> {
        let reader = Reader { conf, port };
        let queue = reader.class(
            keys::IPC_CALLQUEUE_IMPL.name,
            &[FAIR_QUEUE, PLAIN_QUEUE],
            "org.apache.hadoop.ipc.FairCallQueue or java.util.concurrent.LinkedBlockingQueue",
        )?;
        let scheduler = reader.class(
            keys::IPC_SCHEDULER_IMPL.name,
            &[DECAY_SCHEDULER, PLAIN_SCHEDULER],
            "org.apache.hadoop.ipc.DecayRpcScheduler or org.apache.hadoop.ipc.DefaultRpcScheduler",
        )?;
        reader.class("identity-provider.impl", &[USER_IDENTITY], USER_IDENTITY)?;
        reader.class("cost-provider.impl", &[CALL_COST], CALL_COST)?;
        if queue != FAIR_QUEUE {
            if scheduler == DECAY_SCHEDULER {
                tracing::warn!(
                    "ipc.{port}.scheduler.impl has no effect without {FAIR_QUEUE} as ipc.{port}.callqueue.impl"
                );
            }
            return Ok(None);
        }
        let levels = reader
            .parsed(
                &["scheduler.priority.levels", "faircallqueue.priority-levels"],
                "a number from 1 to 64",
                |text| text.parse().ok().filter(|levels| (1..=LEVELS_MAX).contains(levels)),
            )?
            .unwrap_or(4);
        reader.fair(levels, scheduler != PLAIN_SCHEDULER).map(Some)
    }
}

impl Reader<'_> {
    fn fair(&self, levels: usize, decays: bool) -> Result<FairOptions, ConfError> {
        let weights = |name| {
            self.parsed(&[name], "a number above 0 for each priority", |text| {
                list(text, levels, |part| part.parse().ok().filter(|weight| *weight > 0))
            })
        };
        let halving = || (0..levels).rev().map(|level| 1 << level.min(30)).collect();
        let by_response_time = self.switch("decay-scheduler.backoff.responsetime.enable")?;
        let response_times = self.parsed(
            &["decay-scheduler.backoff.responsetime.thresholds"],
            "a time above 0 for each priority",
            |text| {
                list(text, levels, |part| {
                    let time = zerohop_conf::parse_duration(part, zerohop_conf::Unit::Millis);
                    time.filter(|time| !time.is_zero())
                })
            },
        )?;
        let response_times = response_times
            .unwrap_or_else(|| (1..=levels as u64).map(|n| Duration::from_secs(10 * n)).collect());
        Ok(FairOptions {
            levels,
            weights: weights("faircallqueue.multiplexer.weights")?.unwrap_or_else(halving),
            capacity_weights: weights("callqueue.capacity.weights")?
                .unwrap_or_else(|| vec![1; levels]),
            decays,
            period: self
                .parsed(
                    &["decay-scheduler.period-ms", "faircallqueue.decay-scheduler.period-ms"],
                    "a number above 0",
                    |text| text.parse().ok().filter(|ms| *ms > 0).map(Duration::from_millis),
                )?
                .unwrap_or(Duration::from_secs(5)),
            factor: self
                .parsed(
                    &["decay-scheduler.decay-factor", "faircallqueue.decay-scheduler.decay-factor"],
                    "a number between 0 and 1",
                    |text| text.parse().ok().filter(|factor| *factor > 0.0 && *factor < 1.0),
                )?
                .unwrap_or(0.5),
            thresholds: self
                .parsed(
                    &["decay-scheduler.thresholds", "faircallqueue.decay-scheduler.thresholds"],
                    "a percentage for each priority but the first",
                    |text| {
                        let percent = |part: &str| part.parse::<u32>().ok();
                        let percents = list(text, levels - 1, percent)?;
                        Some(percents.into_iter().map(|part| f64::from(part) / 100.0).collect())
                    },
                )?
                .unwrap_or_else(|| (1..levels).rev().map(|n| 0.5f64.powi(n as i32)).collect()),
            service_users: self
                .find("decay-scheduler.service-users")
                .map(|(_, users)| users.split(',').map(|user| user.trim().to_owned()).collect())
                .unwrap_or_default(),
            response_time_max: if by_response_time { response_times } else { Vec::new() },
        })
    }
}

/// Whether full queues refuse calls (`ipc.<port>.backoff.enable`).
pub(in crate::rpc::server) fn backoff(conf: &Conf, port: u16) -> Result<bool, ConfError> {
    Reader { conf, port }.switch(keys::IPC_BACKOFF_ENABLE.name)
}

/// Whether calls that are refused send their client to another server (`ipc.<port>.callqueue.overflow.trigger.failover`).
pub(in crate::rpc::server) fn fails_over(conf: &Conf, port: u16) -> Result<bool, ConfError> {
    Reader { conf, port }.switch(keys::IPC_CALLQUEUE_OVERFLOW_TRIGGER_FAILOVER.name)
}

/// As many values as are needed, with commas between them.
fn list<T>(text: &str, count: usize, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    let parts: Option<Vec<T>> = text.split(',').map(|part| parse(part.trim())).collect();
    parts.filter(|parts| parts.len() == count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(settings: &[(&str, &str)]) -> Result<Option<FairOptions>, ConfError> {
        let mut conf = Conf::new();
        settings.iter().for_each(|(name, value)| conf.set(name, *value));
        FairOptions::from_conf(&conf, 8020)
    }

    #[test]
    fn calls_are_queued_only_where_a_fair_queue_is_configured() {
        assert_eq!(options(&[]).unwrap(), None);
        assert_eq!(options(&[("ipc.8020.callqueue.impl", PLAIN_QUEUE)]).unwrap(), None);
        assert_eq!(options(&[("ipc.9000.callqueue.impl", FAIR_QUEUE)]).unwrap(), None);
        let found = options(&[("ipc.callqueue.impl", FAIR_QUEUE)]).unwrap().unwrap();
        assert_eq!((found.levels, &found.weights[..]), (4, &[8, 4, 2, 1][..]));
        assert_eq!(found.thresholds, [0.125, 0.25, 0.5]);
        assert!(found.decays && found.response_time_max.is_empty());
        assert_eq!((found.period, found.factor), (Duration::from_secs(5), 0.5));
    }

    #[test]
    fn the_key_of_the_port_comes_first_and_old_names_are_read() {
        let found = options(&[
            ("ipc.callqueue.impl", PLAIN_QUEUE),
            ("ipc.8020.callqueue.impl", FAIR_QUEUE),
            ("ipc.8020.faircallqueue.priority-levels", "2"),
            ("ipc.8020.faircallqueue.multiplexer.weights", "9, 1"),
            ("ipc.8020.faircallqueue.decay-scheduler.thresholds", "40"),
            ("ipc.8020.decay-scheduler.service-users", "hbase,yarn"),
            ("ipc.8020.decay-scheduler.backoff.responsetime.enable", "true"),
            ("ipc.8020.decay-scheduler.backoff.responsetime.thresholds", "1s,1500"),
        ]);
        let found = found.unwrap().unwrap();
        assert_eq!((found.levels, &found.weights[..]), (2, &[9, 1][..]));
        assert_eq!(found.thresholds, [0.4]);
        assert!(found.service_users.contains("yarn"));
        let times = [Duration::from_secs(1), Duration::from_millis(1500)];
        assert_eq!(found.response_time_max, times);
    }

    #[test]
    fn what_is_not_here_or_does_not_fit_is_refused() {
        for (name, value) in [
            ("ipc.8020.callqueue.impl", "com.example.Queue"),
            ("ipc.8020.scheduler.impl", "com.example.Scheduler"),
            ("ipc.8020.cost-provider.impl", "org.apache.hadoop.ipc.WeightedTimeCostProvider"),
            ("ipc.8020.scheduler.priority.levels", "0"),
            ("ipc.8020.faircallqueue.multiplexer.weights", "8,4,2"),
            ("ipc.8020.decay-scheduler.thresholds", "10,20"),
            ("ipc.8020.decay-scheduler.decay-factor", "1"),
            ("ipc.8020.decay-scheduler.period-ms", "0"),
        ] {
            let refused = options(&[("ipc.callqueue.impl", FAIR_QUEUE), (name, value)]);
            assert!(refused.unwrap_err().to_string().contains(name), "{name}");
        }
    }
}
