//! A storage directory (`Storage.StorageDirectory`): its lock, its VERSION file, and how its small files are replaced.

mod file;
mod lock;
mod properties;

pub use file::{FileError, rename, replace, sync_directory};
pub use lock::{DirectoryLock, LockError};
pub use properties::{MalformedEscape, Properties};
