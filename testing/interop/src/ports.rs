//! Free ports for daemons whose port must be known before they start.

use std::net::TcpListener;

/// A port nobody listens on, from below the range the kernel gives to outgoing connections, so that
/// none of those takes it between now and the daemon's start.
pub fn free() -> u16 {
    for _ in 0..10_000 {
        let port = fastrand::u16(10_240..32_000);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no free port on loopback");
}
