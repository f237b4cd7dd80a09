//! Answers in JSON, as `JsonUtilClient` reads them. Numbers are signed, as in Java.

use serde_json::Value;
use zerohop_wire::{AclEntry, FileKind};

use crate::error::{Error, Result};

/// The status of a path.
#[derive(Clone, Debug)]
pub struct Status {
    /// The name in the listed directory; empty for the path itself.
    pub name: String,
    /// The kind of the path.
    pub kind: FileKind,
    /// Number of bytes.
    pub length: i64,
    /// Replicas that each block should have; 0 for a directory.
    pub replication: i32,
    /// Size at which a block is full.
    pub block_size: i64,
    /// Milliseconds since 1970.
    pub modified_ms: i64,
    /// Milliseconds since 1970.
    pub accessed_ms: i64,
    /// The owner's name.
    pub owner: String,
    /// The group's name.
    pub group: String,
    /// The nine permission bits and the sticky bit.
    pub permission: u32,
    /// True if it has an access control list.
    pub has_acl: bool,
    /// Name of the erasure coding policy; empty for a replicated file.
    pub erasure_policy: String,
    /// The inode's id; `None` if the server does not tell it.
    pub file_id: Option<u64>,
}

/// Sums below a path, and its quotas.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "named as in ContentSummary")]
pub struct Summary {
    pub length: i64,
    pub files: i64,
    pub directories: i64,
    pub quota: i64,
    pub space_consumed: i64,
    pub space_quota: i64,
    pub snapshot_length: i64,
    pub snapshot_files: i64,
    pub snapshot_directories: i64,
    pub snapshot_space: i64,
    pub erasure_policy: String,
}

/// Usage against the quota of one storage type.
#[derive(Clone, Debug)]
pub struct TypeUsage {
    /// Hadoop's name of the storage type.
    pub storage_type: String,
    /// Largest number of bytes.
    pub quota: i64,
    /// Number of bytes.
    pub consumed: i64,
}

/// Quotas of a directory and the usage that counts against them.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "named as in QuotaUsage")]
pub struct QuotaUsage {
    pub files_and_directories: i64,
    pub quota: i64,
    pub space_consumed: i64,
    pub space_quota: i64,
    pub types: Vec<TypeUsage>,
}

/// Sizes of the whole file system in bytes.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "named as in FsStatus")]
pub struct FileSystemStatus {
    pub capacity: i64,
    pub used: i64,
    pub remaining: i64,
}

/// A file's checksum.
#[derive(Clone, Debug)]
pub struct Checksum {
    /// The name of the algorithm, such as `MD5-of-0MD5-of-512CRC32C`.
    pub algorithm: String,
    /// The checksum with its parameters, as Java writes the class.
    pub bytes: Vec<u8>,
}

/// The DataNodes that hold one block.
#[derive(Clone, Debug)]
pub struct BlockHosts {
    /// The host of each replica.
    pub hosts: Vec<String>,
}

/// Returns the member of an answer that has all the others in it.
pub(crate) fn member<'a>(answer: &'a Option<Value>, name: &str) -> Result<&'a Value> {
    let found = answer.as_ref().and_then(|answer| answer.get(name));
    found.filter(|value| !value.is_null()).ok_or_else(|| missing(name))
}

/// Returns the `boolean` of an answer.
pub(crate) fn boolean(answer: &Option<Value>) -> Result<bool> {
    member(answer, "boolean")?.as_bool().ok_or_else(|| missing("boolean"))
}

fn missing(name: &str) -> Error {
    Error::Protocol(format!("Response decoding failure: the answer has no {name}"))
}

fn number(value: &Value, name: &str) -> Result<i64> {
    value.get(name).and_then(Value::as_i64).ok_or_else(|| missing(name))
}

