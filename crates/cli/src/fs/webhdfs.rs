//! HDFS by WebHDFS or HttpFS: the file systems `webhdfs` and `swebhdfs`.

use std::io::{self, Read, Write};
use std::sync::Arc;

use zerohop_client::AclEntry;
use zerohop_conf::Conf;
use zerohop_webhdfs::{self as web, Error, ErrorKind, Reader, WebHdfs, Writer};

use super::acl_entry::AclChange;
use super::location::child;
use super::status::{Checksum, FsStatus, QuotaUsage, Status, Summary, TypeUsage};
use super::store::{CreateHow, Input, OpenHow, Output, Store, Times};
use crate::failure::{Failure, Kind, Outcome};

/// Creates the file system of `webhdfs://authority` or `swebhdfs://authority`; sends nothing yet.
pub fn connect(conf: &Conf, scheme: &str, authority: &str) -> Outcome<Arc<dyn Store>> {
    let web = WebHdfs::new(conf, scheme == "swebhdfs", authority).map_err(failure)?;
    Ok(Arc::new(WebStore { uri: format!("{scheme}://{authority}"), web }))
}

struct WebStore {
    uri: String,
    web: WebHdfs,
}

/// The client's error in the shell's terms.
fn failure(error: Error) -> Failure {
    let kind = match error.kind() {
        ErrorKind::NotFound => Kind::NotFound,
        ErrorKind::Denied => Kind::Denied,
        ErrorKind::Exists => Kind::Exists,
        ErrorKind::Unsupported => Kind::Unsupported,
        _ => Kind::Io,
    };
    Failure::new(kind, error.to_string())
}

fn status(path: String, found: web::Status) -> Status {
    Status {
        path,
        kind: found.kind,
        length: found.length,
        replication: found.replication,
        block_size: found.block_size,
        modified_ms: found.modified_ms,
        accessed_ms: found.accessed_ms,
        owner: found.owner,
        group: found.group,
        mode: found.permission & 0o1777,
        has_acl: found.has_acl,
        erasure_policy: found.erasure_policy,
        id: found.file_id,
    }
}

fn type_usage(usage: web::TypeUsage) -> TypeUsage {
    TypeUsage { storage_type: usage.storage_type, quota: usage.quota, consumed: usage.consumed }
}

impl Store for WebStore {
    fn uri(&self) -> String {
        self.uri.clone()
    }

    fn is_local(&self) -> bool {
        false
    }

    fn home(&self) -> String {
        format!("/user/{}", self.web.user())
    }

    fn status(&self, path: &str) -> Outcome<Status> {
        let found = self.web.status(path).map_err(failure)?;
        Ok(status(path.to_owned(), found))
    }

    fn list(&self, path: &str, page: &mut dyn FnMut(Vec<Status>) -> Outcome) -> Outcome {
        let mut after: Option<String> = None;
        loop {
            let (entries, has_more) =
                self.web.list_page(path, after.as_deref()).map_err(failure)?;
            after = entries.last().map(|last| last.name.clone());
            let full_path = |entry: &web::Status| match entry.name.is_empty() {
                true => path.to_owned(),
                false => child(path, &entry.name),
            };
            page(entries.into_iter().map(|entry| status(full_path(&entry), entry)).collect())?;
            if !has_more {
                return Ok(());
            }
        }
    }

    fn open(&self, path: &str, _how: OpenHow) -> Outcome<Box<dyn Input>> {
        Ok(Box::new(WebInput(self.web.open(path).map_err(failure)?)))
    }

    fn create(&self, path: &str, how: CreateHow) -> Outcome<Box<dyn Output>> {
        let replication = how.lazy_persist.then_some(1);
        let writer = self.web.create(path, how.overwrite, replication).map_err(failure)?;
        Ok(Box::new(WebOutput(writer)))
    }

    fn append(&self, path: &str, _new_block: bool) -> Outcome<Box<dyn Output>> {
        Ok(Box::new(WebOutput(self.web.append(path).map_err(failure)?)))
    }

    fn mkdirs(&self, path: &str) -> Outcome<bool> {
        self.web.mkdirs(path).map_err(failure)
    }

    fn delete(&self, path: &str, recursive: bool) -> Outcome<bool> {
        self.web.delete(path, recursive).map_err(failure)
    }

    fn rename(&self, from: &str, to: &str) -> Outcome<bool> {
        self.web.rename(from, to).map_err(failure)
    }

    fn replace(&self, from: &str, to: &str) -> Outcome {
        match self.web.rename_with(from, to, "OVERWRITE").map_err(failure)? {
            true => Ok(()),
            false => self.replace_in_steps(from, to),
        }
    }

    fn rename_to_trash(&self, from: &str, to: &str) -> Outcome {
        match self.web.rename_with(from, to, "TO_TRASH").map_err(failure)? {
            true => Ok(()),
            false => Err(Failure::path(from, "Input/output error")),
        }
    }

    fn set_permission(&self, path: &str, mode: u32) -> Outcome {
        self.web.set_permission(path, mode & 0o1777).map_err(failure)
    }

    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Outcome {
        self.web.set_owner(path, owner, group).map_err(failure)
    }

    fn set_times(&self, path: &str, times: Times) -> Outcome {
        self.web.set_times(path, times.modified_ms, times.accessed_ms).map_err(failure)
    }

