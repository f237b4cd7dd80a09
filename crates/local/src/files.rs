//! The calls of the local file system.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT};
use zerohop_system::users;

use crate::crc_file::{is_crc_file, move_crc_file, remove_crc_file};
use crate::error::{LocalError, Result, at};
use crate::moves::move_path;
use crate::names::Names;

/// The block size that Hadoop reports for local files, unless `fs.local.block.size` names another.
pub const BLOCK_SIZE: u64 = 32 << 20;

/// Number of entries of a page of a listing.
const PAGE: usize = 1000;

/// The local file system.
#[derive(Debug, Default)]
pub struct LocalFiles {
    users: Names,
    groups: Names,
}

/// The status of a local path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The path as the caller named it, or the path of its directory with its name.
    pub path: String,
    /// True if the path is a directory, or a link to one.
    pub is_directory: bool,
    /// Number of bytes, as the system reports it.
    pub len: u64,
    /// Time of the last change, in milliseconds since 1970.
    pub modified_ms: i64,
    /// Time of the last read, in milliseconds since 1970.
    pub accessed_ms: i64,
    /// Name of the owner, or its number.
    pub owner: String,
    /// Name of the group, or its number.
    pub group: String,
    /// The permission bits with the sticky bit.
    pub mode: u32,
    /// The device and inode, which are the same under every name of a file.
    pub identity: (u64, u64),
}

fn millis(seconds: i64, nanoseconds: i64) -> i64 {
    seconds.saturating_mul(1000).saturating_add(nanoseconds / 1_000_000)
}

/// Returns the path of a name in a directory.
fn child(directory: &str, name: &str) -> String {
    format!("{}/{name}", directory.trim_end_matches('/'))
}

/// Returns `true` if there is no such path: also below a file, and at the end of links that lead nowhere.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

impl LocalFiles {
    /// Returns the directory in which relative paths start.
    pub fn home() -> String {
        let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
        here.to_string_lossy().into_owned()
    }

    fn entry(&self, path: String, metadata: &Metadata) -> Entry {
        Entry {
            path,
            is_directory: metadata.is_dir(),
            len: metadata.len(),
            modified_ms: millis(metadata.mtime(), metadata.mtime_nsec()),
            accessed_ms: millis(metadata.atime(), metadata.atime_nsec()),
            owner: self.users.of(metadata.uid(), users::user_name),
            group: self.groups.of(metadata.gid(), users::group_name),
            mode: metadata.mode() & 0o1777,
            identity: (metadata.dev(), metadata.ino()),
        }
    }

