//! How many connections one address may have.

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
}

/// One connection; counted until it is dropped.
pub(super) struct AddressPermit {
    address: IpAddr,
    limits: AddressLimits,
}

impl AddressLimits {
    pub(super) fn new(max: usize) -> Self {
        Self { counts: Arc::default(), max }
    }

    /// Counts one more; `None` if the address has as many as it may.
    pub(super) fn enter(&self, address: IpAddr) -> Option<AddressPermit> {
        if self.max > 0 {
            let mut counts = self.counts.lock();
            let count = counts.entry(address).or_default();
            if *count >= self.max {
                return None;
            }
            *count += 1;
        }
        Some(AddressPermit { address, limits: self.clone() })
    }
}

impl Drop for AddressPermit {
    fn drop(&mut self) {
        if self.limits.max == 0 {
            return;
        }
        let mut counts = self.limits.counts.lock();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_connections_is_forgotten() {
        let limits = AddressLimits::new(1);
        let [one, other] = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from);
        let first = limits.enter(one).unwrap();
        assert!(limits.enter(one).is_none() && limits.enter(other).is_some());
        drop(first);
        assert!(limits.counts.lock().is_empty());
        assert!(limits.enter(one).is_some());
        let unlimited = AddressLimits::new(0);
        assert!(unlimited.enter(one).is_some() && unlimited.counts.lock().is_empty());
    }
}
