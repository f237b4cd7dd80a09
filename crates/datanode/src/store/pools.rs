//! The open block pools, and the replicas in them.

use super::Failure;
use super::pool::BlockPool;
use super::replica::Replica;
use super::status::Status;
use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use zerohop_system::clock;
use zerohop_wire::ExtendedBlock;

/// The open block pools. Once open, a pool stays open.
#[derive(Default)]
pub(crate) struct BlockPools {
    open: RwLock<HashMap<Arc<str>, Arc<BlockPool>>>,
    /// Requests that came before their pool was open wait here.
    waiting: (Mutex<()>, Condvar),
}

impl BlockPools {
    /// A pool is open from here on: requests that wait for it go on.
    pub(super) fn add(&self, pool: BlockPool) {
        let _waiters_look = self.waiting.0.lock();
        self.open.write().insert(Arc::clone(&pool.id), Arc::new(pool));
        self.waiting.1.notify_all();
    }

    /// The ids of the open pools.
    pub(crate) fn ids(&self) -> Vec<Arc<str>> {
        self.open.read().keys().cloned().collect()
    }

    /// The open pools.
    pub(crate) fn all(&self) -> Vec<Arc<BlockPool>> {
        self.open.read().values().cloned().collect()
    }

    /// Whether a pool is open.
    pub(crate) fn is_open(&self, id: &str) -> bool {
        self.open.read().contains_key(id)
    }

    /// Waits until a pool is open; false when it is not in time.
    pub(crate) fn wait_for(&self, id: &str, patience: Duration) -> bool {
        if self.is_open(id) {
            return true;
        }
        let deadline = clock::now() + patience;
        let mut waiting = self.waiting.0.lock();
        while !self.is_open(id) {
            if self.waiting.1.wait_until(&mut waiting, deadline).timed_out() {
                return self.is_open(id);
            }
        }
        true
    }

    /// A pool.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<BlockPool>, Failure> {
        let pool = self.open.read().get(id).cloned();
        pool.ok_or_else(|| Failure::io(format!("Not ready to serve the block pool, {id}.")))
    }

    /// A replica by its block id.
    pub(crate) fn replica(&self, block: &ExtendedBlock) -> Result<Arc<Replica>, Failure> {
        let pool = self.get(&block.pool)?;
        pool.get(block.block.id).ok_or_else(|| {
            Failure::not_found(format_args!(
                "Cannot append to a non-existent replica {}:{}",
                block.pool, block.block.id
            ))
        })
    }

    /// Works with the replica of a block under its lock. That is taken again where the replica moved to
    /// another volume while it was waited for: what is written to the old files would be lost.
    pub(super) fn with_current<T>(
        &self,
        block: &ExtendedBlock,
        lock: impl Fn(&Replica) -> Result<MutexGuard<'_, Status>, Failure>,
        work: impl FnOnce(&Arc<Replica>, MutexGuard<'_, Status>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let pool = self.get(&block.pool)?;
        loop {
            let replica = self.replica(block)?;
            let status = lock(&replica)?;
            if pool.holds(&replica) {
                return work(&replica, status);
            }
        }
    }

    /// Tells all writers that this DataNode is about to stop; they tell their clients.
    pub(crate) fn stop_writers(&self) {
        for replica in self.all().iter().flat_map(|pool| pool.all()) {
            let writer = replica.lock().writer().cloned();
            if let Some(writer) = writer {
                writer.stop_receiving();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(id: &str) -> BlockPool {
        BlockPool::new(id.into(), HashMap::new())
    }

    #[test]
    fn a_request_waits_until_its_pool_is_open() {
        let pools = Arc::new(BlockPools::default());
        assert!(!pools.wait_for("BP-1", Duration::from_millis(1)));
        assert!(pools.get("BP-1").is_err_and(|failure| failure.to_string().contains("BP-1")));
        let waiting = Arc::clone(&pools);
        let waiter = std::thread::spawn(move || waiting.wait_for("BP-1", Duration::from_secs(60)));
        pools.add(pool("BP-2"));
        pools.add(pool("BP-1"));
        assert!(waiter.join().unwrap());
        assert_eq!(pools.ids().len(), 2);
    }
}
