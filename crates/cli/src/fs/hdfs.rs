//! HDFS, by our client, as the shell needs it.

use std::io::{self, Read, Write};
use std::sync::Arc;

use zerohop_client::blocking::{FileReader, FileSystem, FileWriter};
use zerohop_client::{
    self as client, AclEntry, AppendOptions, CreateOptions, FileStatus, OpenOptions, RenameOptions,
    Verify, XAttr, XAttrFlags,
};
use zerohop_conf::Conf;

use super::acl_entry::AclChange;
use super::connect::{client_failure, open_client};
use super::status::{Checksum, FsStatus, QuotaUsage, Status, Summary, TypeUsage};
use super::store::{CreateHow, Input, OpenHow, Output, Store, Times};
use super::{report, room};
use crate::failure::Outcome;
use crate::log;

/// The file system of `hdfs://authority`; nothing is sent yet.
pub fn connect(conf: &Conf, uri: &str) -> Outcome<Arc<dyn Store>> {
    log::of_client(conf);
    let fs = open_client(conf, Some(uri))?;
    Ok(Arc::new(HdfsStore { fs }))
}

struct HdfsStore {
    fs: FileSystem,
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn status(found: FileStatus) -> Status {
    Status {
        kind: found.kind,
        path: found.path,
        length: signed(found.len),
        replication: found.replication.into(),
        block_size: signed(found.block_size),
        modified_ms: signed(found.modified_ms),
        accessed_ms: signed(found.accessed_ms),
        owner: found.owner.to_string(),
        group: found.group.to_string(),
        mode: u32::from(found.permission) & 0o1777,
        has_acl: found.has_acl,
        erasure_policy: found.erasure_policy.map(|policy| policy.name).unwrap_or_default(),
        id: Some(found.file_id.0),
    }
}

fn type_usage(types: Vec<client::TypeUsage>) -> Vec<TypeUsage> {
    let one = |usage: client::TypeUsage| TypeUsage {
        storage_type: usage.storage_type.as_str_name().to_owned(),
        quota: usage.quota,
        consumed: usage.consumed,
    };
    types.into_iter().map(one).collect()
}

impl Store for HdfsStore {
    fn read_report(&self) -> Vec<String> {
        report::lines(&self.fs.read_statistics())
    }

    fn room_report(&self, block_size: u64, failure: &str) -> Option<String> {
        room::line(&self.fs, block_size, failure)
    }

    fn uri(&self) -> String {
        self.fs.uri().to_owned()
    }

    fn is_local(&self) -> bool {
        false
    }

    fn home(&self) -> String {
        self.fs.home()
    }

    fn hdfs(&self) -> Option<&FileSystem> {
        Some(&self.fs)
    }

    fn status(&self, path: &str) -> Outcome<Status> {
        self.fs.status(path).map(status).map_err(client_failure)
    }

    fn list(&self, path: &str, page: &mut dyn FnMut(Vec<Status>) -> Outcome) -> Outcome {
        for entries in self.fs.list_pages(path).map_err(client_failure)? {
            page(entries.map_err(client_failure)?.into_iter().map(status).collect())?;
        }
        Ok(())
    }

    fn open(&self, path: &str, how: OpenHow) -> Outcome<Box<dyn Input>> {
        let verify = if how.verify { Verify::Full } else { Verify::None };
        let options = OpenOptions::verifying(verify);
        let reader = self.fs.open_with(path, options).map_err(client_failure)?;
        Ok(Box::new(HdfsInput(reader)))
    }

    fn create(&self, path: &str, how: CreateHow) -> Outcome<Box<dyn Output>> {
        let options = CreateOptions::default()
            .overwrite(how.overwrite)
            .lazy_persist(how.lazy_persist)
            .replication(how.replication.or(how.lazy_persist.then_some(1)))
            .block_size(how.block_size)
            .checksum(how.checksum);
        let writer = self.fs.create(path, options).map_err(client_failure)?;
        Ok(Box::new(HdfsOutput(writer)))
    }

    fn append(&self, path: &str, new_block: bool) -> Outcome<Box<dyn Output>> {
        let options = AppendOptions::default().new_block(new_block);
        let writer = self.fs.append(path, options).map_err(client_failure)?;
        Ok(Box::new(HdfsOutput(writer)))
    }

    fn mkdirs(&self, path: &str) -> Outcome<bool> {
        self.fs.mkdirs(path).map_err(client_failure)
    }

    fn delete(&self, path: &str, recursive: bool) -> Outcome<bool> {
        self.fs.delete(path, recursive).map_err(client_failure)
    }

    fn rename(&self, from: &str, to: &str) -> Outcome<bool> {
        self.fs.rename(from, to).map_err(client_failure)
    }

    fn replace(&self, from: &str, to: &str) -> Outcome {
        let options = RenameOptions::default().overwrite(true);
        self.fs.rename2(from, to, options).map_err(client_failure)
    }

    fn rename_to_trash(&self, from: &str, to: &str) -> Outcome {
        let options = RenameOptions::default().to_trash(true);
        self.fs.rename2(from, to, options).map_err(client_failure)
    }

    fn set_permission(&self, path: &str, mode: u32) -> Outcome {
        self.fs.set_permission(path, (mode & 0o1777) as u16).map_err(client_failure)
    }

    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Outcome {
        self.fs.set_owner(path, owner, group).map_err(client_failure)
    }

    fn set_times(&self, path: &str, times: Times) -> Outcome {
        let (modified, accessed) =
            (times.modified_ms.map(unsigned), times.accessed_ms.map(unsigned));
        self.fs.set_times(path, modified, accessed).map_err(client_failure)
    }

