//! What to do about a call that failed (`RetryPolicies`). Written out because Hadoop's rules choose the wait
//! by the exception and by how many of the tries led to another NameNode; a library's back-off knows neither.

use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_transport::rpc::RpcError;
use zerohop_wire::JavaException;

/// What to do about a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Return the error to the caller.
    Fail,
    /// Ask the same NameNode after a wait.
    Retry(Duration),
    /// Ask the next NameNode after a wait.
    FailOver(Duration),
}

/// How often a call was tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tries {
    /// All times it failed.
    pub(super) retries: u32,
    /// Of those, the ones that led to another NameNode.
    pub(super) failovers: u32,
}

/// Which NameNode is asked again after a failure, and when.
#[derive(Clone, Debug)]
pub(super) enum Policy {
    /// One NameNode: the first error is the answer, unless waits are configured.
    Single(Vec<Duration>),
    /// Several NameNodes.
    FailOver { failovers_max: u32, retries_max: u32, sleep_base: Duration, sleep_max: Duration },
}

impl Policy {
    pub(super) fn from_conf(conf: &Conf, has_failover: bool) -> Result<Self, ConfError> {
        let count = |key| conf.get(key).map(|n: i32| u32::try_from(n).unwrap_or(0));
        if has_failover {
            return Ok(Self::FailOver {
                failovers_max: count(&keys::DFS_CLIENT_FAILOVER_MAX_ATTEMPTS)?,
                retries_max: count(&keys::DFS_CLIENT_RETRY_MAX_ATTEMPTS)?,
                sleep_base: conf.get(&keys::DFS_CLIENT_FAILOVER_SLEEP_BASE_MILLIS)?,
                sleep_max: conf.get(&keys::DFS_CLIENT_FAILOVER_SLEEP_MAX_MILLIS)?,
            });
        }
        if !conf.get(&keys::DFS_CLIENT_RETRY_POLICY_ENABLED)? {
            return Ok(Self::Single(Vec::new()));
        }
        Ok(Self::Single(waits(&conf.get(&keys::DFS_CLIENT_RETRY_POLICY_SPEC)?)))
    }

    /// `random` is from 0 to 1: waits differ so that clients do not come back all at once.
    pub(super) fn decide(&self, error: &RpcError, tries: Tries, random: f64) -> Decision {
        match self {
            Self::Single(waits) => decide_single(waits, error, tries, random),
            Self::FailOver { failovers_max, retries_max, sleep_base, sleep_max } => {
                let spent = tries.failovers >= *failovers_max
                    || tries.retries.saturating_sub(tries.failovers) > *retries_max;
                if spent {
                    return Decision::Fail;
                }
                let wait = |n| exponential(*sleep_base, *sleep_max, n, random);
                match reaction(error) {
                    Reaction::Next if tries.failovers == 0 => Decision::FailOver(Duration::ZERO),
                    Reaction::Next => Decision::FailOver(wait(tries.failovers)),
                    Reaction::Same => Decision::Retry(wait(tries.retries)),
                    Reaction::Give => Decision::Fail,
                }
            }
        }
    }
}

enum Reaction {
    Next,
    Same,
    Give,
}

/// Every call of the protocol may be repeated: it is idempotent or the server remembers its answer.
fn reaction(error: &RpcError) -> Reaction {
    match error {
        RpcError::Connect { .. } | RpcError::Io { .. } | RpcError::Timeout { .. } => Reaction::Next,
        RpcError::Remote(exception) => match exception.kind() {
            Some(JavaException::Standby | JavaException::ObserverRetryOnActive) => Reaction::Next,
            Some(JavaException::Retriable) => Reaction::Same,
            _ => Reaction::Give,
        },
        RpcError::Protocol { .. } => Reaction::Give,
    }
}

fn decide_single(waits: &[Duration], error: &RpcError, tries: Tries, random: f64) -> Decision {
    let is_worth_it = match error {
        RpcError::Remote(exception) => {
            matches!(exception.kind(), Some(JavaException::SafeMode | JavaException::Retriable))
        }
        RpcError::Protocol { .. } => false,
        _ => true,
    };
    match waits.get(tries.retries as usize) {
        Some(wait) if is_worth_it => Decision::Retry(wait.mul_f64(0.5 + random)),
        _ => Decision::Fail,
    }
}

/// Twice as long each time, at most `max`, and half to one and a half of that.
fn exponential(base: Duration, max: Duration, tries: u32, random: f64) -> Duration {
    let wait = base.saturating_mul(1u32.checked_shl(tries.min(30)).unwrap_or(u32::MAX)).min(max);
    wait.mul_f64(0.5 + random)
}

/// `10000,6,60000,10`: six waits of 10 s, then ten of 60 s.
fn waits(spec: &str) -> Vec<Duration> {
    let numbers: Vec<u64> = spec.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    let pairs = numbers.chunks_exact(2).flat_map(|pair| match pair {
        [wait, times] => {
            std::iter::repeat_n(Duration::from_millis(*wait), (*times).min(10_000) as usize)
        }
        _ => std::iter::repeat_n(Duration::ZERO, 0),
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn refused() -> RpcError {
        RpcError::Connect {
            addr: "h:1".to_owned(),
            source: io::ErrorKind::ConnectionRefused.into(),
        }
    }

    fn remote(kind: JavaException) -> RpcError {
        RpcError::Remote(kind.with("x"))
    }

    #[test]
    fn one_namenode_is_asked_once_unless_waits_are_configured() {
        let mut conf = Conf::new();
        let policy = Policy::from_conf(&conf, false).unwrap();
        assert_eq!(policy.decide(&refused(), Tries::default(), 0.5), Decision::Fail);
        conf.set("dfs.client.retry.policy.enabled", "true");
        let policy = Policy::from_conf(&conf, false).unwrap();
        let tries = |retries| Tries { retries, failovers: 0 };
        let seconds = |s| Decision::Retry(Duration::from_secs(s));
        assert_eq!(policy.decide(&refused(), tries(5), 0.5), seconds(10));
        assert_eq!(policy.decide(&remote(JavaException::SafeMode), tries(6), 0.5), seconds(60));
        assert_eq!(policy.decide(&refused(), tries(16), 0.5), Decision::Fail);
        let denied = remote(JavaException::AccessControl);
        assert_eq!(policy.decide(&denied, tries(0), 0.5), Decision::Fail);
    }

    #[test]
    fn several_namenodes_are_asked_in_turn() {
        let policy = Policy::from_conf(&Conf::new(), true).unwrap();
        let tries = |failovers| Tries { retries: failovers, failovers };
        let standby = remote(JavaException::Standby);
        assert_eq!(policy.decide(&standby, tries(0), 0.5), Decision::FailOver(Duration::ZERO));
        assert_eq!(
            policy.decide(&refused(), tries(1), 0.5),
            Decision::FailOver(Duration::from_secs(1))
        );
        assert_eq!(
            policy.decide(&refused(), tries(14), 0.5),
            Decision::FailOver(Duration::from_secs(15))
        );
        assert_eq!(policy.decide(&refused(), tries(15), 0.5), Decision::Fail);
        let busy = remote(JavaException::Retriable);
        assert_eq!(
            policy.decide(&busy, tries(0), 0.5),
            Decision::Retry(Duration::from_millis(500))
        );
        assert_eq!(policy.decide(&remote(JavaException::SafeMode), tries(0), 0.5), Decision::Fail);
    }
}
