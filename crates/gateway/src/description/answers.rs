//! What operations do and answer.

use crate::operation::Operation;
use serde_json::{Value, json};

/// What an operation does, and the schema of its answer; none for an answer without a body.
pub(super) const fn about(operation: Operation) -> (&'static str, Option<&'static str>) {
    use Operation as O;
    match operation {
        O::Open => {
            ("Reads a file, or the part that offset and length or the header Range name.", None)
        }
        O::GetFileStatus => ("What is known of a path.", Some("FileStatus")),
        O::GetFileLinkStatus => {
            ("What is known of a path, of a symbolic link itself.", Some("FileStatus"))
        }
        O::ListStatus => ("A directory's entries.", Some("FileStatuses")),
        O::ListStatusBatch => ("A part of a directory's entries.", Some("DirectoryListing")),
        O::ListStatusRecursive => {
            ("All that lies below a path, a FileStatus a line.", Some("PathStatus"))
        }
        O::GetArchive => {
            ("What lies below a path, or of that what file names, as a tar archive.", None)
        }
        O::GetContentSummary => ("Sums of all that lies below a path.", Some("ContentSummary")),
        O::GetQuotaUsage => {
            ("A directory's quotas, and what counts against them.", Some("QuotaUsage"))
        }
        O::GetFileChecksum => ("A file's checksum.", Some("FileChecksum")),
        O::GetHomeDirectory => ("The caller's home directory.", Some("Path")),
        O::GetTrashRoot => ("The caller's trash directory.", Some("Path")),
        O::GetTrashRoots => ("The trash directories that are there.", Some("Paths")),
        O::GetAclStatus => ("A path's access control list.", Some("AclStatus")),
        O::GetXAttrs => ("A path's extended attributes.", Some("XAttrs")),
        O::ListXAttrs => ("The names of a path's extended attributes.", Some("XAttrNames")),
        O::CheckAccess => ("Whether the caller may do something with a path.", None),
        O::GetAllStoragePolicy => ("All storage policies.", Some("BlockStoragePolicies")),
        O::GetStoragePolicy => ("A path's storage policy.", Some("BlockStoragePolicy")),
        O::GetFileBlockLocations => ("Where a file's blocks are.", Some("BlockLocations")),
        O::GetBlockLocations => {
            ("Where a file's blocks are, in HDFS's own words.", Some("LocatedBlocks"))
        }
        O::GetServerDefaults => ("The NameNode's defaults for clients.", Some("FsServerDefaults")),
        O::GetStatus => ("The cluster's capacity.", Some("FsStatus")),
        O::GetEcPolicy => (
            "A path's erasure coding policy; null where files are replicated.",
            Some("ErasureCodingPolicy"),
        ),
        O::GetEcPolicies => ("All erasure coding policies.", Some("ErasureCodingPolicies")),
        O::GetEcCodecs => {
            ("All codecs of erasure coding, and their coders.", Some("ErasureCodingCodecs"))
        }
        O::GetLinkTarget => ("Where a symbolic link leads.", Some("Path")),
        O::GetSnapshotDiff => ("What differs between two snapshots.", Some("SnapshotDiffReport")),
        O::GetSnapshotDiffListing => {
            ("A page of what differs between two snapshots.", Some("SnapshotDiffReportListing"))
        }
        O::GetSnapshottableDirectoryList => {
            ("The directories that may have snapshots.", Some("SnapshottableDirectoryList"))
        }
        O::GetSnapshotList => ("The snapshots of a directory.", Some("SnapshotList")),
        O::GetDelegationToken => ("A delegation token; null without security.", Some("Token")),
        O::Create => ("Makes a file of the body.", Some("Location")),
        O::PutArchive => (
            "Makes the files of a tar archive or a form below a path, each whole or not at all.",
            Some("Files"),
        ),
        O::Mkdirs => ("Makes a directory and the missing ones above it.", Some("boolean")),
        O::CreateSymlink => ("Makes a symbolic link.", None),
        O::Rename => (
            "Renames a path. With renameoptions the answer is empty, and an error says why it was not done.",
            Some("boolean"),
        ),
        O::SetReplication => ("Sets the number of replicas of a file's blocks.", Some("boolean")),
        O::SetOwner => ("Sets owner and group.", None),
        O::SetPermission => ("Sets permission bits.", None),
        O::SetTimes => ("Sets times.", None),
        O::ModifyAclEntries => ("Adds and replaces ACL entries.", None),
        O::RemoveAclEntries => ("Removes ACL entries.", None),
        O::RemoveDefaultAcl => ("Removes the default ACL.", None),
        O::RemoveAcl => ("Removes the ACL.", None),
        O::SetAcl => ("Replaces the ACL.", None),
        O::SetXAttr => ("Sets an extended attribute.", None),
        O::RemoveXAttr => ("Removes an extended attribute.", None),
        O::SetStoragePolicy => ("Sets the storage policy.", None),
        O::SatisfyStoragePolicy => {
            ("Moves blocks to the types of storage that the policy wants.", None)
        }
        O::SetQuota => ("Sets the quotas of names and bytes.", None),
        O::SetQuotaByStorageType => ("Sets the quota of bytes on a type of storage.", None),
        O::AllowSnapshot => ("Allows snapshots of a directory.", None),
        O::DisallowSnapshot => ("Forbids snapshots of a directory.", None),
        O::CreateSnapshot => ("Makes a snapshot.", Some("Path")),
        O::RenameSnapshot => ("Renames a snapshot.", None),
        O::EnableEcPolicy => ("Permits to give an erasure coding policy to directories.", None),
        O::DisableEcPolicy => ("Forbids to give an erasure coding policy to directories.", None),
        O::SetEcPolicy => ("Sets a directory's erasure coding policy.", None),
        O::RenewDelegationToken => ("Renews a delegation token.", None),
        O::CancelDelegationToken => ("Cancels a delegation token.", None),
        O::Append => ("Appends the body to a file.", None),
        O::Concat => ("Moves the blocks of other files to the end of a file.", None),
        O::Truncate => ("Cuts a file; false while its last block is being cut.", Some("boolean")),
        O::UnsetStoragePolicy => ("Removes the storage policy.", None),
        O::UnsetEcPolicy => ("Removes a directory's erasure coding policy.", None),
        O::Delete => ("Deletes a path.", Some("boolean")),
        O::DeleteSnapshot => ("Deletes a snapshot.", None),
    }
}

