//! What all parts of the store work with.

use crate::names::Names;
use crate::staged::Target;
use object_store::path::Path;
use object_store::{Attributes, Error, Result, TagSet};
use zerohop_client::FileSystem;

/// A file system, where in it the objects are, and what is kept of them.
#[derive(Clone)]
pub(crate) struct Inner {
    pub(crate) fs: FileSystem,
    pub(crate) names: Names,
    pub(crate) keeps_attributes: bool,
}

impl Inner {
    pub(crate) fn target(&self, location: &Path) -> Result<Target> {
        Ok(Target { location: location.clone(), path: self.names.new_object(location)? })
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
