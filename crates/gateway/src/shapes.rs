//! The JSON of answers, in the shapes of `JsonUtil`.

use serde_json::{Map, Value, json};
use zerohop_client::{
    AclEntry, AclStatus, ContentSummary, ErasureCodingPolicy, FileChecksum, FileKind, FileStatus,
    FsStats, QuotaUsage, ServerDefaults, StoragePolicy, StorageType, TypeUsage,
};

/// A path's status, without the name that lists put around it. In the list of a directory it has its name as `pathSuffix`.
pub(crate) fn file_status(status: &FileStatus, listed: Option<&str>) -> Value {
    let kind = match status.kind {
        FileKind::Directory => "DIRECTORY",
        FileKind::Symlink => "SYMLINK",
        _ => "FILE",
    };
    // The list of a file is the file itself.
    let is_entry = listed.is_some_and(|path| path.trim_end_matches('/') != status.path);
    let mut value = json!({
        "accessTime": status.accessed_ms,
        "blockSize": status.block_size,
        "childrenNum": status.children.unwrap_or_default(),
        "fileId": status.file_id.0,
        "group": &*status.group,
        "length": status.len,
        "modificationTime": status.modified_ms,
        "owner": &*status.owner,
        "pathSuffix": if is_entry { status.name() } else { "" },
        "permission": format!("{:o}", status.permission & 0o1777),
        "replication": status.replication,
        "storagePolicy": status.storage_policy,
        "type": kind,
    });
    let mut set = |name: &str, what: Value| value[name] = what;
    if let Some(link) = &status.symlink {
        set("symlink", link.as_str().into());
    }
    if let Some(policy) = &status.erasure_policy {
        set("ecBit", true.into());
        set("ecPolicy", policy.name.as_str().into());
        set("ecPolicyObj", ec_policy_of_status(policy));
    }
    let flags = [
        ("aclBit", status.has_acl),
        ("encBit", status.is_encrypted),
        ("snapshotEnabled", status.is_snapshot_enabled),
    ];
    flags.into_iter().filter(|(_, is_set)| *is_set).for_each(|(name, _)| set(name, true.into()));
    value
}

/// What a client makes the erasure coding policy of a status of.
fn ec_policy_of_status(policy: &ErasureCodingPolicy) -> Value {
    json!({
        "cellSize": policy.cell_size,
        "codecName": policy.codec,
        "extraOptions": ec_options(policy),
        "id": policy.id,
        "name": policy.name,
        "numDataUnits": policy.data_units,
        "numParityUnits": policy.parity_units,
    })
}

fn ec_options(policy: &ErasureCodingPolicy) -> Map<String, Value> {
    policy.options.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect()
}

/// An erasure coding policy, with what Java's servers compute of it.
pub(crate) fn ec_policy(policy: &ErasureCodingPolicy) -> Value {
    json!({
        "cellSize": policy.cell_size,
        "codecName": policy.codec,
        "id": policy.id,
        "name": policy.name,
        "numDataUnits": policy.data_units,
        "numParityUnits": policy.parity_units,
        "replicationPolicy": policy.id == 0,
        "schema": {
            "codecName": policy.codec,
            "extraOptions": ec_options(policy),
            "numDataUnits": policy.data_units,
            "numParityUnits": policy.parity_units,
        },
        // Those of others begin at 64.
        "systemPolicy": policy.id < 64,
    })
}

/// All erasure coding policies and their states.
pub(crate) fn ec_policies(policies: &[ErasureCodingPolicy]) -> Value {
    let one = |policy: &ErasureCodingPolicy| json!({ "policy": ec_policy(policy), "state": policy.state.as_str_name() });
    let all: Vec<Value> = policies.iter().map(one).collect();
    let all = Some(all).filter(|all| !all.is_empty());
    json!({ "ErasureCodingPolicies": { "ErasureCodingPolicyInfo": all } })
}

