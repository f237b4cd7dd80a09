//! The local file system in the role that Hadoop's LocalFileSystem has.

use std::fs::{File, FileTimes, Metadata, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::crc_file::{is_crc_file, move_crc_file, remove_crc_file};
use super::local_files::{move_path, user_home};
use super::location::child;
use super::names::Names;
use super::status::{FileKind, FsStatus, QuotaUsage, Status, Summary};
use super::store::{CreateHow, Input, OpenHow, Output, Store, Times};
use crate::failure::{Failure, Kind, Outcome};
use zerohop_system::users;

/// What Hadoop reports as block size of local files unless fs.local.block.size says otherwise.
const BLOCK_SIZE: i64 = 32 << 20;
/// Entries handed over at a time.
const PAGE: usize = 1000;

/// The local file system.
#[derive(Default)]
pub struct LocalStore {
    users: Names,
    groups: Names,
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

fn millis(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
    }
}

impl LocalStore {
    fn describe(&self, path: &str, metadata: &Metadata) -> Status {
        let directory = metadata.is_dir();
        Status {
            path: path.to_owned(),
            kind: if directory { FileKind::Directory } else { FileKind::File },
            length: i64::try_from(metadata.len()).unwrap_or(i64::MAX),
            replication: if directory { 0 } else { 1 },
            block_size: if directory { 0 } else { BLOCK_SIZE },
            modified_ms: metadata.modified().map(millis).unwrap_or(0),
            accessed_ms: metadata.accessed().map(millis).unwrap_or(0),
            owner: self.users.of(metadata.uid(), users::user_name),
            group: self.groups.of(metadata.gid(), users::group_name),
            mode: metadata.mode() & 0o1777,
            has_acl: false,
            erasure_policy: String::new(),
            id: None,
        }
    }

    fn add_up(&self, path: &str, metadata: &Metadata, sum: &mut Summary) -> Outcome {
        if !metadata.is_dir() {
            sum.files += 1;
            sum.length += i64::try_from(metadata.len()).unwrap_or(0);
            return Ok(());
        }
        sum.directories += 1;
        for entry in std::fs::read_dir(path).map_err(|error| failure(path, error))? {
            let entry = entry.map_err(|error| failure(path, error))?;
            let name = child(path, &entry.file_name().to_string_lossy());
            let metadata = entry.metadata().map_err(|error| failure(&name, error))?;
            self.add_up(&name, &metadata, sum)?;
        }
        Ok(())
    }
}

impl Store for LocalStore {
    fn uri(&self) -> String {
        "file:///".to_owned()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn home(&self) -> String {
        let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
        here.to_string_lossy().into_owned()
    }

    fn trash_root(&self) -> String {
        child(&user_home(), ".Trash")
    }

    fn status(&self, path: &str) -> Outcome<Status> {
        let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
            // A file where the path wants a directory: there is no such path either.
            std::io::ErrorKind::NotADirectory => Failure::not_found(path),
            _ => failure(path, error),
        })?;
        Ok(self.describe(path, &metadata))
    }

    fn list(&self, path: &str, page: &mut dyn FnMut(Vec<Status>) -> Outcome) -> Outcome {
        let status = self.status(path)?;
        if !status.is_dir() {
            return page(vec![status]);
        }
        let mut names = Vec::new();
        for entry in std::fs::read_dir(path).map_err(|error| failure(path, error))? {
            let entry = entry.map_err(|error| failure(path, error))?;
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        names.retain(|name| !is_crc_file(name));
        names.sort_unstable();
        for names in names.chunks(PAGE) {
            // What vanished since, or a link to nowhere, is left out.
            let statuses = names.iter().filter_map(|name| self.status(&child(path, name)).ok());
            page(statuses.collect())?;
        }
        Ok(())
    }

    fn open(&self, path: &str, _how: OpenHow) -> Outcome<Box<dyn Input>> {
        let file = File::open(path).map_err(|error| failure(path, error))?;
        Ok(Box::new(LocalInput(file)))
    }

    fn create(&self, path: &str, how: CreateHow) -> Outcome<Box<dyn Output>> {
        if let Some(parent) = Path::new(path).parent() {
            std::fs::create_dir_all(parent)
                .map_err(|error| failure(&parent.to_string_lossy(), error))?;
        }
        let mut options = OpenOptions::new();
        options.write(true).truncate(how.overwrite);
        if how.overwrite {
            options.create(true)
        } else {
            options.create_new(true)
        };
        let file = options.open(path).map_err(|error| failure(path, error))?;
        remove_crc_file(path).map_err(|error| failure(path, error))?;
        Ok(Box::new(LocalOutput { file, path: path.to_owned() }))
    }

    fn append(&self, path: &str, _new_block: bool) -> Outcome<Box<dyn Output>> {
        let file = OpenOptions::new().append(true).open(path);
        let file = file.map_err(|error| failure(path, error))?;
        remove_crc_file(path).map_err(|error| failure(path, error))?;
        Ok(Box::new(LocalOutput { file, path: path.to_owned() }))
    }

    fn mkdirs(&self, path: &str) -> Outcome<bool> {
        std::fs::create_dir_all(path).map_err(|error| failure(path, error))?;
        Ok(true)
    }

    fn delete(&self, path: &str, recursive: bool) -> Outcome<bool> {
        let metadata = match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            other => other.map_err(|error| failure(path, error))?,
        };
        let done = match (metadata.is_dir(), recursive) {
            (true, true) => std::fs::remove_dir_all(path),
            (true, false) => std::fs::remove_dir(path),
            (false, _) => remove_crc_file(path).and_then(|()| std::fs::remove_file(path)),
        };
        done.map_err(|error| failure(path, error))?;
        Ok(true)
    }

    fn rename(&self, from: &str, to: &str) -> Outcome<bool> {
        let inside = std::fs::metadata(to).is_ok_and(|target| target.is_dir());
        let name = from.rsplit('/').next().unwrap_or_default();
        let to = if inside { child(to, name) } else { to.to_owned() };
        move_path(Path::new(from), Path::new(&to)).map_err(|error| failure(from, error))?;
        move_crc_file(from, &to).map_err(|error| failure(from, error))?;
        Ok(true)
    }

    fn replace(&self, from: &str, to: &str) -> Outcome {
        let moved = std::fs::rename(from, to).and_then(|()| move_crc_file(from, to));
        moved.map_err(|error| failure(to, error))
    }

    fn set_permission(&self, path: &str, mode: u32) -> Outcome {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path, permissions).map_err(|error| failure(path, error))
    }

    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Outcome {
        let id = |look_up: fn(&str) -> Option<u32>, name: Option<&str>, what: &str| {
            let Some(name) = name else { return Ok(None) };
            let id = look_up(name).or_else(|| name.parse().ok());
            id.map(Some).ok_or_else(|| Failure::io(format!("invalid {what}: `{name}'")))
        };
        let user = id(users::user_id, owner, "user")?;
        let group = id(users::group_id, group, "group")?;
        std::os::unix::fs::chown(path, user, group).map_err(|error| failure(path, error))
    }

    fn set_times(&self, path: &str, times: Times) -> Outcome {
        let at = |ms: i64| SystemTime::UNIX_EPOCH + Duration::from_millis(ms.max(0).unsigned_abs());
        let mut change = FileTimes::new();
        if let Some(ms) = times.modified_ms {
            change = change.set_modified(at(ms));
        }
        if let Some(ms) = times.accessed_ms {
            change = change.set_accessed(at(ms));
        }
        let file = File::open(path).map_err(|error| failure(path, error))?;
        file.set_times(change).map_err(|error| failure(path, error))
    }

    fn summary(&self, path: &str) -> Outcome<Summary> {
        let metadata = std::fs::metadata(path).map_err(|error| failure(path, error))?;
        let mut sum = Summary { quota: -1, space_quota: -1, ..Summary::default() };
        self.add_up(path, &metadata, &mut sum)?;
        sum.space_consumed = sum.length;
        Ok(sum)
    }

    fn fs_status(&self) -> Outcome<FsStatus> {
        let stat = rustix::fs::statvfs("/").map_err(std::io::Error::from)?;
        let bytes = |blocks: u64| i64::try_from(blocks * stat.f_frsize).unwrap_or(i64::MAX);
        Ok(FsStatus {
            capacity: bytes(stat.f_blocks),
            used: bytes(stat.f_blocks - stat.f_bfree),
            remaining: bytes(stat.f_bavail),
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
        let file = OpenOptions::new().write(true).open(path);
        let file = file.map_err(|error| failure(path, error))?;
        let cut = file.set_len(length.max(0).unsigned_abs());
        cut.and_then(|()| remove_crc_file(path)).map_err(|error| failure(path, error))?;
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

    fn finish(mut self: Box<Self>) -> Outcome {
        self.file.flush().map_err(|error| {
            let found = failure(&self.path, error);
            Failure { kind: Kind::Io, ..found }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hadoop's programs cannot read a file whose side file is of another.
    #[test]
    fn checksums_of_an_earlier_file_go() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        let fill = |names: &[&str]| {
            names.iter().for_each(|name| std::fs::write(path(name), *name).unwrap());
        };
        let names = || {
            let entries = std::fs::read_dir(directory.path()).unwrap();
            let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
            let mut names: Vec<String> =
                entries.map(|entry| name(entry).into_string().unwrap()).collect();
            names.sort();
            names
        };
        let store = LocalStore::default();
        fill(&["a", ".a.crc"]);
        let how = CreateHow { overwrite: true, lazy_persist: false };
        store.create(&path("a"), how).unwrap().finish().unwrap();
        assert_eq!(names(), ["a"]);
        fill(&["a", ".a.crc"]);
        store.append(&path("a"), false).unwrap().finish().unwrap();
        assert_eq!(names(), ["a"]);
        fill(&[".a.crc"]);
        store.truncate(&path("a"), 0).unwrap();
        assert_eq!(names(), ["a"]);

        fill(&[".a.crc", "b", ".b.crc"]);
        store.rename(&path("a"), &path("b")).unwrap();
        assert_eq!(names(), [".b.crc", "b"]);
        assert_eq!(std::fs::read_to_string(path(".b.crc")).unwrap(), ".a.crc");
        fill(&["c"]);
        store.replace(&path("c"), &path("b")).unwrap();
        assert_eq!(names(), ["b"]);
        fill(&[".b.crc"]);
        assert!(store.delete(&path("b"), false).unwrap());
        assert!(names().is_empty());
    }

    #[test]
    fn the_trash_is_the_users() {
        assert_eq!(LocalStore::default().trash_root(), format!("{}/.Trash", user_home()));
    }
}
