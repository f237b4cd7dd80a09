//! Hadoop archives as file systems that can only be read: `har`, as Hadoop's `HarFileSystem` behaves.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use zerohop_client::{FileKind, User};
use zerohop_conf::Conf;
use zerohop_system::users;

use super::har_index::{HarEntry, HarIndex, MasterIndex};
use super::location::{Location, absolute, child, parent};
use super::status::{FsStatus, QuotaUsage, Status, Summary};
use super::store::{CreateHow, Input, OpenHow, Output, Store, Stores, Times};
use crate::failure::{Failure, Kind, Outcome};

/// The place of an archive.
pub struct Archive {
    /// `har://hdfs-host:port/dir/name.har` or `har:/dir/name.har`
    uri: String,
    /// The path of its directory.
    path: String,
    /// The file system that holds it.
    below: Location,
}

impl Archive {
    /// Finds the archive of a location: the innermost name of its path that ends in `.har`.
    ///
    /// # Errors
    /// Returns the same errors as `HarFileSystem.initialize`.
    pub fn of(location: &Location, authority: Option<&str>, conf: &Conf) -> Outcome<Archive> {
        let path = match &location.scheme {
            Some(_) => location.path.clone(),
            // A path without a scheme is one of the default file system's archive.
            None => Location::default_of(conf)?.path,
        };
        let prefix = authority.map_or("har:".to_owned(), |authority| format!("har://{authority}"));
        let shown = format!("{prefix}{path}");
        let path = absolute(&path, "/");
        let above = std::iter::successors(Some(path.as_str()), |path| parent(path));
        let archive = above.into_iter().find(|path| path.ends_with(".har"));
        let archive = archive.ok_or_else(|| {
            let given = format!("har://{}{path}", authority.unwrap_or_default());
            Failure::io(format!("Invalid path for the Har Filesystem. {given}"))
        })?;
        let below = match authority {
            None => Location::default_of(conf)?,
            Some(authority) => {
                let (scheme, authority) = authority.split_once('-').ok_or_else(|| {
                    Failure::io(format!(
                        "URI: {shown} is an invalid Har URI since '-' not found.  Expecting har://<scheme>-<host>/<path>."
                    ))
                })?;
                let authority = Some(authority).filter(|text| !matches!(*text, "" | ":"));
                Location {
                    scheme: Some(scheme.to_owned()),
                    authority: authority.map(str::to_owned),
                    path: String::new(),
                }
            }
        };
        if below.scheme.as_deref().is_some_and(|scheme| scheme.eq_ignore_ascii_case("har")) {
            return Err(Failure::io(format!(
                "{shown}: an archive cannot hold itself; give har://<scheme>-<host>/<path>"
            )));
        }
        let uri = format!("{prefix}{archive}");
        Ok(Archive { uri, path: archive.to_owned(), below })
    }

    pub fn uri(&self) -> &str {
        &self.uri
    }
}

/// Opens an archive and reads its index.
pub fn open(archive: Archive, stores: &dyn Stores) -> Outcome<Arc<dyn Store>> {
    let below = stores.open(&archive.below)?;
    let path = archive.path;
    let (master, index) = (child(&path, "_masterindex"), child(&path, "_index"));
    if !below.exists(&master)? || !below.exists(&index)? {
        return Err(Failure::io(format!(
            "Invalid path for the Har Filesystem. No index file in {}",
            archive.uri
        )));
    }
    let ranges = MasterIndex::read(below.open(&master, OpenHow::default())?)?;
    let mut entries = ranges.index();
    let mut input = below.open(&index, OpenHow::default())?;
    for (begin, end) in &ranges.ranges {
        input.seek_to(*begin)?;
        entries.add((&mut *input).take(end - begin))?;
    }
    let authority = match below.uri().split_once("://") {
        Some((scheme, "" | "/")) => format!("{scheme}-:"),
        Some((scheme, authority)) => format!("{scheme}-{authority}"),
        None => String::new(),
    };
    let mut files = HashMap::new();
    for status in below.list_all(&path)? {
        files.insert(status.path.clone(), status);
    }
    files.insert(path.clone(), below.status(&path)?);
    let uri = format!("har://{authority}");
    Ok(Arc::new(HarStore { uri, path, below, index: entries, files: Mutex::new(files) }))
}

