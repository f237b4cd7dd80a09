//! The local file system in the role that Hadoop's LocalFileSystem has.

use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom, Write};

use super::location::child;
use super::status::{FileKind, FsStatus, QuotaUsage, Status, Summary};
use super::store::{CreateHow, Input, OpenHow, Output, Store, Times};
use crate::failure::{Failure, Kind, Outcome};
use zerohop_local::{BLOCK_SIZE, Entry, LocalError, LocalFiles, is_crc_file};
use zerohop_system::{files, users};

/// The local file system.
#[derive(Default)]
pub struct LocalStore(LocalFiles);

impl From<LocalError> for Failure {
    fn from(error: LocalError) -> Self {
        failure(&error.path, error.source)
    }
}

fn failure(path: &str, error: std::io::Error) -> Failure {
    let problem = match error.kind() {
        std::io::ErrorKind::NotFound => return Failure::not_found(path),
        std::io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        std::io::ErrorKind::AlreadyExists => return Failure::exists(path),
        std::io::ErrorKind::StorageFull => "No space left on device".to_owned(),
        _ => error.to_string(),
    };
    Failure { kind: Failure::from(error).kind, ..Failure::path(path, &problem) }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn status_of(entry: Entry) -> Status {
    let is_directory = entry.is_directory;
    Status {
        path: entry.path,
        kind: if is_directory { FileKind::Directory } else { FileKind::File },
        length: signed(entry.len),
        replication: if is_directory { 0 } else { 1 },
        block_size: if is_directory { 0 } else { signed(BLOCK_SIZE) },
        modified_ms: entry.modified_ms,
        accessed_ms: entry.accessed_ms,
        owner: entry.owner,
        group: entry.group,
        mode: entry.mode,
        has_acl: false,
        erasure_policy: String::new(),
        id: None,
    }
}

fn add_up(path: &str, metadata: &Metadata, sum: &mut Summary) -> Outcome {
    if !metadata.is_dir() {
        sum.files += 1;
        sum.length += signed(metadata.len());
        return Ok(());
    }
    sum.directories += 1;
    for entry in std::fs::read_dir(path).map_err(|error| failure(path, error))? {
        let entry = entry.map_err(|error| failure(path, error))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_crc_file(&name) {
            continue;
        }
        let name = child(path, &name);
        let metadata = entry.metadata().map_err(|error| failure(&name, error))?;
        add_up(&name, &metadata, sum)?;
    }
    Ok(())
}

/// Returns the home directory of the user of this process, as Java's `user.home`: from the user database, otherwise
/// from `HOME`.
fn user_home() -> String {
    let listed = users::home(users::real_id()).filter(|home| home.is_absolute());
    let listed = listed.and_then(|home| home.into_os_string().into_string().ok());
    let home = listed.or_else(|| std::env::var("HOME").ok().filter(|home| !home.is_empty()));
    home.unwrap_or_else(|| "/".to_owned())
}

impl Store for LocalStore {
    fn uri(&self) -> String {
        "file:///".to_owned()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn home(&self) -> String {
        LocalFiles::home()
    }

    fn trash_root(&self) -> String {
        child(&user_home(), ".Trash")
    }

    fn status(&self, path: &str) -> Outcome<Status> {
        Ok(status_of(self.0.status(path)?))
    }

    fn list(&self, path: &str, page: &mut dyn FnMut(Vec<Status>) -> Outcome) -> Outcome {
        let status = self.status(path)?;
        if !status.is_dir() {
            return page(vec![status]);
        }
        for entries in self.0.pages(path)? {
            page(entries?.into_iter().map(status_of).collect())?;
        }
        Ok(())
    }

    fn open(&self, path: &str, _how: OpenHow) -> Outcome<Box<dyn Input>> {
        Ok(Box::new(LocalInput(self.0.open(path)?)))
    }

    fn create(&self, path: &str, how: CreateHow) -> Outcome<Box<dyn Output>> {
        let file = self.0.create(path, how.overwrite)?;
        Ok(Box::new(LocalOutput { file, path: path.to_owned() }))
    }

    fn append(&self, path: &str, _new_block: bool) -> Outcome<Box<dyn Output>> {
        let file = self.0.append(path)?;
        Ok(Box::new(LocalOutput { file, path: path.to_owned() }))
    }

    fn mkdirs(&self, path: &str) -> Outcome<bool> {
        self.0.mkdirs(path)?;
        Ok(true)
    }

    fn delete(&self, path: &str, recursive: bool) -> Outcome<bool> {
        Ok(self.0.delete(path, recursive)?)
    }

    fn rename(&self, from: &str, to: &str) -> Outcome<bool> {
        self.0.rename(from, to)?;
        Ok(true)
    }

    fn replace(&self, from: &str, to: &str) -> Outcome {
        Ok(self.0.replace(from, to)?)
    }

    fn set_permission(&self, path: &str, mode: u32) -> Outcome {
        Ok(self.0.set_permission(path, mode)?)
    }

    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Outcome {
        match self.0.set_owner(path, owner, group) {
            // As chown(1) words it, without the path.
            Err(error) if error.source.kind() == std::io::ErrorKind::InvalidInput => {
                Err(Failure::io(error.source.to_string()))
            }
            done => Ok(done?),
        }
    }

    fn set_times(&self, path: &str, times: Times) -> Outcome {
        Ok(self.0.set_times(path, times.modified_ms, times.accessed_ms)?)
    }

    fn summary(&self, path: &str) -> Outcome<Summary> {
        let metadata = std::fs::metadata(path).map_err(|error| failure(path, error))?;
        let mut sum = Summary { quota: -1, space_quota: -1, ..Summary::default() };
        add_up(path, &metadata, &mut sum)?;
        sum.space_consumed = sum.length;
        Ok(sum)
    }

    fn fs_status(&self) -> Outcome<FsStatus> {
        let (capacity, used, remaining) = self.0.capacity()?;
        Ok(FsStatus {
            capacity: signed(capacity),
            used: signed(used),
            remaining: signed(remaining),
        })
    }

    fn access(&self, path: &str, mask: u32) -> Outcome {
        let mut wanted = rustix::fs::Access::EXISTS;
        wanted.set(rustix::fs::Access::READ_OK, mask & 4 != 0);
        wanted.set(rustix::fs::Access::WRITE_OK, mask & 2 != 0);
        wanted.set(rustix::fs::Access::EXEC_OK, mask & 1 != 0);
        rustix::fs::access(path, wanted).map_err(|error| failure(path, error.into()))
    }

    fn truncate(&self, path: &str, length: i64) -> Outcome<bool> {
        self.0.truncate(path, length.max(0).unsigned_abs())?;
        Ok(true)
    }

    fn quota_usage(&self, path: &str) -> Outcome<QuotaUsage> {
        let sum = self.summary(path)?;
        Ok(QuotaUsage {
            files_and_directories: sum.files + sum.directories,
            quota: -1,
            space_consumed: sum.length,
            space_quota: -1,
            types: Vec::new(),
        })
    }
}

struct LocalInput(File);

impl Read for LocalInput {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Input for LocalInput {
    fn seek_to(&mut self, offset: u64) -> Outcome {
        self.0.seek(SeekFrom::Start(offset))?;
        Ok(())
    }
}

struct LocalOutput {
    file: File,
    path: String,
}

impl Write for LocalOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Output for LocalOutput {
    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }

    fn finish(self: Box<Self>) -> Outcome {
        files::close(self.file).map_err(|error| {
            let found = failure(&self.path, error);
            Failure { kind: Kind::Io, ..found }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trash_is_the_users() {
        assert_eq!(LocalStore::default().trash_root(), format!("{}/.Trash", user_home()));
    }
}
