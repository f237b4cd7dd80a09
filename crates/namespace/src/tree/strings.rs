//! User and group names, kept once: inodes hold numbers of 24 bits.

use hashbrown::HashMap;
use std::sync::Arc;

/// A name's number in the table.
pub(crate) type StringId = u32;

/// The table; numbers are never given back (there are few users and groups).
pub(crate) struct Strings {
    none: Arc<str>,
    names: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, StringId>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { none: "".into(), names: Vec::new(), ids: HashMap::new() }
    }
}

impl Strings {
    /// The number of a name; a new one if it was not there.
    pub(crate) fn intern(&mut self, name: &str) -> StringId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.names.len() as StringId;
        let name: Arc<str> = name.into();
        self.names.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    /// The name of a number this table gave.
    pub(crate) fn get(&self, id: StringId) -> &Arc<str> {
        self.names.get(id as usize).unwrap_or(&self.none)
    }
}
