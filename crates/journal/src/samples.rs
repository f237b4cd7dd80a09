//! One of every operation, for tests here and for Apache's tools to read.

use crate::op::*;
use crate::types::*;
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId};

const TIME_MS: i64 = 1_700_000_000_123;

/// A call's ids as a client sends them.
pub fn rpc_ids() -> RpcIds {
    RpcIds { client_id: Some(*b"0123456789abcdef"), call_id: 42 }
}

/// A block.
pub fn block(id: i64, len: u64, stamp: i64) -> Block {
    Block { id: BlockId(id), stamp: GenerationStamp(stamp), len }
}

fn permissions(mode: u16) -> PermissionStatus {
    PermissionStatus { user: "alice".into(), group: "staff".into(), mode }
}

fn acl() -> Vec<AclEntry> {
    let entry = |scope, kind, name: Option<&str>, permission| AclEntry {
        scope,
        kind,
        name: name.map(Into::into),
        permission,
    };
    vec![
        entry(AclScope::Access, AclKind::User, Some("bob"), 7),
        entry(AclScope::Access, AclKind::Group, None, 5),
        entry(AclScope::Access, AclKind::Mask, None, 7),
        entry(AclScope::Default, AclKind::Other, None, 0),
    ]
}

fn xattr(namespace: XAttrNamespace, name: &str, value: Option<&'static [u8]>) -> XAttr {
    XAttr { namespace, name: name.into(), value: value.map(bytes::Bytes::from_static) }
}

fn directive() -> CacheDirectiveRecord {
    CacheDirectiveRecord {
        id: 1,
        path: Some("/cached".to_owned()),
        replication: Some(2),
        pool: Some("pool".to_owned()),
        expiration_ms: Some(TIME_MS),
    }
}

fn pool() -> CachePool {
    CachePool::new("pool")
        .owner("alice".to_owned())
        .group("staff".to_owned())
        .mode(0o755)
        .limit(1 << 40)
        .max_relative_expiry_ms(i64::MAX / 4)
        .default_replication(1)
}

fn token() -> TokenIdentifier {
    TokenIdentifier {
        owner: "alice".to_owned(),
        renewer: "yarn".to_owned(),
        real_user: "oozie".to_owned(),
        issue_date_ms: TIME_MS,
        max_date_ms: TIME_MS + 1000,
        sequence_number: 300,
        master_key_id: -3,
    }
}

/// A path whose letters take one to four bytes of UTF-8.
pub const ODD_PATH: &str = "/plain/\u{e4}\u{f6}\u{fc}/\u{65e5}\u{672c}/\u{1f600}";

