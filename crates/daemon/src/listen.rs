//! What helps when a port cannot be listened on.

use std::io::{Error, ErrorKind};

/// Advice to go with the system's error of binding an address or of looking it up.
pub fn advice(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::AddrInUse => "stop what uses the port or choose another",
        ErrorKind::AddrNotAvailable => {
            "this machine has no such address: name one of its own, or 0.0.0.0 for all"
        }
        ErrorKind::PermissionDenied => "this user may not use the port: choose one above 1023",
        _ => "name an address of this machine as HOST:PORT",
    }
}
