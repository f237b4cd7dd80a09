//! How many connections one address may have.

use crate::machines::MachineList;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

/// Counts connections by the address that they come from. Clones share the counts.
#[derive(Clone, Default)]
pub(super) struct AddressLimits {
    counts: Arc<Mutex<HashMap<IpAddr, usize>>>,
    /// 0 means that there is no limit.
    max: usize,
    /// Addresses that many callers share.
    proxies: Arc<MachineList>,
}

/// One connection; counted until it is dropped.
pub(super) struct AddressPermit {
    /// `None` if the connection is not counted.
    counted: Option<IpAddr>,
    limits: AddressLimits,
}

impl AddressLimits {
    pub(super) fn new(max: usize, proxies: Arc<MachineList>) -> Self {
        Self { counts: Arc::default(), max, proxies }
    }

    /// Counts one more; `None` if the address has as many as it may.
    pub(super) fn enter(&self, address: IpAddr) -> Option<AddressPermit> {
        let address = address.to_canonical();
        let counted = (self.max > 0 && !self.proxies.includes(address)).then_some(address);
        if let Some(address) = counted {
            let mut counts = self.counts.lock();
            let count = counts.entry(address).or_default();
            if *count >= self.max {
                return None;
            }
            *count += 1;
        }
        Some(AddressPermit { counted, limits: self.clone() })
    }
}

impl Drop for AddressPermit {
    fn drop(&mut self) {
        let Some(address) = self.counted else { return };
        let mut counts = self.limits.counts.lock();
        if let Some(count) = counts.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_connections_is_forgotten() {
        let limits = AddressLimits::new(1, Arc::default());
        let [one, other] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
        let first = limits.enter(one).unwrap();
        assert!(limits.enter(one).is_none() && limits.enter(other).is_some());
        drop(first);
        assert!(limits.counts.lock().is_empty());
        assert!(limits.enter(one).is_some());
        let unlimited = AddressLimits::new(0, Arc::default());
        assert!(unlimited.enter(one).is_some() && unlimited.counts.lock().is_empty());
    }

    /// All users behind a proxy come from one address.
    #[test]
    fn a_proxy_was_held_to_the_limit_of_one_caller() {
        let limits = AddressLimits::new(1, Arc::new(MachineList::parse("10.0.0.1")));
        let [proxy, other] = ["::ffff:10.0.0.1", "10.0.0.2"].map(|it| it.parse().unwrap());
        let of_proxy: Vec<_> = (0..5).map(|_| limits.enter(proxy)).collect();
        assert!(of_proxy.iter().all(Option::is_some));
        let _first = limits.enter(other).unwrap();
        assert!(limits.enter(other).is_none());
    }
}
