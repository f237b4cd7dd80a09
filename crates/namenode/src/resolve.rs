//! Addresses of names, and names of addresses.

use crate::error::Error;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// The first address of the `host:port` that a key says to listen on. Blocks.
pub(crate) fn resolve_one(address: &str, key: &'static str) -> Result<SocketAddr, Error> {
    let mut found =
        address.to_socket_addrs().map_err(|source| Error::bind(address, key, source))?;
    let none = || Error::bind(address, key, std::io::Error::other("the name has no address"));
    found.next().ok_or_else(none)
}

/// The name of an address, by the system's resolver; `None` where it has none. Blocks.
pub(crate) fn host_name(ip: IpAddr) -> Option<String> {
    let address = socket2::SockAddr::from(SocketAddr::new(ip, 0));
    let mut name = [0 as libc::c_char; 1025];
    // SAFETY: the address and its length belong together, the buffer's length is its own, and both outlive the call.
    let code = unsafe {
        libc::getnameinfo(
            address.as_ptr().cast(),
            address.len(),
            name.as_mut_ptr(),
            name.len() as libc::socklen_t,
            std::ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    };
    if code != 0 {
        return None;
    }
    let bytes: Vec<u8> =
        name.iter().take_while(|byte| **byte != 0).map(|byte| *byte as u8).collect();
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_a_name_and_a_test_network_has_none() {
        assert!(host_name(IpAddr::from([127, 0, 0, 1])).is_some());
        assert_eq!(host_name(IpAddr::from([192, 0, 2, 1])), None);
    }
}
