//! How many requests a second one caller may make.

use crate::failure::{Failure, Statuses};
use axum::http::header;
use axum::response::Response;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};

/// So many callers are known before those are forgotten that have made no request for a while.
const KNOWN_MAX: usize = 10_000;

/// The limit on requests of one user at one address.
pub(crate) struct RequestRates(Option<DefaultKeyedRateLimiter<(IpAddr, String)>>);

impl RequestRates {
    /// As `zerohop.gateway.requests.per.second` says.
    ///
    /// # Errors
    /// If the key is malformed.
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        let per_second = conf.get(&keys::ZEROHOP_GATEWAY_REQUESTS_PER_SECOND)?;
        let quota = NonZeroU32::new(per_second).map(Quota::per_second);
        Ok(Self(quota.map(RateLimiter::hashmap)))
    }

    /// Counts a request; the answer in its place where there were too many.
    pub(crate) fn refusal(&self, from: IpAddr, user: &str) -> Option<Response> {
        let limiter = self.0.as_ref()?;
        if limiter.len() > KNOWN_MAX {
            limiter.retain_recent();
        }
        let too_many = limiter.check_key(&(from, user.to_owned())).err()?;
        let wait = too_many.wait_time_from(DefaultClock::default().now());
        Some(answer(user, wait))
    }
}

fn answer(user: &str, wait: Duration) -> Response {
    let seconds = wait.as_secs().saturating_add(1);
    let failure = Failure::too_many(format!("Too many requests of {user}; wait {seconds} s"));
    let mut response = failure.response(Statuses::HttpFs);
    response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_that_asks_too_often_does_not_hold_up_others() {
        let mut conf = Conf::new();
        let here = IpAddr::from([127, 0, 0, 1]);
        let unlimited = RequestRates::from_conf(&conf).unwrap();
        assert!((0..100).all(|_| unlimited.refusal(here, "alice").is_none()));
        conf.set("zerohop.gateway.requests.per.second", "2");
        let rates = RequestRates::from_conf(&conf).unwrap();
        let mut answers = (0..100).filter_map(|_| rates.refusal(here, "alice"));
        let refused = answers.next().expect("a hundred requests in half a second");
        assert_eq!(refused.status(), 429);
        assert_eq!(refused.headers()["retry-after"], "1");
        assert!(rates.refusal(here, "bob").is_none());
        assert!(rates.refusal([10, 0, 0, 1].into(), "alice").is_none());
    }
}
