//! What all parts of the store work with.

use crate::names::Names;
use crate::open_files::{Change, OpenFiles};
use crate::staged::Target;
use object_store::path::Path;
use object_store::{Attributes, Error, ObjectMeta, Result, TagSet};
use std::sync::Arc;
use zerohop_client::FileSystem;

/// A file system, where in it the objects are, and what is kept of them.
#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) fs: FileSystem,
    pub(crate) names: Names,
    pub(crate) keeps_attributes: bool,
    /// `None` where each read opens its file.
    pub(crate) open_files: Option<Arc<OpenFiles>>,
}

impl Inner {
    pub(crate) fn target(&self, location: &Path) -> Result<Target> {
        Ok(Target { location: location.clone(), path: self.names.new_object(location)? })
    }

    /// A change of objects; to be held until it is made.
    pub(crate) fn change(&self) -> Change {
        Change::of(self.open_files.as_ref())
    }

    /// The NameNode has told what an object is: a file that is open and another one is not used again.
    pub(crate) fn seen(&self, meta: &ObjectMeta) {
        if let Some(files) = &self.open_files {
            // No file can be open by a name that no object can have.
            if let Ok(path) = self.names.existing(&meta.location) {
                files.seen(&path, meta.e_tag.as_deref());
            }
        }
    }

    /// Refuses what would be lost.
    pub(crate) fn check(&self, attributes: &Attributes, tags: &TagSet) -> Result<()> {
        let refused =
            match (attributes.is_empty() || self.keeps_attributes, tags.encoded().is_empty()) {
                (true, true) => return Ok(()),
                (false, _) => "put with attributes, without HdfsObjectStore::with_attributes",
                (true, false) => "put with tags",
            };
        let implementer = "HdfsObjectStore".to_owned();
        Err(Error::NotImplemented { operation: refused.to_owned(), implementer })
    }
}