fn number_or(value: &Value, name: &str, default: i64) -> i64 {
    value.get(name).and_then(Value::as_i64).unwrap_or(default)
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn array<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>> {
    value.get(name).and_then(Value::as_array).ok_or_else(|| missing(name))
}

impl Status {
    /// Reads a `FileStatus`.
    pub(crate) fn read(value: &Value) -> Result<Self> {
        let kind = match text(value, "type").as_str() {
            "FILE" => FileKind::File,
            "DIRECTORY" => FileKind::Directory,
            "SYMLINK" => FileKind::Symlink,
            _ => return Err(missing("type")),
        };
        let permission = u32::from_str_radix(&text(value, "permission"), 8);
        let policy = value.get("ecPolicyObj").map(|policy| text(policy, "name"));
        let file_id = value.get("fileId").and_then(Value::as_u64).filter(|id| *id > 0);
        Ok(Self {
            name: text(value, "pathSuffix"),
            kind,
            length: number(value, "length")?,
            replication: number(value, "replication")?.try_into().unwrap_or(i32::MAX),
            block_size: number(value, "blockSize")?,
            modified_ms: number(value, "modificationTime")?,
            accessed_ms: number(value, "accessTime")?,
            owner: text(value, "owner"),
            group: text(value, "group"),
            permission: permission.map_err(|_| missing("permission"))?,
            has_acl: value.get("aclBit").and_then(Value::as_bool).unwrap_or(false),
            erasure_policy: policy.unwrap_or_else(|| text(value, "ecPolicy")),
            file_id,
        })
    }

    /// Reads a page of a listing; also returns the number of entries after the page.
    pub(crate) fn read_page(answer: &Option<Value>) -> Result<(Vec<Self>, i64)> {
        let listing = member(answer, "DirectoryListing")?;
        let partial = listing.get("partialListing").and_then(|partial| partial.get("FileStatuses"));
        let entries = array(partial.ok_or_else(|| missing("partialListing"))?, "FileStatus")?;
        let entries = entries.iter().map(Self::read).collect::<Result<_>>()?;
        Ok((entries, number(listing, "remainingEntries")?))
    }
}

impl Summary {
    pub(crate) fn read(value: &Value) -> Result<Self> {
        Ok(Self {
            length: number(value, "length")?,
            files: number(value, "fileCount")?,
            directories: number(value, "directoryCount")?,
            quota: number(value, "quota")?,
            space_consumed: number(value, "spaceConsumed")?,
            space_quota: number(value, "spaceQuota")?,
            snapshot_length: number_or(value, "snapshotLength", 0),
            snapshot_files: number_or(value, "snapshotFileCount", 0),
            snapshot_directories: number_or(value, "snapshotDirectoryCount", 0),
            snapshot_space: number_or(value, "snapshotSpaceConsumed", 0),
            erasure_policy: text(value, "ecPolicy"),
        })
    }
}

impl QuotaUsage {
    pub(crate) fn read(value: &Value) -> Result<Self> {
        let types = value.get("typeQuota").and_then(Value::as_object);
        let types = types.into_iter().flatten().map(|(storage_type, usage)| {
            Ok(TypeUsage {
                storage_type: storage_type.clone(),
                quota: number(usage, "quota")?,
                consumed: number(usage, "consumed")?,
            })
        });
        Ok(Self {
            types: types.collect::<Result<_>>()?,
            files_and_directories: number_or(value, "fileAndDirectoryCount", 0),
            quota: number(value, "quota")?,
            space_consumed: number(value, "spaceConsumed")?,
            space_quota: number(value, "spaceQuota")?,
        })
    }
}

impl FileSystemStatus {
    pub(crate) fn read(value: &Value) -> Self {
        Self {
            capacity: number_or(value, "capacity", i64::MAX),
            used: number_or(value, "used", 0),
            remaining: number_or(value, "remaining", i64::MAX),
        }
    }
}

impl Checksum {
    pub(crate) fn read(value: &Value) -> Result<Self> {
        let mut bytes = hex::decode(text(value, "bytes")).map_err(|_| missing("bytes"))?;
        // Java's server may send more bytes than the checksum has.
        bytes.truncate(number(value, "length")?.try_into().unwrap_or(usize::MAX));
        Ok(Self { algorithm: text(value, "algorithm"), bytes })
    }
}

impl BlockHosts {
    pub(crate) fn read(value: &Value) -> Result<Vec<Self>> {
        let hosts = |block: &Value| -> Result<Self> {
            let hosts = array(block, "hosts")?.iter().filter_map(Value::as_str);
            Ok(Self { hosts: hosts.map(str::to_owned).collect() })
        };
        array(value, "BlockLocation")?.iter().map(hosts).collect()
    }
}

/// Reads the extended entries of an `AclStatus`.
pub(crate) fn acl_entries(value: &Value) -> Result<Vec<AclEntry>> {
    let entries = array(value, "entries")?.iter().filter_map(Value::as_str);
    let parse =
        |text| AclEntry::parse(text, true).map_err(|error| Error::Protocol(error.to_string()));
    entries.map(parse).collect()
}

/// Reads `XAttrs` in hexadecimal.
pub(crate) fn xattrs(answer: &Option<Value>) -> Result<Vec<(String, Vec<u8>)>> {
    let attributes = member(answer, "XAttrs")?.as_array().ok_or_else(|| missing("XAttrs"))?;
    let read = |attribute: &Value| {
        let value = text(attribute, "value");
        let digits = value.strip_prefix("0x").unwrap_or(&value);
        let bytes = hex::decode(digits).map_err(|_| missing("value"))?;
        Ok((text(attribute, "name"), bytes))
    };
    attributes.iter().map(read).collect()
}

/// Returns minutes that a trash checkpoint is kept, of `FsServerDefaults`.
pub(crate) fn trash_interval_min(value: &Value) -> i64 {
    number_or(value, "trashInterval", 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_without_what_it_must_have_is_an_error() {
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let full = r#"{"accessTime":1,"blockSize":2,"group":"g","length":3,"modificationTime":4,"owner":"o",
            "pathSuffix":"","permission":"1750","replication":1,"type":"FILE","fileId":16386}"#;
        let status = Status::read(&json(full)).unwrap();
        assert_eq!((status.permission, status.length, status.file_id), (0o1750, 3, Some(16386)));
        for name in ["length", "type", "permission", "replication"] {
            let mut value = json(full);
            value.as_object_mut().unwrap().remove(name);
            assert!(Status::read(&value).is_err(), "{name}");
        }
        assert!(boolean(&None).is_err());
        assert!(!boolean(&Some(json(r#"{"boolean":false}"#))).unwrap());
        // A listing that lacks its number of further entries must not look complete.
        let page = r#"{"DirectoryListing":{"partialListing":{"FileStatuses":{"FileStatus":[]}}}}"#;
        assert!(Status::read_page(&Some(json(page))).is_err());
    }

    #[test]
    fn attributes_and_checksums_are_hexadecimal() {
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let answer = json(r#"{"XAttrs":[{"name":"user.a","value":"0x4142"},{"name":"user.b"}]}"#);
        let found = xattrs(&Some(answer)).unwrap();
        assert_eq!(found, [("user.a".to_owned(), b"AB".to_vec()), ("user.b".to_owned(), vec![])]);
        let sum = json(r#"{"algorithm":"A","bytes":"0102030000","length":3}"#);
        assert_eq!(Checksum::read(&sum).unwrap().bytes, [1, 2, 3]);
    }
}
