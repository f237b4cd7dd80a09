//! A file system behind a handle: HDFS, or this machine's own.

use crate::failure::{Failure, Result};
use crate::handles::Handles;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};
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
    /// Returns the path of a text that is a path, or a URI of this file system.
    fn path_of(&self, text: &str) -> Result<String>;
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

/// A file being written, which its own handle and that of its file system close.
pub(crate) type Writing = Mutex<Box<dyn Output>>;

/// The open files of a file system's handle.
#[derive(Default)]
struct Outputs {
    files: Vec<Weak<Writing>>,
    /// Number of entries at which those of closed files are removed.
    swept_at: usize,
}

impl Outputs {
    fn add(&mut self, file: &Arc<Writing>) {
        if self.files.len() >= self.swept_at {
            self.files.retain(|file| file.strong_count() > 0);
            self.swept_at = 2 * self.files.len().max(8);
        }
        self.files.push(Arc::downgrade(file));
    }
}

/// What a file system's handle stands for.
pub(crate) struct Connected {
    pub(crate) store: Arc<dyn Store>,
    /// Where relative paths start.
    pub(crate) working: Mutex<String>,
    /// `None` when it is disconnected.
    outputs: Mutex<Option<Outputs>>,
}

/// The file systems that are connected.
pub(crate) static FILE_SYSTEMS: Handles<Connected> = Handles::new("file system");

impl Connected {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        let working = Mutex::new(store.home());
        Self { store, working, outputs: Mutex::new(Some(Outputs::default())) }
    }

    /// Takes a file in that is open for writing. Fails, and closes it, if the file system was disconnected meanwhile.
    pub(crate) fn opened(&self, output: Box<dyn Output>) -> Result<Arc<Writing>> {
        let file = Arc::new(Mutex::new(output));
        let is_connected = self.outputs.lock().as_mut().map(|outputs| outputs.add(&file)).is_some();
        if !is_connected {
            file.lock().close()?;
            return Err(Failure::bad_handle("file system"));
        }
        Ok(file)
    }

    /// Completes the files that are open for writing, as `FileSystem.close()` does. Returns the first failure, after it
    /// has tried all of them.
    pub(crate) fn disconnect(&self) -> Result<()> {
        let Some(outputs) = self.outputs.lock().take() else { return Ok(()) };
        let open = outputs.files.iter().filter_map(Weak::upgrade);
        let failures = open.filter_map(|file| file.lock().close().err());
        failures.collect::<Vec<_>>().into_iter().next().map_or(Ok(()), Err)
    }

    /// Returns the absolute path of what C calls a path: without scheme and host, `.`, `..` and empty names.
    pub(crate) fn absolute(&self, path: &str) -> Result<String> {
        if path.is_empty() {
            return Err(Failure::invalid("Can not create a Path from an empty string"));
        }
        let mut path = self.store.path_of(path)?;
        if !path.starts_with('/') {
            path = format!("{}/{path}", self.working.lock());
        }
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
            ("FILE:/x", "/x"),
            ("b/c://d", "/home/a/b/c:/d"),
            ("/x://y", "/x:/y"),
            ("/", "/"),
        ] {
            assert_eq!(of(path).unwrap(), absolute, "{path}");
        }
        assert_eq!(of("").unwrap_err().errno(), libc::EINVAL);
        for other in ["hdfs://nn:8020/x", "file://host/x", "hdfs:/x"] {
            assert_eq!(of(other).unwrap_err().errno(), libc::EINVAL, "{other}");
        }
    }
}
