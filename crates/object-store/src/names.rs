//! Names of objects and paths of files.

use crate::errors::{not_found, not_supported};
use object_store::Result;
use object_store::path::Path;
use uuid::Uuid;
use zerohop_client::{FileSystem, InodeId};

/// How names begin that are not those of objects.
const HIDDEN: &str = ".zerohop-staged-";

/// Where in HDFS the objects are.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// Path of the directory that all objects are below, without a slash at its end.
    root: String,
}

impl Names {
    pub(crate) fn below(root: &str) -> Self {
        let parts: Vec<&str> = root.split('/').filter(|part| !part.is_empty()).collect();
        Self { root: parts.iter().map(|part| format!("/{part}")).collect() }
    }

    /// The root, as a path.
    pub(crate) fn root(&self) -> &str {
        if self.root.is_empty() { "/" } else { &self.root }
    }

    /// The path of the directory whose objects have a prefix.
    pub(crate) fn directory(&self, prefix: &str) -> String {
        match prefix {
            "" => self.root().to_owned(),
            prefix => format!("{}/{prefix}", self.root),
        }
    }

    /// The path of an object that is looked up.
    ///
    /// # Errors
    /// [`NotFound`](object_store::Error::NotFound) if no object can have the name.
    pub(crate) fn existing(&self, location: &Path) -> Result<String> {
        self.new_object(location).map_err(|error| not_found(location, error))
    }

    /// The path of an object that is to be made.
    ///
    /// # Errors
    /// [`NotSupported`](object_store::Error::NotSupported) if HDFS has no such names, or the name is one that this store keeps
    /// for itself.
    pub(crate) fn new_object(&self, location: &Path) -> Result<String> {
        let name = location.as_ref();
        if name.is_empty() {
            return Err(not_supported("an object has a name"));
        }
        if name.contains(':') {
            return Err(not_supported(format!("HDFS allows no colon in a path: {name}")));
        }
        if name.split('/').any(is_hidden) {
            return Err(not_supported(format!(
                "names that begin with {HIDDEN} are not for objects: {name}"
            )));
        }
        Ok(format!("{}/{name}", self.root))
    }
}

/// The directory of a path; that of a path without slashes is the root.
pub(crate) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some((parent, _)) if !parent.is_empty() => parent,
        _ => "/",
    }
}

/// The path by which the NameNode finds an inode, wherever it is.
pub(crate) fn inode_path(inode: InodeId) -> String {
    format!("/.reserved/.inodes/{inode}")
}

/// Returns true if `path` leads to the inode `own`.
pub(crate) async fn is_at(fs: &FileSystem, path: &str, own: InodeId) -> bool {
    fs.status(path).await.is_ok_and(|found| found.file_id == own)
}

/// Whether a file or a directory of this name is not shown.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with(HIDDEN)
}

/// A new path that is not shown, in the directory of `path`.
pub(crate) fn hidden_beside(path: &str) -> String {
    hidden(path, Uuid::new_v4())
}

/// The path that is not shown, in the directory of `path`, with this id.
pub(crate) fn hidden(path: &str, id: Uuid) -> String {
    let parent = parent(path).trim_end_matches('/');
    format!("{parent}/{HIDDEN}{id}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::Error;

    #[test]
    fn objects_are_files_below_the_root() {
        let path = Path::from("a/b c.parquet");
        for (root, expected) in
            [("/", "/a/b c.parquet"), ("", "/a/b c.parquet"), ("/x//y/", "/x/y/a/b c.parquet")]
        {
            assert_eq!(Names::below(root).new_object(&path).unwrap(), expected, "{root}");
        }
        assert_eq!(Names::below("/").directory(""), "/");
        assert_eq!(Names::below("/x").directory(""), "/x");
        assert_eq!(Names::below("/x").directory("a"), "/x/a");
    }

    #[test]
    fn what_cannot_be_an_object_is_refused_and_never_found() {
        let names = Names::below("/");
        for name in ["", "a:b", "a/.zerohop-staged-1", ".zerohop-staged-1/part"] {
            let path = Path::parse(name).unwrap();
            let refused = names.new_object(&path).unwrap_err();
            assert!(matches!(refused, Error::NotSupported { .. }), "{name}");
            let missing = names.existing(&path).unwrap_err();
            assert!(matches!(missing, Error::NotFound { .. }), "{name}");
        }
    }

    #[test]
    fn hidden_files_are_in_the_directory_of_the_object() {
        let id = Uuid::nil();
        let hidden = |path| hidden(path, id);
        assert_eq!(hidden("/a/b"), format!("/a/.zerohop-staged-{id}"));
        assert_eq!(hidden("/a"), format!("/.zerohop-staged-{id}"));
        assert!(is_hidden(hidden("/a").trim_start_matches('/')));
    }
}
