//! A namespace with its edit log and three DataNodes, at work on random files.

mod datanodes;
mod replicas;
mod running;
mod work;

pub use replicas::{Replicas, check_replicas};
pub use running::Work;

use crate::journal::Journal;
use crate::namenode::{self, WALL_MS};
use fastrand::Rng;
use running::RunningNameNode;
use std::sync::Arc;
use zerohop_namenode::storage::{EditLog, NameStorage};
use zerohop_namespace::blocks::Now;
use zerohop_namespace::{ImageInfo, Namespace};
use zerohop_wire::TxId;

/// One NameNode, its clients and its DataNodes, at work.
pub struct World<'a> {
    running: RunningNameNode<'a>,
}

impl<'a> World<'a> {
    /// Begins to serve what was loaded.
    pub fn new(
        namespace: Namespace,
        log: (EditLog, Arc<NameStorage>),
        journal: &'a Journal,
        replicas: Replicas,
        rng: Rng,
    ) -> Self {
        Self { running: RunningNameNode::new(namespace, log, journal, replicas, rng) }
    }

    /// Random operations, so many; some are waited for, some are not.
    pub fn work(&mut self, steps: usize) -> Work {
        for _ in 0..steps {
            self.running.step()?;
            self.running.exchange()?;
            match self.running.rng.u8(0..12) {
                0..3 => self.running.sync()?,
                3 => self.checkpoint()?,
                _ => {}
            }
        }
        self.running.sync()
    }

    /// Closes the log in order.
    pub fn close(self) -> Work {
        self.running.log.close()
    }

    /// Saves an image as the NameNode does: the segment ends, edits go on, and what leads to the end
    /// of the segment is read from the disk.
    fn checkpoint(&mut self) -> Work {
        self.running.log();
        let (ended, sync) = self.running.log.roll();
        self.running.sync = Some(sync);
        self.running.sync()?;
        for _ in 0..self.running.rng.usize(0..3) {
            self.running.step()?;
        }
        // An error may be: a disk was made to fail.
        if let Ok(namespace) = namenode::load_until(&self.running.storage, ended.0) {
            save_image(&self.running.storage, &namespace, ended.0);
        }
        self.running.sync()
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
    namespace.directories(&context).mkdirs(&path, 0o755, None, true).map_err(|e| e.to_string())?;
    let edits = namespace.take_edits();
    let sync = log.log(edits.iter().map(|edit| (&edit.op, &edit.rpc)));
    sync.wait().map_err(|e| e.to_string())?;
    Ok(log.last_txid().0)
}