fn types(all: &[TypeUsage]) -> Value {
    let limited = all.iter().filter(|usage| usage.quota >= 0);
    let entry = |usage: &TypeUsage| {
        let figures = json!({ "consumed": usage.consumed, "quota": usage.quota });
        (usage.storage_type.as_str_name().to_owned(), figures)
    };
    Value::Object(limited.map(entry).collect::<Map<String, Value>>())
}

/// Sums below a path.
pub(crate) fn content_summary(summary: &ContentSummary) -> Value {
    json!({ "ContentSummary": {
        "directoryCount": summary.directories,
        "ecPolicy": summary.erasure_policy,
        "fileCount": summary.files,
        "length": summary.len,
        "quota": summary.quota,
        "snapshotDirectoryCount": summary.snapshot_directories,
        "snapshotFileCount": summary.snapshot_files,
        "snapshotLength": summary.snapshot_len,
        "snapshotSpaceConsumed": summary.snapshot_space_consumed,
        "spaceConsumed": summary.space_consumed,
        "spaceQuota": summary.space_quota,
        "typeQuota": types(&summary.types),
    }})
}

/// A directory's quotas and what counts against them.
pub(crate) fn quota_usage(usage: &QuotaUsage) -> Value {
    json!({ "QuotaUsage": {
        "fileAndDirectoryCount": usage.files_and_directories,
        "quota": usage.quota,
        "spaceConsumed": usage.space_consumed,
        "spaceQuota": usage.space_quota,
        "typeQuota": types(&usage.types),
    }})
}

/// A file's checksum. Java's servers send the whole buffer of the bytes of an MD5, which has 32 bytes.
pub(crate) fn file_checksum(checksum: &FileChecksum) -> Value {
    let mut bytes = checksum.bytes.to_vec();
    if checksum.algorithm.starts_with("MD5") {
        bytes.resize(bytes.len().max(32), 0);
    }
    json!({ "FileChecksum": {
        "algorithm": checksum.algorithm,
        "bytes": hex::encode(bytes),
        "length": checksum.bytes.len(),
    }})
}

/// A path's access control list.
pub(crate) fn acl_status(status: &AclStatus) -> Value {
    let entries: Vec<String> = status.entries.iter().map(AclEntry::to_string).collect();
    let mut value = json!({
        "entries": entries,
        "group": status.group,
        "owner": status.owner,
        "stickyBit": status.is_sticky,
    });
    if let Some(permission) = status.permission {
        value["permission"] = format!("{:o}", permission & 0o1777).into();
    }
    json!({ "AclStatus": value })
}

/// A storage policy.
pub(crate) fn storage_policy(policy: &StoragePolicy) -> Value {
    let names = |types: &[StorageType]| -> Vec<&str> {
        types.iter().map(StorageType::as_str_name).collect()
    };
    json!({
        "copyOnCreateFile": policy.name == "LAZY_PERSIST",
        "creationFallbacks": names(&policy.creation_fallback),
        "id": policy.id,
        "name": policy.name,
        "replicationFallbacks": names(&policy.replication_fallback),
        "storageTypes": names(&policy.creation),
    })
}

/// What the NameNode tells every client.
pub(crate) fn server_defaults(defaults: &ServerDefaults) -> Value {
    json!({ "FsServerDefaults": {
        "blockSize": defaults.block_size,
        "bytesPerChecksum": defaults.checksum.bytes_per_checksum(),
        "checksumType": defaults.checksum.kind() as u8,
        "defaultStoragePolicyId": defaults.storage_policy,
        "encryptDataTransfer": defaults.encrypt_data_transfer,
        "fileBufferSize": defaults.file_buffer_size,
        "keyProviderUri": "",
        "replication": defaults.replication,
        "trashInterval": defaults.trash_interval_min,
        "writePacketSize": defaults.write_packet_size,
    }})
}

/// The cluster's room.
pub(crate) fn fs_status(stats: &FsStats) -> Value {
    json!({ "FsStatus": {
        "capacity": stats.capacity,
        "remaining": stats.remaining,
        "used": stats.used,
    }})
}