/// One of every operation, in order of the codes, the marks of a segment's ends left out.
pub fn all() -> Vec<EditOp> {
    let s = str::to_owned;
    vec![
        Add {
            inode_id: InodeId(16387),
            path: s(ODD_PATH),
            replication: 3,
            mtime_ms: TIME_MS,
            atime_ms: TIME_MS + 1,
            block_size: 128 << 20,
            blocks: vec![block(1073741825, 5, 1001)],
            permissions: permissions(0o644),
            acl: acl(),
            xattrs: vec![xattr(XAttrNamespace::User, "a", Some(b"\x00\xff"))],
            client_name: s("DFSClient_NONMAPREDUCE_1_1"),
            client_machine: s("127.0.0.1"),
            overwrite: true,
            storage_policy_id: 7,
            ec_policy_id: 1,
        }
        .into(),
        RenameOld { src: s("/a"), dst: s("/b"), timestamp_ms: TIME_MS }.into(),
        Delete { path: s("/a"), timestamp_ms: TIME_MS }.into(),
        Mkdir {
            inode_id: InodeId(16386),
            path: s("/dir"),
            timestamp_ms: TIME_MS,
            permissions: permissions(0o1777),
            acl: acl(),
            xattrs: vec![xattr(XAttrNamespace::Raw, "b", None)],
        }
        .into(),
        SetReplication { path: s("/a"), replication: 10 }.into(),
        SetPermissions { path: s("/a"), mode: 0o1777 }.into(),
        SetOwner { path: s("/a"), user: Some("bob".into()), group: None }.into(),
        Close {
            inode_id: InodeId(16387),
            path: s("/a"),
            replication: 3,
            mtime_ms: TIME_MS,
            atime_ms: TIME_MS,
            block_size: 128 << 20,
            blocks: vec![block(1073741825, 128 << 20, 1001), block(1073741826, 5, 1002)],
            permissions: permissions(0o644),
        }
        .into(),
        SetGenstampV1 { stamp: GenerationStamp(1000) }.into(),
        SetNsQuota { path: s("/dir"), ns_quota: 10 }.into(),
        ClearNsQuota { path: s("/dir") }.into(),
        Times { path: s("/a"), mtime_ms: TIME_MS, atime_ms: -1 }.into(),
        SetQuota { path: s("/dir"), ns_quota: i64::MAX, ds_quota: -1 }.into(),
        Rename { src: s("/a"), dst: s("/b"), timestamp_ms: TIME_MS, options: vec![1] }.into(),
        ConcatDelete { target: s("/a"), sources: vec![s("/b"), s("/c")], timestamp_ms: TIME_MS }
            .into(),
        Symlink {
            inode_id: InodeId(16388),
            path: s("/link"),
            target: s("/a"),
            mtime_ms: TIME_MS,
            atime_ms: TIME_MS,
            permissions: permissions(0o777),
        }
        .into(),
        GetDelegationToken { token: token(), expiry_ms: TIME_MS }.into(),
        RenewDelegationToken { token: token(), expiry_ms: TIME_MS + 1 }.into(),
        CancelDelegationToken { token: token() }.into(),
        UpdateMasterKey {
            key: DelegationKey {
                id: 3,
                expiry_ms: TIME_MS,
                key: Some(bytes::Bytes::from_static(b"secret")),
            },
        }
        .into(),
        ReassignLease {
            lease_holder: s("DFSClient_1"),
            path: s("/a"),
            new_holder: s("HDFS_NameNode"),
        }
        .into(),
        UpdateBlocks { path: s("/a"), blocks: vec![block(-1, 128 << 20, 1001), block(7, 1, 999)] }
            .into(),
        CreateSnapshot { root: s("/dir"), name: s("s1"), mtime_ms: TIME_MS }.into(),
        DeleteSnapshot { root: s("/dir"), name: s("s1"), mtime_ms: TIME_MS }.into(),
        RenameSnapshot { root: s("/dir"), old_name: s("s1"), new_name: s("s2"), mtime_ms: TIME_MS }
            .into(),
        AllowSnapshot { root: s("/dir") }.into(),
        DisallowSnapshot { root: s("/dir") }.into(),
        SetGenstampV2 { stamp: GenerationStamp(1001) }.into(),
        AllocateBlockId { block_id: BlockId(1073741825) }.into(),
        AddBlock {
            path: s("/a"),
            penultimate: Some(block(1073741825, 128 << 20, 1001)),
            last: block(1073741826, 0, 1002),
        }
        .into(),
        AddCacheDirective { directive: directive() }.into(),
        RemoveCacheDirective { id: 1 }.into(),
        AddCachePool { pool: pool() }.into(),
        ModifyCachePool { pool: CachePool::new("pool").limit(1) }.into(),
        RemoveCachePool { name: s("pool") }.into(),
        ModifyCacheDirective {
            directive: CacheDirectiveRecord {
                id: 1,
                replication: Some(3),
                ..CacheDirectiveRecord::default()
            },
        }
        .into(),
        SetAcl { path: s("/a"), entries: acl() }.into(),
        RollingUpgradeStart { time_ms: TIME_MS }.into(),
        RollingUpgradeFinalize { time_ms: TIME_MS }.into(),
        SetXAttr {
            path: s("/a"),
            xattrs: vec![
                xattr(XAttrNamespace::User, "a", Some(b"value")),
                xattr(XAttrNamespace::Trusted, "b", Some(b"")),
            ],
        }
        .into(),
        RemoveXAttr { path: s("/a"), xattrs: vec![xattr(XAttrNamespace::Security, "c", None)] }
            .into(),
        SetStoragePolicy { path: s("/dir"), policy_id: 12 }.into(),
        Truncate {
            path: s("/a"),
            client_name: s("DFSClient_1"),
            client_machine: s("127.0.0.1"),
            new_length: 3,
            timestamp_ms: TIME_MS,
            block: Some(block(1073741826, 5, 1003)),
        }
        .into(),
        Append {
            path: s("/a"),
            client_name: s("DFSClient_1"),
            client_machine: s("127.0.0.1"),
            new_block: true,
        }
        .into(),
        SetQuotaByStorageType { path: s("/dir"), storage_type: StorageType::Ssd, quota: 1 << 30 }
            .into(),
        AddErasureCodingPolicy {
            policy: EcPolicy {
                codec: s("rs"),
                data_units: 6,
                parity_units: 3,
                cell_size: 1 << 20,
                options: vec![(s("k"), s("v"))],
            },
        }
        .into(),
        EnableErasureCodingPolicy { name: s("RS-6-3-1024k") }.into(),
        DisableErasureCodingPolicy { name: s("RS-6-3-1024k") }.into(),
        RemoveErasureCodingPolicy { name: s("RS-6-3-1024k") }.into(),
    ]
}

/// A whole segment's bytes: its header, its first mark, `ops` by [`rpc_ids`], its last mark.
pub fn segment(first: i64, ops: &[EditOp]) -> Vec<u8> {
    let layout = crate::LayoutVersion::CURRENT;
    let mut bytes = layout.0.to_be_bytes().to_vec();
    bytes.extend_from_slice(&[0; 4]);
    let start = EditOp::from(StartLogSegment {});
    let end = EditOp::from(EndLogSegment {});
    let all = std::iter::once(&start).chain(ops).chain(std::iter::once(&end));
    for (txid, op) in (first..).zip(all) {
        encode(op, zerohop_wire::TxId(txid), &rpc_ids(), layout, &mut bytes);
    }
    bytes
}
