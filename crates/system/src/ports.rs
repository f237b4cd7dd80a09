//! Free ports for daemons whose address others must know before they start.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::random;

/// Ports without a use that is widely known, mostly.
const CANDIDATES: Range<u16> = 20_000..30_000;
/// With fewer of them than this, the kernel chooses.
const FEWEST: u16 = 1_000;
const LOCAL_RANGE: &str = "/proc/sys/net/ipv4/ip_local_port_range";

/// A port of loopback at which nothing listens.
///
/// It is outside of the range from which the kernel takes ports for connections and for listeners that ask for any
/// (`ip_local_port_range`, ip(7)): none of those takes it before the daemon starts, or while the daemon is down. Only where that
/// range leaves no room does the kernel choose. One process is given 10,000 ports before one comes again.
///
/// # Errors
/// If no port is free.
pub fn free() -> io::Result<u16> {
    static TRIED: LazyLock<AtomicU32> = LazyLock::new(|| random::u32(..).into());
    let candidates = outside_of_local_range();
    let is_free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    let next = |_| {
        candidates.start + (TRIED.fetch_add(1, Ordering::Relaxed) % candidates.len() as u32) as u16
    };
    match candidates.clone().map(next).find(is_free) {
        Some(port) => Ok(port),
        None => Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port()),
    }
}

fn outside_of_local_range() -> Range<u16> {
    let text = std::fs::read_to_string(LOCAL_RANGE).unwrap_or_default();
    let mut ends = text.split_whitespace().filter_map(|word| word.parse::<u16>().ok());
    below(ends.next().unwrap_or(CANDIDATES.end))
}

/// The candidates below the first port that the kernel gives out itself; none if they are few.
fn below(first: u16) -> Range<u16> {
    let end = CANDIDATES.end.min(first);
    match end.saturating_sub(CANDIDATES.start) {
        FEWEST.. => CANDIDATES.start..end,
        _ => CANDIDATES.start..CANDIDATES.start,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_comes_twice_and_no_connection_is_given_one() {
        let mut ports: Vec<u16> = (0..200).map(|_| free().unwrap()).collect();
        let outside = outside_of_local_range();
        assert!(ports.iter().all(|port| outside.is_empty() || outside.contains(port)), "{ports:?}");
        let given = (0..200).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
        let mut given = given.map(|listener| listener.local_addr().unwrap().port());
        assert!(given.all(|port| !outside.contains(&port)), "the kernel gives out {outside:?}");
        ports.sort();
        ports.dedup();
        assert_eq!(ports.len(), 200);
    }

    #[test]
    fn the_kernel_chooses_where_it_leaves_no_room() {
        assert_eq!(below(32_768), 20_000..30_000);
        assert_eq!(below(21_000), 20_000..21_000);
        assert!(below(20_999).is_empty());
        assert!(below(1_024).is_empty());
    }
}
