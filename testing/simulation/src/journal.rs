//! What a life notes for the oracle.

use crate::calls::FileCall;
use crate::past::Past;
use crate::promises::{Broken, Promise};
use crate::world::Replicas;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use zerohop_journal::EditOp;
use zerohop_namespace::Namespace;

/// What happened, in order.
pub enum Event {
    /// A call changed a file; its paths are below the directories' root.
    Call(FileCall),
    /// A sync of this file failed.
    FailedSync(PathBuf),
    /// Everything up to this transaction was acknowledged.
    Acknowledged(i64),
    /// From here on DataNodes hold this.
    Replicas(Arc<Replicas>),
}

/// What a life notes for the oracle.
pub struct Journal {
    state: Mutex<State>,
}

/// All of it.
pub struct State {
    /// What happened.
    pub events: Vec<Event>,
    /// What was logged.
    pub past: Past,
    /// The first promise that was broken.
    pub broken: Option<Broken>,
}

impl Journal {
    /// With what was logged before.
    pub fn new(past: Past) -> Self {
        Self { state: Mutex::new(State { events: Vec::new(), past, broken: None }) }
    }

    /// All that was noted.
    pub fn into_state(self) -> State {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks and changes.
    pub fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// An edit was given to the log.
    pub fn logged(&self, txid: i64, op: EditOp) {
        self.with(|state| state.past.logged(txid, op));
    }

    /// A client may have seen the answer.
    pub fn acknowledged(&self, txid: i64) {
        self.with(|state| state.events.push(Event::Acknowledged(txid)));
    }

    /// DataNodes hold this now.
    pub fn replicas_are(&self, replicas: &Replicas) {
        let replicas = Arc::new(replicas.clone());
        self.with(|state| state.events.push(Event::Replicas(replicas)));
    }

    /// The namespace that serves must be what the edits lead to.
    pub fn compare(&self, last: i64, live: &Namespace) {
        self.with(|state| {
            let found = match state.past.after(last) {
                Ok(replayed) => live.difference(replayed),
                Err(error) => Some(error),
            };
            if let Some(found) = found {
                let broken = Broken::new(Promise::ReplayEqualsLive, found);
                state.broken.get_or_insert(broken);
            }
        });
    }
}
