//! A file system behind a handle: HDFS, or this machine's own.

use crate::failure::Result;
use crate::handles::Handles;
use parking_lot::Mutex;
use std::sync::Arc;
use zerohop::{HedgedReads, ReadStatistics, ZeroCopyRead};

/// How a file is made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Creation {
    pub(crate) replication: Option<u16>,
    pub(crate) block_size: Option<u64>,
    /// A file that is there is an error.
    pub(crate) is_exclusive: bool,
}

/// What is known of a path.
#[derive(Clone, Debug)]
pub(crate) struct Info {
    pub(crate) is_directory: bool,
    pub(crate) name: String,
    pub(crate) modified_s: u64,
    pub(crate) accessed_s: u64,
    pub(crate) len: u64,
    pub(crate) replication: u16,
    pub(crate) block_size: u64,
    pub(crate) owner: String,
    pub(crate) group: String,
    pub(crate) permission: u16,
    pub(crate) is_encrypted: bool,
    /// Two numbers that a path has under every name of its file system, and that hardly any other path has.
    pub(crate) identity: (u64, u64),
}

/// The replicas of a block.
#[derive(Clone, Debug)]
pub(crate) struct BlockHosts {
    pub(crate) offset: u64,
    pub(crate) len: u64,
    pub(crate) is_corrupt: bool,
    pub(crate) hosts: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) topology: Vec<String>,
}

/// A file being read.
pub(crate) trait Input: Send + Sync {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize>;
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize>;
    fn seek(&mut self, offset: u64) -> Result<()>;
    fn pos(&mut self) -> Result<u64>;
    fn len(&self) -> Result<u64>;
    fn unbuffer(&mut self) -> Result<()>;
    fn statistics(&self) -> Result<ReadStatistics>;
    fn read_zero_copy(&mut self, len: usize) -> Result<ZeroCopyRead>;
}

/// A file being written.
pub(crate) trait Output: Send {
    fn write(&mut self, data: &[u8]) -> Result<()>;
    fn pos(&mut self) -> Result<u64>;
    /// Whoever opens the file from now on sees what was written.
    fn hflush(&mut self) -> Result<()>;
    /// What was written is on disk.
    fn hsync(&mut self) -> Result<()>;
    fn close(&mut self) -> Result<()>;
}

/// A file system. Paths are absolute.
pub(crate) trait Store: Send + Sync {
    /// What a path begins with to be a URI, such as `hdfs://nn:8020`.
    fn uri(&self) -> &str;
    fn home(&self) -> String;
    fn open(&self, path: &str) -> Result<Box<dyn Input>>;
    fn create(&self, path: &str, creation: Creation) -> Result<Box<dyn Output>>;
    fn append(&self, path: &str) -> Result<Box<dyn Output>>;
    /// Whether it is done at once.
    fn truncate(&self, path: &str, len: u64) -> Result<bool>;
    fn info(&self, path: &str) -> Result<Info>;
    fn list(&self, path: &str) -> Result<Vec<Info>>;
    fn mkdirs(&self, path: &str) -> Result<bool>;
    fn delete(&self, path: &str, recursive: bool) -> Result<bool>;
    fn rename(&self, from: &str, to: &str) -> Result<bool>;
    /// Gives a file the name of another, which it replaces in one step.
    fn replace(&self, from: &str, to: &str) -> Result<()>;
    fn set_replication(&self, path: &str, replication: u16) -> Result<bool>;
    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Result<()>;
    fn set_permission(&self, path: &str, mode: u16) -> Result<()>;
    /// Milliseconds since 1970.
    fn set_times(&self, path: &str, modified: Option<u64>, accessed: Option<u64>) -> Result<()>;
    fn block_hosts(&self, path: &str, offset: u64, len: u64) -> Result<Vec<BlockHosts>>;
    fn default_block_size(&self, path: &str) -> Result<u64>;
    /// Bytes that there is room for, and bytes used.
    fn capacity(&self) -> Result<(u64, u64)>;
    fn hedged_reads(&self) -> HedgedReads;
}

/// What a file system's handle stands for.
pub(crate) struct Connected {
    pub(crate) store: Arc<dyn Store>,
    /// Where relative paths start.
    pub(crate) working: Mutex<String>,
}

/// The file systems that are connected.
pub(crate) static FILE_SYSTEMS: Handles<Connected> = Handles::new("file system");

impl Connected {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let working = Mutex::new(store.home());
        Self { store, working }
    }

    /// The absolute path of what C calls a path: without scheme and host, `.` and `..` and empty names.
    pub(crate) fn absolute(&self, path: &str) -> Result<String> {
        let path = match path.split_once("://") {
            Some((scheme, rest)) => {
                let own = self.store.uri();
                let path = rest.find('/').map_or("/", |at| &rest[at..]);
                let authority = &rest[..rest.len() - path.len().min(rest.len())];
                let is_own = own.split_once("://").is_some_and(|(own_scheme, own_authority)| {
                    scheme.eq_ignore_ascii_case(own_scheme)
                        && (authority.is_empty() || authority == own_authority)
                });
                if !is_own {
                    let text = format!("Wrong FS: {scheme}://{rest}, expected: {own}");
                    return Err(crate::failure::Failure::invalid(text));
                }
                path.to_owned()
            }
            None if path.starts_with("file:/") => path["file:".len()..].to_owned(),
            None if path.is_empty() => {
                let text = "Can not create a Path from an empty string";
                return Err(crate::failure::Failure::invalid(text));
            }
            None if path.starts_with('/') => path.to_owned(),
            None => format!("{}/{path}", self.working.lock()),
        };
        let mut names: Vec<&str> = Vec::new();
        for name in path.split('/') {
            match name {
                "" | "." => (),
                ".." => drop(names.pop()),
                name => names.push(name),
            }
        }
        Ok(format!("/{}", names.join("/")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_store::LocalStore;

    #[test]
    fn a_path_is_absolute_relative_or_a_uri() {
        let connected = Connected::new(Arc::new(LocalStore::default()));
        *connected.working.lock() = "/home/a".to_owned();
        let of = |path: &str| connected.absolute(path);
        for (path, absolute) in [
            ("b", "/home/a/b"),
            ("../b/./c//d", "/home/b/c/d"),
            ("/x/../y", "/y"),
            ("file:/x", "/x"),
            ("file:///x/y", "/x/y"),
            ("/", "/"),
        ] {
            assert_eq!(of(path).unwrap(), absolute, "{path}");
        }
        assert_eq!(of("").unwrap_err().errno(), libc::EINVAL);
        assert_eq!(of("hdfs://nn:8020/x").unwrap_err().errno(), libc::EINVAL);
    }
}
