//! One NameNode that serves, with its edit log, and what is known of it from outside.

use super::replicas::{self, Replicas};
use crate::journal::Journal;
use crate::namenode::WALL_MS;
use fastrand::Rng;
use std::sync::Arc;
use zerohop_namenode::storage::{EditLog, JournalFailed, NameStorage, PendingSync};
use zerohop_namespace::blocks::Now;
use zerohop_namespace::{Namespace, OpContext};
use zerohop_wire::{CallerIdentity, RpcIds};

/// The edit log failed: the NameNode stops.
pub type Work = Result<(), JournalFailed>;

/// One NameNode that serves, seen from inside; the DataNodes' replicas; what is recorded of both.
pub(super) struct RunningNameNode<'a> {
    pub(super) namespace: Namespace,
    pub(super) log: EditLog,
    pub(super) storage: Arc<NameStorage>,
    pub(super) journal: &'a Journal,
    pub(super) replicas: Replicas,
    pub(super) rng: Rng,
    pub(super) now: Now,
    /// Of the last edits that were logged.
    pub(super) sync: Option<PendingSync>,
}

impl<'a> RunningNameNode<'a> {
    /// Begins to serve what was loaded.
    pub(super) fn new(
        namespace: Namespace,
        (log, storage): (EditLog, Arc<NameStorage>),
        journal: &'a Journal,
        replicas: Replicas,
        rng: Rng,
    ) -> Self {
        let last = log.last_txid().0 as u64;
        // Time goes on from life to life.
        let now = Now { wall_ms: WALL_MS + last * 1000, mono_ms: 1_000_000 };
        let mut running = Self { namespace, log, storage, journal, replicas, rng, now, sync: None };
        running.namespace.start(now);
        replicas::register_all(&mut running.namespace, &running.replicas, now);
        running
    }

    /// A call of the superuser, now.
    pub(super) fn context(&self) -> OpContext {
        OpContext {
            identity: CallerIdentity::simple("root", None),
            groups: ["root".to_owned()].into(),
            superuser: true,
            now: self.now,
            client_host: "127.0.0.1".into(),
            client_rack: None,
            rpc: RpcIds::new(&[7; 16], 42),
        }
    }

    /// Hands the edits of the last operation to the log, as the NameNode does before it answers.
    pub(super) fn log(&mut self) {
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
    pub(super) fn sync(&mut self) -> Work {
        self.log();
        if let Some(sync) = self.sync.take() {
            let last = self.log.last_txid().0;
            sync.wait()?;
            self.journal.acknowledged(last);
        }
        Ok(())
    }

    /// Time passes.
    pub(super) fn pass(&mut self, ms: u64) {
        self.now = Now { wall_ms: self.now.wall_ms + ms, mono_ms: self.now.mono_ms + ms };
        self.namespace.tick(self.now);
    }
}
