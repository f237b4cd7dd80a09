//! A method for each operation.

use std::sync::Arc;

use zerohop_conf::Conf;
use zerohop_wire::AclEntry;

use crate::answers::{
    self, BlockHosts, Checksum, FileSystemStatus, QuotaUsage, Status, Summary, boolean, member,
};
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::http::client_tls;
use crate::operation as op;
use crate::query::Query;
use crate::reader::Reader;
use crate::servers::Servers;
use crate::settings::Settings;
use crate::writer::Writer;

/// Permission bits of a new file before the umask.
const FILE_PERMISSION: u16 = 0o666;
/// Permission bits of a new directory before the umask.
const DIRECTORY_PERMISSION: u16 = 0o777;

/// A file system by WebHDFS or HttpFS. Paths are absolute, without scheme and host.
#[derive(Clone)]
pub struct WebHdfs {
    exchange: Arc<Exchange>,
}

/// A change of an access control list.
#[derive(Clone, Copy, Debug)]
pub enum AclChange<'a> {
    /// Adds or replaces entries.
    Modify(&'a [AclEntry]),
    /// Removes entries.
    Remove(&'a [AclEntry]),
    /// Replaces the list.
    Set(&'a [AclEntry]),
    /// Removes the entries that children inherit.
    RemoveDefault,
    /// Removes all extended entries.
    RemoveAll,
}

impl WebHdfs {
    /// Creates a client of `webhdfs://authority`, or `swebhdfs://authority` with TLS. Sends nothing yet.
    ///
    /// # Errors
    /// Fails if the configuration lacks an address or a trust store.
    pub fn new(conf: &Conf, is_tls: bool, authority: &str) -> Result<Self> {
        let servers = Servers::find(conf, is_tls, authority)?;
        let tls = if is_tls { Some(client_tls(conf)?) } else { None };
        let exchange = Arc::new(Exchange::new(Settings::read(conf)?, servers, tls));
        Ok(Self { exchange })
    }

    /// Returns the name of the user whose calls these are.
    pub fn user(&self) -> &str {
        &self.exchange.settings.user.name
    }

    /// Returns the status of a path.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `getFileStatus`.
    pub fn status(&self, path: &str) -> Result<Status> {
        let answer = self.exchange.call(&op::GET_FILE_STATUS, path, &Query::default())?;
        Status::read(member(&answer, "FileStatus")?)
    }

    /// Returns the entries of a directory after the name `after`, and whether there are more. A file lists itself.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `listStatusBatch`. A directory that vanishes between two pages is not found.
    pub fn list_page(&self, path: &str, after: Option<&str>) -> Result<(Vec<Status>, bool)> {
        // HttpFS of Hadoop tells capital letters apart, and would send the first page again for ever.
        for parameter in ["startafter", "startAfter"] {
            let query = Query::default().with_some(parameter, after);
            let answer = self.exchange.call(&op::LIST_STATUS_BATCH, path, &query)?;
            let (entries, remaining) = Status::read_page(&answer)?;
            let continues = match (after, entries.first()) {
                (Some(after), Some(first)) => first.name.as_str() > after,
                (_, None) => remaining == 0,
                (None, Some(_)) => true,
            };
            if continues {
                return Ok((entries, remaining > 0));
            }
        }
        Err(Error::Protocol(format!("{path}: the server does not continue the listing")))
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `open`.
    pub fn open(&self, path: &str) -> Result<Reader> {
        Reader::open(self.exchange.clone(), path, self.status(path)?)
    }

    /// Creates a file and the missing directories above it.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `create`; those of the DataNode come with [`Writer::close`].
    pub fn create(&self, path: &str, overwrite: bool, replication: Option<i32>) -> Result<Writer> {
        let settings = &self.exchange.settings;
        let query = self
            .permissions(FILE_PERMISSION)
            .with("overwrite", overwrite)
            .with("buffersize", settings.buffer_size)
            .with("replication", replication.unwrap_or(settings.replication))
            .with("blocksize", settings.block_size);
        Writer::begin(self.exchange.clone(), &op::CREATE, path, &query)
    }

    /// Opens a file for writing at its end.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `append`.
    pub fn append(&self, path: &str) -> Result<Writer> {
        let query = Query::default().with("buffersize", self.exchange.settings.buffer_size);
        Writer::begin(self.exchange.clone(), &op::APPEND, path, &query)
    }

    /// Creates a directory and the missing ones above it.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `mkdirs`.
    pub fn mkdirs(&self, path: &str) -> Result<bool> {
        let query = self.permissions(DIRECTORY_PERMISSION);
        boolean(&self.exchange.call(&op::MKDIRS, path, &query)?)
    }

    /// Deletes a path.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `delete`.
    pub fn delete(&self, path: &str, recursive: bool) -> Result<bool> {
        let query = Query::default().with("recursive", recursive);
        boolean(&self.exchange.call(&op::DELETE, path, &query)?)
    }

    /// Renames a path; returns `false` if Hadoop's rules forbid it.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `rename`.
    pub fn rename(&self, from: &str, to: &str) -> Result<bool> {
        let query = Query::default().with("destination", to);
        boolean(&self.exchange.call(&op::RENAME, from, &query)?)
    }

    /// Renames a path with options: `OVERWRITE`, `TO_TRASH`. Returns `false` if the server does not know options, as HttpFS
    /// of Hadoop does not, and its plain rename was refused.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `rename2`.
    pub fn rename_with(&self, from: &str, to: &str, options: &str) -> Result<bool> {
        let query = Query::default().with("destination", to).with("renameoptions", options);
        match self.exchange.call(&op::RENAME, from, &query)? {
            None => Ok(true),
            answer => boolean(&answer),
        }
    }

    /// Sets the permission bits.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `setPermission`.
    pub fn set_permission(&self, path: &str, mode: u32) -> Result<()> {
        let query = Query::default().with("permission", format!("{mode:o}"));
        self.exchange.call(&op::SET_PERMISSION, path, &query).map(drop)
    }

    /// Sets owner and group, each if given.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `setOwner`.
    pub fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Result<()> {
        let query = Query::default().with_some("owner", owner).with_some("group", group);
        self.exchange.call(&op::SET_OWNER, path, &query).map(drop)
    }

    /// Sets modification and access time, each if given, in milliseconds since 1970.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `setTimes`.
    pub fn set_times(
        &self,
        path: &str,
        modified: Option<i64>,
        accessed: Option<i64>,
    ) -> Result<()> {
        let query = Query::default()
            .with("modificationtime", modified.unwrap_or(-1))
            .with("accesstime", accessed.unwrap_or(-1));
        self.exchange.call(&op::SET_TIMES, path, &query).map(drop)
    }

    /// Sets the number of replicas; returns `false` for a directory.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `setReplication`.
    pub fn set_replication(&self, path: &str, replication: i32) -> Result<bool> {
        let query = Query::default().with("replication", replication);
        boolean(&self.exchange.call(&op::SET_REPLICATION, path, &query)?)
    }

    /// Cuts a file; returns `false` if its last block is being recovered first.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `truncate`.
    pub fn truncate(&self, path: &str, length: i64) -> Result<bool> {
        let query = Query::default().with("newlength", length);
        boolean(&self.exchange.call(&op::TRUNCATE, path, &query)?)
    }

    /// Appends files to another one, which takes their blocks.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `concat`.
    pub fn concat(&self, target: &str, sources: &[String]) -> Result<()> {
        let query = Query::default().with("sources", sources.join(","));
        self.exchange.call(&op::CONCAT, target, &query).map(drop)
    }

    /// Returns sums below a path.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `getContentSummary`.
    pub fn content_summary(&self, path: &str) -> Result<Summary> {
        let answer = self.exchange.call(&op::GET_CONTENT_SUMMARY, path, &Query::default())?;
        Summary::read(member(&answer, "ContentSummary")?)
    }

    /// Returns the quotas of a directory.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `getQuotaUsage`.
    pub fn quota_usage(&self, path: &str) -> Result<QuotaUsage> {
        let answer = self.exchange.call(&op::GET_QUOTA_USAGE, path, &Query::default())?;
        QuotaUsage::read(member(&answer, "QuotaUsage")?)
    }

    /// Returns the sizes of the file system.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `getStatus`.
    pub fn file_system_status(&self) -> Result<FileSystemStatus> {
        let answer = self.exchange.call(&op::GET_STATUS, "/", &Query::default())?;
        Ok(FileSystemStatus::read(member(&answer, "FsStatus")?))
    }

    /// Returns a file's checksum.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `getFileChecksum`.
    pub fn checksum(&self, path: &str) -> Result<Checksum> {
        let answer = self.exchange.call(&op::GET_FILE_CHECKSUM, path, &Query::default())?;
        Checksum::read(member(&answer, "FileChecksum")?)
    }

    /// Returns the DataNodes of each block.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `getFileBlockLocations`.
    pub fn block_hosts(&self, path: &str) -> Result<Vec<BlockHosts>> {
        let query = Query::default().with("offset", 0).with("length", i64::MAX);
        let answer = self.exchange.call(&op::GET_FILE_BLOCK_LOCATIONS, path, &query)?;
        BlockHosts::read(member(&answer, "BlockLocations")?)
    }

    /// Returns the minutes that the server keeps a trash checkpoint.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `getServerDefaults`.
    pub fn trash_interval_min(&self) -> Result<i64> {
        let answer = self.exchange.call(&op::GET_SERVER_DEFAULTS, "/", &Query::default())?;
        Ok(answers::trash_interval_min(member(&answer, "FsServerDefaults")?))
    }

    /// Checks a permission; `mask` has the bits of `rwx`.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `access`.
    pub fn check_access(&self, path: &str, mask: u32) -> Result<()> {
        let letter = |bit: u32, letter: char| if mask & bit != 0 { letter } else { '-' };
        let action: String = [letter(4, 'r'), letter(2, 'w'), letter(1, 'x')].iter().collect();
        let query = Query::default().with("fsaction", action);
        self.exchange.call(&op::CHECK_ACCESS, path, &query).map(drop)
    }

    /// Returns the extended entries of a path's access control list.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `getAclStatus`.
    pub fn acl(&self, path: &str) -> Result<Vec<AclEntry>> {
        let answer = self.exchange.call(&op::GET_ACL_STATUS, path, &Query::default())?;
        answers::acl_entries(member(&answer, "AclStatus")?)
    }

    /// Changes a path's access control list.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's methods for each change.
    pub fn change_acl(&self, path: &str, change: AclChange<'_>) -> Result<()> {
        let spec = |entries: &[AclEntry], show: fn(&AclEntry) -> String| {
            let entries: Vec<String> = entries.iter().map(show).collect();
            Query::default().with("aclspec", entries.join(","))
        };
        let (operation, query) = match change {
            AclChange::Modify(entries) => {
                (&op::MODIFY_ACL_ENTRIES, spec(entries, AclEntry::to_string))
            }
            AclChange::Remove(entries) => {
                (&op::REMOVE_ACL_ENTRIES, spec(entries, without_permission))
            }
            AclChange::Set(entries) => (&op::SET_ACL, spec(entries, AclEntry::to_string)),
            AclChange::RemoveDefault => (&op::REMOVE_DEFAULT_ACL, Query::default()),
            AclChange::RemoveAll => (&op::REMOVE_ACL, Query::default()),
        };
        self.exchange.call(operation, path, &query).map(drop)
    }

    /// Returns the extended attributes of a path.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `getXAttrs`.
    pub fn xattrs(&self, path: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let query = Query::default().with("encoding", "HEX");
        answers::xattrs(&self.exchange.call(&op::GET_XATTRS, path, &query)?)
    }

    /// Creates or replaces an extended attribute.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `setXAttr`.
    pub fn set_xattr(&self, path: &str, name: &str, value: &[u8]) -> Result<()> {
        let query = Query::default()
            .with("xattr.name", name)
            .with("xattr.value", format!("0x{}", hex::encode(value)))
            .with("flag", "CREATE,REPLACE");
        self.exchange.call(&op::SET_XATTR, path, &query).map(drop)
    }

    /// Removes an extended attribute.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `removeXAttr`.
    pub fn remove_xattr(&self, path: &str, name: &str) -> Result<()> {
        let query = Query::default().with("xattr.name", name);
        self.exchange.call(&op::REMOVE_XATTR, path, &query).map(drop)
    }

    /// Creates a snapshot and returns its path.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `createSnapshot`.
    pub fn create_snapshot(&self, path: &str, name: Option<&str>) -> Result<String> {
        let query = Query::default().with_some("snapshotname", name);
        let answer = self.exchange.call(&op::CREATE_SNAPSHOT, path, &query)?;
        Ok(member(&answer, "Path")?.as_str().unwrap_or_default().to_owned())
    }

    /// Deletes a snapshot.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `deleteSnapshot`.
    pub fn delete_snapshot(&self, path: &str, name: &str) -> Result<()> {
        let query = Query::default().with("snapshotname", name);
        self.exchange.call(&op::DELETE_SNAPSHOT, path, &query).map(drop)
    }

    /// Renames a snapshot.
    ///
    /// # Errors
    /// Returns the same errors as Hadoop's `renameSnapshot`.
    pub fn rename_snapshot(&self, path: &str, from: &str, to: &str) -> Result<()> {
        let query = Query::default().with("oldsnapshotname", from).with("snapshotname", to);
        self.exchange.call(&op::RENAME_SNAPSHOT, path, &query).map(drop)
    }

    /// Adds the permission with and without the umask: a default ACL of the parent takes the umask's place.
    fn permissions(&self, unmasked: u16) -> Query {
        let masked = unmasked & !self.exchange.settings.umask;
        Query::default()
            .with("permission", format!("{masked:o}"))
            .with("unmaskedpermission", format!("{unmasked:o}"))
    }
}

/// Returns an entry as Hadoop's server wants it for a removal: without a permission.
fn without_permission(entry: &AclEntry) -> String {
    let text = entry.to_string();
    let end = text.rfind(':').map_or(text.len(), |colon| colon + 1);
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
#[path = "client_test.rs"]
mod tests;