    fn summary(&self, path: &str) -> Outcome<Summary> {
        let sum = self.web.content_summary(path).map_err(failure)?;
        Ok(Summary {
            length: sum.length,
            files: sum.files,
            directories: sum.directories,
            quota: sum.quota,
            space_consumed: sum.space_consumed,
            space_quota: sum.space_quota,
            snapshot_length: sum.snapshot_length,
            snapshot_files: sum.snapshot_files,
            snapshot_directories: sum.snapshot_directories,
            snapshot_space: sum.snapshot_space,
            erasure_policy: sum.erasure_policy,
        })
    }

    fn fs_status(&self) -> Outcome<FsStatus> {
        let found = self.web.file_system_status().map_err(failure)?;
        Ok(FsStatus { capacity: found.capacity, used: found.used, remaining: found.remaining })
    }

    fn access(&self, path: &str, mask: u32) -> Outcome {
        self.web.check_access(path, mask).map_err(failure)
    }

    fn set_replication(&self, path: &str, replication: i32) -> Outcome<bool> {
        self.web.set_replication(path, replication).map_err(failure)
    }

    fn replicas(&self, path: &str) -> Outcome<Vec<usize>> {
        let blocks = self.web.block_hosts(path).map_err(failure)?;
        Ok(blocks.iter().map(|block| block.hosts.len()).collect())
    }

    fn truncate(&self, path: &str, length: i64) -> Outcome<bool> {
        self.web.truncate(path, length).map_err(failure)
    }

    fn concat(&self, target: &str, sources: &[String]) -> Outcome {
        self.web.concat(target, sources).map_err(failure)
    }

    fn quota_usage(&self, path: &str) -> Outcome<QuotaUsage> {
        let usage = self.web.quota_usage(path).map_err(failure)?;
        Ok(QuotaUsage {
            files_and_directories: usage.files_and_directories,
            quota: usage.quota,
            space_consumed: usage.space_consumed,
            space_quota: usage.space_quota,
            types: usage.types.into_iter().map(type_usage).collect(),
        })
    }

    fn checksum(&self, path: &str) -> Outcome<Option<Checksum>> {
        let sum = self.web.checksum(path).map_err(failure)?;
        Ok(Some(Checksum { algorithm: sum.algorithm, bytes: sum.bytes }))
    }

    fn trash_interval_min(&self) -> Outcome<i64> {
        // Without the answer a file might be deleted that the server would keep.
        self.web.trash_interval_min().map_err(|error| {
            Failure::io(format!("Failed to get server trash configuration: {error}"))
        })
    }

    fn acl(&self, path: &str) -> Outcome<Vec<AclEntry>> {
        self.web.acl(path).map_err(failure)
    }

    fn change_acl(&self, path: &str, change: AclChange) -> Outcome {
        let change = match &change {
            AclChange::Modify(entries) => web::AclChange::Modify(entries),
            AclChange::Remove(entries) => web::AclChange::Remove(entries),
            AclChange::Set(entries) => web::AclChange::Set(entries),
            AclChange::RemoveDefault => web::AclChange::RemoveDefault,
            AclChange::RemoveAll => web::AclChange::RemoveAll,
        };
        self.web.change_acl(path, change).map_err(failure)
    }

    fn xattrs(&self, path: &str) -> Outcome<Vec<(String, Vec<u8>)>> {
        self.web.xattrs(path).map_err(failure)
    }

    fn set_xattr(&self, path: &str, name: &str, value: &[u8]) -> Outcome {
        self.web.set_xattr(path, name, value).map_err(failure)
    }

    fn remove_xattr(&self, path: &str, name: &str) -> Outcome {
        self.web.remove_xattr(path, name).map_err(failure)
    }

    fn create_snapshot(&self, path: &str, name: Option<&str>) -> Outcome<String> {
        self.web.create_snapshot(path, name).map_err(failure)
    }

    fn delete_snapshot(&self, path: &str, name: &str) -> Outcome {
        self.web.delete_snapshot(path, name).map_err(failure)
    }

    fn rename_snapshot(&self, path: &str, from: &str, to: &str) -> Outcome {
        self.web.rename_snapshot(path, from, to).map_err(failure)
    }
}

impl WebStore {
    /// Replaces a file on Hadoop's HttpFS, whose rename has no options and does not overwrite. The old file is moved away
    /// first, and back if the new one cannot be renamed, so that one of them always exists.
    fn replace_in_steps(&self, from: &str, to: &str) -> Outcome {
        let rename = |from: &str, to: &str| match self.rename(from, to) {
            Ok(false) => Err(Failure::path(to, "Input/output error")),
            done => done.map(drop),
        };
        let old = format!("{to}._OLD_");
        rename(to, &old)?;
        if let Err(failed) = rename(from, to) {
            rename(&old, to).map_err(|again| {
                Failure::io(format!("{}; the old file is now {old}: {}", failed.text, again.text))
            })?;
            return Err(failed);
        }
        self.delete(&old, false).map(drop)
    }
}

struct WebInput(Reader);

impl Read for WebInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Input for WebInput {
    fn seek_to(&mut self, offset: u64) -> Outcome {
        self.0.seek_to(offset);
        Ok(())
    }
}

struct WebOutput(Writer);

impl Write for WebOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Output for WebOutput {
    fn finish(self: Box<Self>) -> Outcome {
        self.0.close().map_err(failure)
    }
}