/// All schemas that answers have, by name.
pub(super) fn schemas() -> Value {
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": "integer" });
    let maybe = |kind: &str| json!({ "type": [kind, "null"] });
    let status = json!({
        "type": "object",
        "required": ["length", "modificationTime", "owner", "group", "pathSuffix", "permission", "type"],
        "properties": {
            "accessTime": number(), "blockSize": number(), "childrenNum": number(), "fileId": number(),
            "group": text(), "length": number(), "modificationTime": number(), "owner": text(),
            "pathSuffix": text(), "permission": text(), "replication": number(),
            "storagePolicy": number(), "type": { "enum": ["FILE", "DIRECTORY", "SYMLINK"] },
        },
    });
    let path_status = status.clone();
    let statuses = json!({
        "type": "object",
        "required": ["FileStatus"],
        "properties": { "FileStatus": { "type": "array", "items": status } },
    });
    let list = |items: Value| json!({ "type": "array", "items": items });
    let object = || json!({ "type": "object" });
    let listing = json!({
        "type": "object",
        "required": ["partialListing", "remainingEntries"],
        "properties": {
            "partialListing": of("FileStatuses", statuses.clone()),
            "remainingEntries": number(),
        },
    });
    let exception = json!({
        "type": "object",
        "required": ["exception", "javaClassName", "message"],
        "properties": { "exception": text(), "javaClassName": text(), "message": text() },
    });
    let file = json!({
        "type": "object",
        "required": ["name"],
        "properties": { "name": text(), "length": number(), "RemoteException": exception.clone() },
    });
    let files = list(file);
    let all = [
        ("AclStatus", object()),
        ("BlockLocations", object()),
        ("BlockStoragePolicies", object()),
        ("BlockStoragePolicy", object()),
        ("ContentSummary", object()),
        ("DirectoryListing", listing),
        ("ErasureCodingCodecs", object()),
        ("ErasureCodingPolicies", object()),
        ("FileChecksum", maybe("object")),
        ("FileStatus", status),
        ("FileStatuses", statuses),
        ("Files", files),
        ("FsServerDefaults", object()),
        ("FsStatus", object()),
        ("LocatedBlocks", object()),
        ("Location", text()),
        ("Path", maybe("string")),
        ("Paths", json!({ "type": ["array", "null"], "items": object() })),
        ("QuotaUsage", object()),
        ("RemoteException", exception),
        ("SnapshotDiffReport", object()),
        ("SnapshotDiffReportListing", object()),
        ("SnapshotList", maybe("array")),
        ("SnapshottableDirectoryList", maybe("array")),
        ("Token", maybe("object")),
        ("XAttrNames", text()),
        ("XAttrs", list(object())),
        ("boolean", json!({ "type": "boolean" })),
    ];
    let mut schemas: serde_json::Map<String, Value> =
        all.into_iter().map(|(name, inner)| (name.to_owned(), of(name, inner))).collect();
    schemas.insert("ErasureCodingPolicy".to_owned(), maybe("object"));
    let mut line = path_status.clone();
    line["properties"]["path"] = text();
    schemas.insert("PathStatus".to_owned(), line);
    schemas.into()
}

/// An object with one property.
fn of(name: &str, inner: Value) -> Value {
    json!({ "type": "object", "required": [name], "properties": { name: inner } })
}