    fn summary(&self, path: &str) -> Outcome<Summary> {
        let sum = self.fs.content_summary(path).map_err(client_failure)?;
        Ok(Summary {
            length: signed(sum.len),
            files: signed(sum.files),
            directories: signed(sum.directories),
            quota: sum.quota,
            space_consumed: signed(sum.space_consumed),
            space_quota: sum.space_quota,
            snapshot_length: signed(sum.snapshot_len),
            snapshot_files: signed(sum.snapshot_files),
            snapshot_directories: signed(sum.snapshot_directories),
            snapshot_space: signed(sum.snapshot_space_consumed),
            erasure_policy: sum.erasure_policy,
        })
    }

    fn fs_status(&self) -> Outcome<FsStatus> {
        let stats = self.fs.fs_stats().map_err(client_failure)?;
        Ok(FsStatus {
            capacity: signed(stats.capacity),
            used: signed(stats.used),
            remaining: signed(stats.remaining),
        })
    }

    fn access(&self, path: &str, mask: u32) -> Outcome {
        self.fs.access(path, (mask & 7) as u8).map_err(client_failure)
    }

    fn set_replication(&self, path: &str, replication: i32) -> Outcome<bool> {
        let replication = u16::try_from(replication).unwrap_or(u16::MAX);
        self.fs.set_replication(path, replication).map_err(client_failure)
    }

    fn replicas(&self, path: &str) -> Outcome<Vec<usize>> {
        let located = self.fs.block_locations(path, 0, i64::MAX as u64).map_err(client_failure)?;
        Ok(located.blocks.iter().map(|block| block.replicas.len()).collect())
    }

    fn truncate(&self, path: &str, length: i64) -> Outcome<bool> {
        self.fs.truncate(path, unsigned(length)).map_err(client_failure)
    }

    fn concat(&self, target: &str, sources: &[String]) -> Outcome {
        self.fs.concat(target, sources).map_err(client_failure)
    }

    fn quota_usage(&self, path: &str) -> Outcome<QuotaUsage> {
        let usage = self.fs.quota_usage(path).map_err(client_failure)?;
        Ok(QuotaUsage {
            files_and_directories: signed(usage.files_and_directories),
            quota: usage.quota,
            space_consumed: signed(usage.space_consumed),
            space_quota: usage.space_quota,
            types: type_usage(usage.types),
        })
    }

    fn checksum(&self, path: &str) -> Outcome<Option<Checksum>> {
        let sum = self.fs.checksum(path).map_err(client_failure)?;
        Ok(sum.map(|sum| Checksum { algorithm: sum.algorithm, bytes: sum.bytes }))
    }

    fn checksum_of(&self, path: &str, len: u64) -> Outcome<Option<Checksum>> {
        let sum = self.fs.checksum_of(path, len).map_err(client_failure)?;
        Ok(sum.map(|sum| Checksum { algorithm: sum.algorithm, bytes: sum.bytes }))
    }

    fn trash_interval_min(&self) -> Outcome<i64> {
        let defaults = self.fs.server_defaults().map_err(client_failure)?;
        Ok(signed(defaults.trash_interval_min))
    }

    fn acl(&self, path: &str) -> Outcome<Vec<AclEntry>> {
        let found = self.fs.acl_status(path).map_err(client_failure)?;
        Ok(found.entries)
    }

    fn change_acl(&self, path: &str, change: AclChange) -> Outcome {
        let done = match change {
            AclChange::Modify(entries) => self.fs.modify_acl(path, &entries),
            AclChange::Remove(entries) => self.fs.remove_acl_entries(path, &entries),
            AclChange::Set(entries) => self.fs.set_acl(path, &entries),
            AclChange::RemoveDefault => self.fs.remove_default_acl(path),
            AclChange::RemoveAll => self.fs.remove_acl(path),
        };
        done.map_err(client_failure)
    }

    fn xattrs(&self, path: &str) -> Outcome<Vec<(String, Vec<u8>)>> {
        let found = self.fs.xattrs(path).map_err(client_failure)?;
        let value = |one: &XAttr| one.value.as_deref().unwrap_or_default().to_vec();
        Ok(found.iter().map(|one| (one.full_name(), value(one))).collect())
    }

    fn set_xattr(&self, path: &str, name: &str, value: &[u8]) -> Outcome {
        self.fs.set_xattr(path, name, value, XAttrFlags::default()).map_err(client_failure)
    }

    fn remove_xattr(&self, path: &str, name: &str) -> Outcome {
        self.fs.remove_xattr(path, name).map_err(client_failure)
    }

    fn create_snapshot(&self, path: &str, name: Option<&str>) -> Outcome<String> {
        self.fs.create_snapshot(path, name).map_err(client_failure)
    }

    fn delete_snapshot(&self, path: &str, name: &str) -> Outcome {
        self.fs.delete_snapshot(path, name).map_err(client_failure)
    }

    fn rename_snapshot(&self, path: &str, from: &str, to: &str) -> Outcome {
        self.fs.rename_snapshot(path, from, to).map_err(client_failure)
    }
}

struct HdfsInput(FileReader);

impl Read for HdfsInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Input for HdfsInput {
    fn seek_to(&mut self, offset: u64) -> Outcome {
        self.0.seek_to(offset).map_err(client_failure)
    }
}

struct HdfsOutput(FileWriter);

impl Write for HdfsOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Output for HdfsOutput {
    /// Straight into a packet.
    fn write_from(&mut self, input: &mut dyn Read, _: &mut Vec<u8>) -> io::Result<usize> {
        self.0.write_with(|room| input.read(room))
    }

    fn finish(mut self: Box<Self>) -> Outcome {
        self.0.close().map_err(client_failure)
    }
}
