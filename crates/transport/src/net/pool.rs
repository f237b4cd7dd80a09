//! Connections kept for the next request (`PeerCache`).

use super::DataStream;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// Idle connections by peer, the freshest first; at most `capacity`, none older than `expiry`. Written here because a peer has
/// several and a connection is taken out when it is used: caches keep one value for a key, and share it.
#[derive(Debug)]
pub struct Pool<K> {
    capacity: usize,
    expiry: Duration,
    idle: Mutex<HashMap<K, VecDeque<(Instant, DataStream)>>>,
}

impl<K: Eq + Hash + Clone> Pool<K> {
    /// An empty pool; capacity 0 keeps nothing.
    pub fn new(capacity: usize, expiry: Duration) -> Self {
        Self { capacity, expiry, idle: Mutex::default() }
    }

    /// A connection to `peer` that its other end has not closed.
    pub fn take(&self, peer: &K) -> Option<DataStream> {
        let mut idle = self.idle.lock();
        let streams = idle.get_mut(peer)?;
        while let Some((since, stream)) = streams.pop_back() {
            if clock::since(since) < self.expiry && stream.is_quiet() {
                return Some(stream);
            }
        }
        idle.remove(peer);
        None
    }

    /// Keeps a connection on which nothing is under way.
    pub fn put(&self, peer: K, stream: DataStream) {
        if self.capacity == 0 {
            return;
        }
        let mut idle = self.idle.lock();
        self.retain_fresh(&mut idle);
        if idle.values().map(VecDeque::len).sum::<usize>() >= self.capacity {
            drop_oldest(&mut idle);
        }
        idle.entry(peer).or_default().push_back((clock::now(), stream));
    }

    /// Closes what is too old. Whether anything is kept then.
    pub fn expire(&self) -> bool {
        let mut idle = self.idle.lock();
        self.retain_fresh(&mut idle);
        !idle.is_empty()
    }

    fn retain_fresh(&self, idle: &mut HashMap<K, VecDeque<(Instant, DataStream)>>) {
        idle.retain(|_, streams| {
            streams.retain(|(since, _)| clock::since(*since) < self.expiry);
            !streams.is_empty()
        });
    }

    /// Closes what is kept.
    pub fn clear(&self) {
        self.idle.lock().clear();
    }
}

fn drop_oldest<K: Eq + Hash + Clone>(idle: &mut HashMap<K, VecDeque<(Instant, DataStream)>>) {
    let oldest = idle
        .iter()
        .filter_map(|(peer, streams)| Some((streams.front()?.0, peer)))
        .min_by_key(|(since, _)| *since)
        .map(|(_, peer)| peer.clone());
    let Some(peer) = oldest else { return };
    if let Some(streams) = idle.get_mut(&peer) {
        streams.pop_front();
        if streams.is_empty() {
            idle.remove(&peer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn pair() -> (DataStream, DataStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near.into(), listener.accept().unwrap().0.into())
    }

    #[test]
    fn a_kept_connection_comes_back_unless_closed_or_old() {
        let pool = Pool::new(2, Duration::from_secs(60));
        let (near, far) = pair();
        pool.put("a", near);
        assert!(pool.take(&"b").is_none());
        let near = pool.take(&"a").unwrap();
        pool.put("a", near);
        drop(far);
        let mut left = 100;
        while left > 0 && !pool.idle.lock().is_empty() && pool.idle.lock()["a"][0].1.is_quiet() {
            left -= 1;
            std::thread::yield_now();
        }
        assert!(pool.take(&"a").is_none());
        let none = Pool::new(2, Duration::ZERO);
        none.put("a", pair().0);
        assert!(none.take(&"a").is_none());
    }

    #[test]
    fn a_full_pool_drops_its_oldest() {
        let pool = Pool::new(2, Duration::from_secs(60));
        let mut far = Vec::new();
        for peer in ["a", "b", "c"] {
            let (near, other) = pair();
            far.push(other);
            pool.put(peer, near);
        }
        assert!(pool.take(&"a").is_none());
        assert!(pool.take(&"b").is_some() && pool.take(&"c").is_some());
    }
}
