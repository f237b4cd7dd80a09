//! Lists of machines as configurations write them (`MachineList`).

use std::net::{IpAddr, ToSocketAddrs};

/// Addresses, CIDR ranges and host names, or `*` for all.
#[derive(Clone, Debug, Default)]
pub struct MachineList {
    all: bool,
    addresses: Vec<IpAddr>,
    ranges: Vec<(IpAddr, u8)>,
}

impl MachineList {
    /// Reads a list with commas; a name that does not resolve is left out with a logged line.
    pub fn parse(text: &str) -> Self {
        let mut list = Self::default();
        for entry in text.split(',').map(str::trim).filter(|e| !e.is_empty()) {
            list.add(entry);
        }
        list
    }

    fn add(&mut self, entry: &str) {
        if entry == "*" {
            self.all = true;
        } else if let Some((network, bits)) = entry.split_once('/') {
            match (network.parse(), bits.parse()) {
                (Ok(network), Ok(bits)) => self.ranges.push((network, bits)),
                _ => tracing::warn!("Invalid CIDR syntax : {entry}"),
            }
        } else {
            match (entry, 0).to_socket_addrs() {
                Ok(found) => self.addresses.extend(found.map(|a| a.ip())),
                Err(error) => tracing::warn!("{entry}: {error}"),
            }
        }
    }

    /// Whether `address` is one of them.
    pub fn includes(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.all
            || self.addresses.contains(&address)
            || self.ranges.iter().any(|(network, bits)| in_range(address, *network, *bits))
    }
}

fn in_range(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let (a, b, width) = match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32u32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128u32),
        _ => return false,
    };
    let Some(host_bits) = width.checked_sub(u32::from(bits)) else { return false };
    a.checked_shr(host_bits).unwrap_or(0) == b.checked_shr(host_bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_addresses_and_all() {
        let list = MachineList::parse("10.1.0.0/16, 192.168.1.7,fd00::/8");
        for inside in ["10.1.255.1", "192.168.1.7", "fd12::1", "::ffff:10.1.2.3"] {
            assert!(list.includes(inside.parse().unwrap()), "{inside}");
        }
        for outside in ["10.2.0.1", "192.168.1.8", "fe80::1"] {
            assert!(!list.includes(outside.parse().unwrap()), "{outside}");
        }
        assert!(MachineList::parse("*").includes([1, 2, 3, 4].into()));
        assert!(MachineList::parse("0.0.0.0/0").includes([1, 2, 3, 4].into()));
        assert!(!MachineList::parse("").includes([1, 2, 3, 4].into()));
    }
}
