//! Asks the daemons of a cluster for their beans.

use crate::failure::Outcome;
use crate::http;
use parking_lot::Mutex;
use std::io::Read;
use std::time::{Duration, Instant};
use zerohop_system::clock;
use zerohop_top::{Beans, DataNodeAnswer, NameNodeAnswer, Sample};

/// A daemon that takes longer to connect, or for a part of its answer, is shown as one that does not answer.
const LIMITS: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(10));
/// DataNodes that are asked at the same time.
const THREADS: usize = 16;
/// The beans of a NameNode with many thousand DataNodes have some megabytes.
const PAGE_MAX: u64 = 256 << 20;
const STATUS: &str = "/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus";
const HINT: &str = "is it the HTTP address of a daemon that runs (dfs.namenode.http-address)?";

/// A NameNode's web server.
#[derive(Clone, Debug)]
pub(super) struct NameNodeAddress {
    /// Its id in the configuration, or empty.
    pub(super) id: String,
    pub(super) address: String,
}

pub(super) struct Sampler {
    namenodes: Vec<NameNodeAddress>,
    datanodes_max: usize,
    /// Times of samples count from here.
    begun: Instant,
}

impl Sampler {
    pub(super) fn new(namenodes: Vec<NameNodeAddress>, datanodes_max: usize) -> Self {
        Self { namenodes, datanodes_max, begun: clock::now() }
    }

    /// Asks all of them for their state, the one that is shown for everything, and its DataNodes.
    pub(super) fn sample(&self) -> Sample {
        let mut sample = Sample { at_ms: self.now_ms(), ..Sample::default() };
        sample.namenodes = in_threads(&self.namenodes, |node| NameNodeAnswer {
            id: node.id.clone(),
            address: node.address.clone(),
            beans: beans(&node.address, STATUS),
        });
        if let Some(at) = sample.shown_namenode()
            && let Some(shown) = sample.namenodes.get_mut(at)
        {
            shown.beans = beans(&shown.address, "/jmx");
            sample.at_ms = self.now_ms();
        }
        let mut addresses = sample.datanode_addresses();
        addresses.truncate(self.datanodes_max);
        sample.datanodes = in_threads(&addresses, |(name, address)| DataNodeAnswer {
            name: name.clone(),
            beans: beans(address, "/jmx"),
        });
        sample
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(clock::since(self.begun).as_millis()).unwrap_or(u64::MAX)
    }
}

fn beans(address: &str, path: &str) -> Result<Beans, String> {
    let page = || -> Outcome<Vec<u8>> {
        let mut page = Vec::new();
        http::get_from(address, path, LIMITS, HINT)?.take(PAGE_MAX).read_to_end(&mut page)?;
        Ok(page)
    };
    let page = page().map_err(|failure| failure.to_string())?;
    Beans::parse(&page).map_err(|error| error.to_string())
}

/// What the function gives for each item, in their order.
fn in_threads<T: Sync, R: Send>(items: &[T], make: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(items.iter().enumerate());
    let made = Mutex::new(Vec::with_capacity(items.len()));
    let work = || {
        loop {
            // The lock is given back before the work.
            let item = next.lock().next();
            let Some((at, item)) = item else { return };
            let result = make(item);
            made.lock().push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..items.len().min(THREADS) {
            scope.spawn(work);
        }
    });
    let mut made = made.into_inner();
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_order_from_more_items_than_threads() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(in_threads(&items, |item| item * 2), (0..200).step_by(2).collect::<Vec<_>>());
        assert!(in_threads(&[] as &[u8], |_| ()).is_empty());
    }

    #[test]
    fn an_address_that_refuses_is_told() {
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let node = NameNodeAddress { id: "nn1".to_owned(), address: closed.to_string() };
        let sample = Sampler::new(vec![node], 10).sample();
        let problem = sample.namenodes[0].beans.as_ref().unwrap_err();
        assert!(problem.contains("refused") && problem.contains(&closed.to_string()), "{problem}");
        assert_eq!(sample.shown_namenode(), None);
    }
}
