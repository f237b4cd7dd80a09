//! What was logged, and the namespace after each transaction.

use crate::namenode;
use std::collections::BTreeMap;
use zerohop_journal::EditOp;
use zerohop_namespace::Namespace;
use zerohop_wire::TxId;

/// The oracle's memory: all edits of a history, and what they lead to one by one.
#[derive(Default)]
pub struct Past {
    /// Begins and ends of segments have transactions too, and are no edits.
    edits: BTreeMap<i64, EditOp>,
    /// The namespace after transaction `n` is at `n`.
    after: Vec<Namespace>,
}

impl Past {
    /// An edit was given to the log.
    pub fn logged(&mut self, txid: i64, op: EditOp) {
        self.edits.insert(txid, op);
    }

    /// A crash took what came after.
    pub fn forget_after(&mut self, last: i64) {
        self.edits.split_off(&(last + 1));
        self.after.truncate(usize::try_from(last + 1).unwrap_or(0));
    }

    /// The namespace after a transaction.
    ///
    /// # Errors
    /// If an edit does not apply.
    pub fn after(&mut self, txid: i64) -> Result<&Namespace, String> {
        let n = usize::try_from(txid).map_err(|e| e.to_string())?;
        while self.after.len() <= n {
            let mut namespace = namenode::empty();
            for (txid, op) in self.edits.range(..=self.after.len() as i64) {
                namespace.apply(TxId(*txid), op).map_err(|e| e.to_string())?;
            }
            self.after.push(namespace);
        }
        Ok(&self.after[n])
    }
}