struct HarStore {
    uri: String,
    /// The directory of the archive.
    path: String,
    below: Arc<dyn Store>,
    index: HarIndex,
    /// The archive's directory and files, whose owners and permissions count for all that is in them.
    files: Mutex<HashMap<String, Status>>,
}

fn not_allowed(what: &str) -> Failure {
    Failure::io(format!("Har: {what} not allowed"))
}

impl HarStore {
    /// Returns the path in the archive.
    fn inside(&self, path: &str) -> Outcome<String> {
        match path.strip_prefix(&self.path) {
            Some("") => Ok("/".to_owned()),
            Some(inside) if inside.starts_with('/') => Ok(inside.to_owned()),
            _ => {
                Err(Failure::io(format!("Invalid file name: {path} in {}{}", self.uri, self.path)))
            }
        }
    }

    fn entry(&self, path: &str) -> Outcome<&HarEntry> {
        let inside = self.inside(path)?;
        self.index.get(&inside).ok_or_else(|| Failure {
            text: format!("File: {path} does not exist in {}{}", self.uri, self.path),
            ..Failure::not_found(path)
        })
    }

    fn file_below(&self, path: &str) -> Outcome<Status> {
        let lock = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(status) = lock().get(path) {
            return Ok(status.clone());
        }
        let status = self.below.status(path)?;
        lock().insert(path.to_owned(), status.clone());
        Ok(status)
    }

    fn describe(&self, path: String, entry: &HarEntry) -> Outcome<Status> {
        let holder = match &entry.part {
            Some(part) => self.file_below(&child(&self.path, part))?,
            None => self.file_below(&self.path)?,
        };
        let is_file = entry.part.is_some();
        Ok(Status {
            path,
            kind: if is_file { FileKind::File } else { FileKind::Directory },
            length: if is_file { i64::try_from(entry.length).unwrap_or(i64::MAX) } else { 0 },
            modified_ms: entry.modified_ms.unwrap_or(holder.modified_ms),
            has_acl: false,
            erasure_policy: String::new(),
            id: None,
            ..holder
        })
    }
}

impl Store for HarStore {
    fn uri(&self) -> String {
        self.uri.clone()
    }

    fn is_local(&self) -> bool {
        false
    }

    fn home(&self) -> String {
        self.path.clone()
    }

    fn status(&self, path: &str) -> Outcome<Status> {
        self.describe(path.to_owned(), self.entry(path)?)
    }

    fn list(&self, path: &str, page: &mut dyn FnMut(Vec<Status>) -> Outcome) -> Outcome {
        let entry = self.entry(path)?;
        if entry.part.is_some() {
            return page(vec![self.describe(path.to_owned(), entry)?]);
        }
        let status = |name: &String| {
            let path = child(path, name);
            self.describe(path.clone(), self.entry(&path)?)
        };
        let mut entries = entry.children.iter().map(status).collect::<Outcome<Vec<_>>>()?;
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        page(entries)
    }

    fn open(&self, path: &str, how: OpenHow) -> Outcome<Box<dyn Input>> {
        let entry = self.entry(path)?;
        let Some(part) = &entry.part else {
            let text = format!("{path} : not a file in {}", self.path);
            return Err(Failure::new(Kind::NotFound, text));
        };
        let input = self.below.open(&child(&self.path, part), how)?;
        let (start, length) = (entry.start, entry.length);
        let mut input = HarInput { input, start, length, at: 0 };
        input.seek_to(0)?;
        Ok(Box::new(input))
    }

    fn read_report(&self) -> Vec<String> {
        self.below.read_report()
    }

    fn create(&self, _path: &str, _how: CreateHow) -> Outcome<Box<dyn Output>> {
        Err(Failure::io("Har: create not allowed."))
    }

    fn append(&self, _path: &str, _new_block: bool) -> Outcome<Box<dyn Output>> {
        Err(not_allowed("append"))
    }

    fn mkdirs(&self, _path: &str) -> Outcome<bool> {
        Err(not_allowed("mkdirs"))
    }

