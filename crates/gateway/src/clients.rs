//! The clients of the cluster, one for each user that requests come from.

use crate::failure::Failure;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use zerohop_client::{FileSystem, Result};

/// So many are kept; a client holds connections, caches and leases of its own.
const CLIENTS_MAX: usize = 1000;

/// Clients by what tells them apart.
pub(crate) struct Clients<K>(Mutex<HashMap<K, FileSystem>>);

impl<K> Default for Clients<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Clients<K> {
    /// The client of a key, made where there is none yet.
    pub(crate) fn get(
        &self,
        key: K,
        make: impl FnOnce(&K) -> Result<FileSystem>,
    ) -> std::result::Result<FileSystem, Failure> {
        let mut clients = self.0.lock();
        if let Some(client) = clients.get(&key) {
            return Ok(client.clone());
        }
        let client = make(&key)?;
        if clients.len() >= CLIENTS_MAX {
            // Requests under way hold theirs.
            clients.clear();
        }
        clients.insert(key, client.clone());
        Ok(client)
    }
}
