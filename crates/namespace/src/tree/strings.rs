//! User and group names, kept once: inodes hold numbers of 24 bits.

use hashbrown::HashMap;
use std::sync::Arc;

/// A name's number in the table.
pub(crate) type StringId = u32;

/// The table; numbers are never given back (there are few users and groups).
#[derive(Default)]
pub(crate) struct Strings {
    names: Vec<Arc<str>>,
    ids: HashMap<Arc<str>, StringId>,
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
    pub(crate) fn get(&self, id: StringId) -> Arc<str> {
        self.names.get(id as usize).cloned().unwrap_or_else(|| "".into())
    }

    pub(crate) fn as_str(&self, id: StringId) -> &str {
        self.names.get(id as usize).map_or("", |name| name)
    }
}