    /// Returns the status of a path, of a link's target if it is a link.
    ///
    /// # Errors
    /// Fails with `NotFound` if there is no such path, which includes paths below a file.
    pub fn status(&self, path: &str) -> Result<Entry> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(self.entry(path.to_owned(), &metadata)),
            Err(error) if is_missing(&error) => Err(at(path)(io::ErrorKind::NotFound.into())),
            Err(error) => Err(at(path)(error)),
        }
    }

    /// Lists a directory in order of name, page by page. Links that lead nowhere, and paths that disappear meanwhile,
    /// are left out.
    ///
    /// # Errors
    /// Fails if the directory cannot be read. A page fails if the system does not describe an entry.
    pub fn pages(&self, directory: &str) -> Result<impl Iterator<Item = Result<Vec<Entry>>>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(directory).map_err(at(directory))? {
            let name = entry.map_err(at(directory))?.file_name();
            let name = name.into_string().map_err(|name| not_text(directory, &name))?;
            if !is_crc_file(&name) {
                names.push(name);
            }
        }
        names.sort_unstable();
        let directory = directory.to_owned();
        let mut names = names.into_iter();
        Ok(std::iter::from_fn(move || {
            let page: Vec<String> = names.by_ref().take(PAGE).collect();
            (!page.is_empty()).then(|| self.page(&directory, &page))
        }))
    }

    fn page(&self, directory: &str, names: &[String]) -> Result<Vec<Entry>> {
        let found = names.iter().map(|name| self.status(&child(directory, name)));
        let gone = |found: &Result<Entry>| {
            found.as_ref().is_err_and(|error| error.source.kind() == io::ErrorKind::NotFound)
        };
        found.filter(|found| !gone(found)).collect()
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// Fails if the system cannot open the file.
    pub fn open(&self, path: &str) -> Result<File> {
        File::open(path).map_err(at(path))
    }

    /// Creates a file, and the directories above it that are missing. Close it with [`finish`](crate::finish).
    ///
    /// # Errors
    /// Fails with `AlreadyExists` if there is such a file and it is not to be overwritten.
    pub fn create(&self, path: &str, overwrite: bool) -> Result<File> {
        if let Some(above) = Path::new(path).parent() {
            fs::create_dir_all(above).map_err(at(&above.to_string_lossy()))?;
        }
        if overwrite {
            // Before the file is cut: where this fails, the old file stays.
            remove_crc_file(path).map_err(at(path))?;
            return File::create(path).map_err(at(path));
        }
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(at(path))?;
        remove_crc_file(path).map_err(at(path))?;
        Ok(file)
    }

    /// Opens a file for writing at its end. Close it with [`finish`](crate::finish).
    ///
    /// # Errors
    /// Fails if there is no such file.
    pub fn append(&self, path: &str) -> Result<File> {
        let file = OpenOptions::new().append(true).open(path).map_err(at(path))?;
        remove_crc_file(path).map_err(at(path))?;
        Ok(file)
    }

    /// Cuts a file.
    ///
    /// # Errors
    /// Fails with `InvalidInput` if the file is shorter than `len`.
    pub fn truncate(&self, path: &str, len: u64) -> Result<()> {
        let file = OpenOptions::new().write(true).open(path).map_err(at(path))?;
        if len > file.metadata().map_err(at(path))?.len() {
            let text = format!("cannot truncate to a larger file size, {len} bytes");
            return Err(at(path)(io::Error::new(io::ErrorKind::InvalidInput, text)));
        }
        remove_crc_file(path).map_err(at(path))?;
        file.set_len(len).map_err(at(path))?;
        zerohop_system::files::close(file).map_err(at(path))
    }

    /// Creates a directory, and those above it that are missing.
    ///
    /// # Errors
    /// Fails if a file stands in the way.
    pub fn mkdirs(&self, path: &str) -> Result<()> {
        fs::create_dir_all(path).map_err(at(path))
    }

    /// Deletes a path. Returns `false` if there is no such path.
    ///
    /// # Errors
    /// Fails if the path is a directory that is not empty, unless `recursive` is set.
    pub fn delete(&self, path: &str, recursive: bool) -> Result<bool> {
        let metadata = match fs::symlink_metadata(path) {
            Err(error) if is_missing(&error) => return Ok(false),
            other => other.map_err(at(path))?,
        };
        let done = match (metadata.is_dir(), recursive) {
            (true, true) => fs::remove_dir_all(path),
            (true, false) => fs::remove_dir(path),
            (false, _) => remove_crc_file(path).and_then(|()| fs::remove_file(path)),
        };
        done.map_err(at(path))?;
        Ok(true)
    }

    /// Renames a path, into `to` if that is a directory. A file with the new name is replaced.
    ///
    /// # Errors
    /// Fails if the system cannot rename the path, or copy it to another disk.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        let inside = fs::metadata(to).is_ok_and(|target| target.is_dir());
        let name = from.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let to = if inside { child(to, name) } else { to.to_owned() };
        move_path(Path::new(from), Path::new(&to)).map_err(at(from))?;
        move_crc_file(from, &to).map_err(at(from))
    }

    /// Renames a file to a name on the same disk. A file with that name is replaced in one step.
    ///
    /// # Errors
    /// Fails if the system cannot rename the file.
    pub fn replace(&self, from: &str, to: &str) -> Result<()> {
        let moved = fs::rename(from, to).and_then(|()| move_crc_file(from, to));
        moved.map_err(at(to))
    }

    /// Sets the permission bits.
    ///
    /// # Errors
    /// Fails if the path is not the caller's.
    pub fn set_permission(&self, path: &str, mode: u32) -> Result<()> {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).map_err(at(path))
    }

    /// Sets owner and group by name or number; `None` changes nothing.
    ///
    /// # Errors
    /// Fails with `InvalidInput` if there is no such user or group.
    pub fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Result<()> {
        let id = |look_up: fn(&str) -> Option<u32>, name: Option<&str>, what: &str| {
            let Some(name) = name else { return Ok(None) };
            let id = look_up(name).or_else(|| name.parse().ok());
            let unknown = || {
                let text = format!("invalid {what}: `{name}'");
                at(path)(io::Error::new(io::ErrorKind::InvalidInput, text))
            };
            id.map(Some).ok_or_else(unknown)
        };
        let user = id(users::user_id, owner, "user")?;
        let group = id(users::group_id, group, "group")?;
        std::os::unix::fs::chown(path, user, group).map_err(at(path))
    }

    /// Sets the times of the last change and of the last read, in milliseconds since 1970; `None` changes nothing.
    ///
    /// # Errors
    /// Fails if the path is not the caller's.
    pub fn set_times(
        &self,
        path: &str,
        modified_ms: Option<i64>,
        accessed_ms: Option<i64>,
    ) -> Result<()> {
        let time = |ms: Option<i64>| match ms {
            None => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            Some(ms) => {
                Timespec { tv_sec: ms.div_euclid(1000), tv_nsec: ms.rem_euclid(1000) * 1_000_000 }
            }
        };
        let times =
            Timestamps { last_access: time(accessed_ms), last_modification: time(modified_ms) };
        let set = rustix::fs::utimensat(CWD, path, &times, AtFlags::empty());
        set.map_err(|error| at(path)(error.into()))
    }

    /// Returns the size of the root's disk in bytes, how many of them are used, and how many there are for files.
    ///
    /// # Errors
    /// Fails if the system does not say.
    pub fn capacity(&self) -> Result<(u64, u64, u64)> {
        let found = rustix::fs::statvfs("/").map_err(|error| at("/")(error.into()))?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        let used = found.f_blocks.saturating_sub(found.f_bfree);
        Ok((bytes(found.f_blocks), bytes(used), bytes(found.f_bavail)))
    }
}

/// Creates the error for a name that HDFS cannot have. A listing without it would lose a file in a copy.
fn not_text(directory: &str, name: &std::ffi::OsStr) -> LocalError {
    let text = format!("the name {name:?} is not UTF-8; rename the file");
    at(directory)(io::Error::new(io::ErrorKind::InvalidData, text))
}

#[cfg(test)]
#[path = "files_test.rs"]
mod tests;
