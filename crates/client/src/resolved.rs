//! Addresses of DataNodes that were looked up by name.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// How long an answer counts, as in Java (`networkaddress.cache.ttl`): a DataNode may come back under
/// another address.
const KEEP: Duration = Duration::from_secs(30);

/// Addresses by `host:port`, each with the time until which it counts.
#[derive(Default)]
pub(crate) struct Resolved(Mutex<HashMap<String, (SocketAddr, Instant)>>);

impl Resolved {
    /// The address of `name`, from `look_up` where none is known. Other names do not wait for that.
    pub(crate) fn get(
        &self,
        name: &str,
        look_up: impl FnOnce() -> io::Result<SocketAddr>,
    ) -> io::Result<SocketAddr> {
        self.get_at(name, clock::now(), look_up)
    }

    fn get_at(
        &self,
        name: &str,
        now: Instant,
        look_up: impl FnOnce() -> io::Result<SocketAddr>,
    ) -> io::Result<SocketAddr> {
        if let Some((addr, until)) = self.0.lock().get(name)
            && now < *until
        {
            return Ok(*addr);
        }
        let addr = look_up()?;
        self.0.lock().insert(name.to_owned(), (addr, now + KEEP));
        Ok(addr)
    }

    /// Has names that led to `addr`, where no process answers, looked up again.
    pub(crate) fn forget(&self, addr: SocketAddr) {
        self.0.lock().retain(|_, (known, _)| *known != addr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_counts_for_a_while_and_until_nobody_answers_there() {
        let resolved = Resolved::default();
        let start = Instant::now();
        let addr = |last: u8| SocketAddr::from(([127, 0, 0, last], 9866));
        let get = |after: Duration, last| {
            resolved.get_at("dn1:9866", start + after, || Ok(addr(last))).unwrap()
        };
        assert_eq!(get(Duration::ZERO, 1), addr(1));
        assert_eq!(get(KEEP / 2, 2), addr(1), "known");
        assert_eq!(get(KEEP, 3), addr(3), "too old");
        resolved.forget(addr(1));
        assert_eq!(get(KEEP, 4), addr(3), "another one was forgotten");
        resolved.forget(addr(3));
        assert_eq!(get(KEEP, 5), addr(5));
        let none = || Err(io::ErrorKind::NotFound.into());
        resolved.get("dn2:9866", none).unwrap_err();
    }
}