    fn delete(&self, _path: &str, _recursive: bool) -> Outcome<bool> {
        Err(not_allowed("delete"))
    }

    fn rename(&self, _from: &str, _to: &str) -> Outcome<bool> {
        Err(not_allowed("rename"))
    }

    fn replace(&self, _from: &str, _to: &str) -> Outcome {
        Err(not_allowed("rename"))
    }

    fn rename_to_trash(&self, _from: &str, _to: &str) -> Outcome {
        Err(not_allowed("rename"))
    }

    fn set_permission(&self, _path: &str, _mode: u32) -> Outcome {
        Err(not_allowed("setPermission"))
    }

    fn set_owner(&self, _path: &str, _owner: Option<&str>, _group: Option<&str>) -> Outcome {
        Err(not_allowed("setowner"))
    }

    fn set_times(&self, _path: &str, _times: Times) -> Outcome {
        Err(not_allowed("setTimes"))
    }

    fn set_replication(&self, _path: &str, _replication: i32) -> Outcome<bool> {
        Err(not_allowed("setReplication"))
    }

    fn truncate(&self, _path: &str, _length: i64) -> Outcome<bool> {
        Err(not_allowed("truncate"))
    }

    /// Adds up like Hadoop's `FileSystem.getContentSummary`, which counts one replica.
    fn summary(&self, path: &str) -> Outcome<Summary> {
        let mut sum = Summary { quota: -1, space_quota: -1, ..Summary::default() };
        let mut paths = vec![path.to_owned()];
        while let Some(path) = paths.pop() {
            let entry = self.entry(&path)?;
            if entry.part.is_some() {
                sum.files += 1;
                sum.length += i64::try_from(entry.length).unwrap_or(0);
                continue;
            }
            sum.directories += 1;
            paths.extend(entry.children.iter().map(|name| child(&path, name)));
        }
        sum.space_consumed = sum.length;
        Ok(sum)
    }

    fn quota_usage(&self, path: &str) -> Outcome<QuotaUsage> {
        let sum = self.summary(path)?;
        Ok(QuotaUsage {
            files_and_directories: sum.files + sum.directories,
            quota: -1,
            space_consumed: sum.space_consumed,
            space_quota: -1,
            types: Vec::new(),
        })
    }

    fn fs_status(&self) -> Outcome<FsStatus> {
        self.below.fs_status()
    }

    /// Checks owner, group and permission bits, like Hadoop's `FileSystem.access`.
    fn access(&self, path: &str, mask: u32) -> Outcome {
        let status = self.status(path)?;
        let user = User::of_process().name;
        let bits = match &status {
            _ if status.owner == user => status.mode >> 6,
            _ if users::groups_of(&user).contains(&status.group) => status.mode >> 3,
            _ => status.mode,
        };
        if bits & mask == mask {
            return Ok(());
        }
        let text = format!(
            "Permission denied: user={user}, path=\"{path}\":{}:{}:{}{}",
            status.owner,
            status.group,
            if status.is_dir() { 'd' } else { '-' },
            status.permission()
        );
        Err(Failure::new(Kind::Denied, text))
    }
}

/// The bytes of a part file that are one file.
struct HarInput {
    input: Box<dyn Input>,
    start: u64,
    length: u64,
    at: u64,
}

impl Read for HarInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length - self.at).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        if wanted == 0 {
            return Ok(0);
        }
        let count = self.input.read(buffer.get_mut(..wanted).unwrap_or_default())?;
        if count == 0 {
            let problem = "the part file of the archive ends before this file does";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
        }
        self.at += count as u64;
        Ok(count)
    }
}

impl Input for HarInput {
    fn seek_to(&mut self, offset: u64) -> Outcome {
        if offset > self.length {
            return Err(Failure::io(format!(
                "Position behind the end of the stream (length = {}): {offset}",
                self.length
            )));
        }
        let at = self.start.checked_add(offset);
        let at = at.ok_or_else(|| Failure::io("damaged index: a file starts after 2^64 bytes"))?;
        self.input.seek_to(at)?;
        self.at = offset;
        Ok(())
    }
}
