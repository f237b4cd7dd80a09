//! Which JournalNodes of an address are others.

use std::net::{SocketAddr, ToSocketAddrs};
use zerohop_transport::net::is_own_address;

/// The JournalNodes of a journal but the one that listens at `own`.
pub(crate) fn others(nodes: &[String], own: SocketAddr) -> Vec<String> {
    nodes.iter().filter(|node| !is_own(node, own)).cloned().collect()
}

/// Whether an address is this JournalNode's own: the same port, and an address of this machine's.
fn is_own(node: &str, own: SocketAddr) -> bool {
    let Ok(addresses) = node.to_socket_addrs() else { return false };
    addresses.into_iter().any(|address| {
        address.port() == own.port()
            && (address.ip() == own.ip()
                || own.ip().is_unspecified() && is_own_address(address.ip()))
    })
}
