//! A namespace with its edit log and three DataNodes, at work on random files.

mod datanodes;
mod replicas;
mod work;

pub use replicas::{Replicas, check_replicas};

use crate::journal::Journal;
use crate::namenode::{self, WALL_MS};
use fastrand::Rng;
use std::sync::Arc;
use zerohop_namenode::storage::{EditLog, JournalFailed, NameStorage, PendingSync};
use zerohop_namespace::blocks::Now;
use zerohop_namespace::{ImageInfo, Namespace, OpContext};
use zerohop_wire::{CallerIdentity, RpcIds, TxId};

/// One NameNode that serves, seen from inside.
pub struct World<'a> {
    namespace: Namespace,
    log: EditLog,
    storage: Arc<NameStorage>,
    journal: &'a Journal,
    replicas: Replicas,
    rng: Rng,
    now: Now,
    /// Of the last edits that were logged.
    sync: Option<PendingSync>,
}

/// The edit log failed: the NameNode stops.
pub type Work = Result<(), JournalFailed>;

impl<'a> World<'a> {
    /// Begins to serve what was loaded.
    pub fn new(
        namespace: Namespace,
        (log, storage): (EditLog, Arc<NameStorage>),
        journal: &'a Journal,
        replicas: Replicas,
        rng: Rng,
    ) -> Self {
        let last = log.last_txid().0 as u64;
        // Time goes on from life to life.
        let now = Now { wall_ms: WALL_MS + last * 1000, mono_ms: 1_000_000 };
        let mut world = Self { namespace, log, storage, journal, replicas, rng, now, sync: None };
        world.namespace.start(now);
        replicas::register_all(&mut world.namespace, &world.replicas, now);
        world
    }

    /// Random operations, so many; some are waited for, some are not.
    pub fn work(&mut self, steps: usize) -> Work {
        for _ in 0..steps {
            self.step()?;
            self.exchange()?;
            match self.rng.u8(0..12) {
                0..3 => self.sync()?,
                3 => self.checkpoint()?,
                _ => {}
            }
        }
        self.sync()
    }

    /// Closes the log in order.
    pub fn close(self) -> Work {
        self.log.close()
    }

    fn context(&self) -> OpContext {
        OpContext {
            identity: CallerIdentity::simple("root", None),
            groups: ["root".to_owned()].into(),
            superuser: true,
            now: self.now,
            client_host: "127.0.0.1".into(),
            rpc: RpcIds::new(&[7; 16], 42),
        }
    }

    /// Hands the edits of the last operation to the log, as the NameNode does before it answers.
    fn log(&mut self) {
        self.namespace.delete_extra();
        let edits = self.namespace.take_edits();
        if edits.is_empty() {
            return;
        }
        let first = self.log.last_txid().0 + 1;
        self.sync = Some(self.log.log(edits.iter().map(|edit| (&edit.op, &edit.rpc))));
        let last = self.log.last_txid().0;
        if last + 1 - first < edits.len() as i64 {
            // The log has failed: the sync will say so, and the NameNode stops.
            return;
        }
        for (txid, edit) in (first..).zip(edits) {
            self.journal.logged(txid, edit.op);
        }
        self.journal.compare(last, &self.namespace);
    }

    /// Waits until all edits are durable: now they count as acknowledged.
    fn sync(&mut self) -> Work {
        self.log();
        if let Some(sync) = self.sync.take() {
            let last = self.log.last_txid().0;
            sync.wait()?;
            self.journal.acknowledged(last);
        }
        Ok(())
    }

    /// Saves an image as the NameNode does: the segment ends, edits go on, and what leads to the end
    /// of the segment is read from the disk.
    fn checkpoint(&mut self) -> Work {
        self.log();
        let (ended, sync) = self.log.roll();
        self.sync = Some(sync);
        self.sync()?;
        for _ in 0..self.rng.usize(0..3) {
            self.step()?;
        }
        // An error may be: a disk was made to fail.
        if let Ok(namespace) = namenode::load_until(&self.storage, ended.0) {
            save_image(&self.storage, &namespace, ended.0);
        }
        self.sync()
    }

    fn pass(&mut self, ms: u64) {
        self.now = Now { wall_ms: self.now.wall_ms + ms, mono_ms: self.now.mono_ms + ms };
        self.namespace.tick(self.now);
    }
}

/// Saves an image of a namespace that was loaded. An error may be: a disk was made to fail.
pub fn save_image(storage: &NameStorage, namespace: &Namespace, last: i64) {
    let info = ImageInfo { namespace_id: storage.info().namespace_id as u32, txid: TxId(last) };
    let _ = storage.save_image(last, |image| namespace.save_image(image, info));
}

/// The edit log continued by one directory and synced; its last transaction.
pub fn continue_log(
    storage: Arc<NameStorage>,
    namespace: &mut Namespace,
    last: i64,
) -> Result<i64, String> {
    let log = EditLog::start(storage, last + 1, |_| {}).map_err(|e| e.to_string())?;
    namespace.start(Now { wall_ms: WALL_MS, mono_ms: 1 });
    let mut context = namenode::root();
    context.now = Now { wall_ms: WALL_MS, mono_ms: 1 };
    let path = format!("/after-{last}");
    namespace.mkdirs(&context, &path, 0o755, None, true).map_err(|e| e.to_string())?;
    let edits = namespace.take_edits();
    let sync = log.log(edits.iter().map(|edit| (&edit.op, &edit.rpc)));
    sync.wait().map_err(|e| e.to_string())?;
    Ok(log.last_txid().0)
}
