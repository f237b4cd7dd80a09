//! Free ports for daemons whose port must be known before they start.

use std::collections::HashSet;
use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};

/// Ports that tests of this process have: nobody listens on one between the end of a daemon and its
/// next start, and it is not free for others all the same.
static GIVEN: Mutex<Option<HashSet<u16>>> = Mutex::new(None);

/// A port nobody listens on and no test has, from below the range the kernel gives to outgoing
/// connections, so that none of those takes it between now and the daemon's start.
pub fn free() -> u16 {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let given = given.get_or_insert_default();
    for _ in 0..10_000 {
        let port = fastrand::u16(10_240..32_000);
        if !given.contains(&port) && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            given.insert(port);
            return port;
        }
    }
    panic!("no free port on loopback");
}
