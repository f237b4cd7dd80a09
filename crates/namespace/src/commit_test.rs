//! Given a namespace, when an edit is committed, then this is its state; and each inode is seen before it changes.

use crate::answers::{AclEntry, AclKind, AclScope, XAttr, XAttrNamespace};
use crate::blocks::{BlockManager, BlockParams, DatanodeId, Now, ReplicaEvent};
use crate::equal::Comparison;
use crate::tree::Slot;
use crate::{Namespace, NamespaceParams};
use std::collections::BTreeMap;
use zerohop_journal::EditOp;
use zerohop_journal::op::*;
use zerohop_journal::types::{PermissionStatus, StorageType};
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId, TxId};

const DIRECTORY: InodeId = InodeId(16386);
const FILE: InodeId = InodeId(16387);
const OTHER: InodeId = InodeId(16388);
const BLOCK_SIZE: i64 = 100;

fn namespace() -> Namespace {
    Namespace::new(NamespaceParams::default(), BlockManager::new(BlockParams::default()))
}

fn commit(namespace: &mut Namespace, op: impl Into<EditOp>) {
    namespace.apply(TxId(1), &op.into()).unwrap();
}

fn permissions() -> PermissionStatus {
    PermissionStatus { user: "alice".into(), group: "staff".into(), mode: 0o750 }
}

fn mkdir(inode_id: InodeId, path: &str) -> Mkdir {
    Mkdir {
        inode_id,
        path: path.into(),
        timestamp_ms: 1000,
        permissions: permissions(),
        acl: Vec::new(),
        xattrs: Vec::new(),
    }
}

fn add(inode_id: InodeId, path: &str) -> EditOp {
    EditOp::Add(Box::new(Add {
        inode_id,
        path: path.into(),
        replication: 2,
        mtime_ms: 2000,
        atime_ms: 2000,
        block_size: BLOCK_SIZE,
        permissions: permissions(),
        client_name: "client".into(),
        client_machine: "host".into(),
        ..Add::default()
    }))
}

fn block(id: i64, stamp: i64, len: u64) -> Block {
    Block { id: BlockId(id), stamp: GenerationStamp(stamp), len }
}

fn close(path: &str, blocks: &[Block]) -> Close {
    Close {
        path: path.into(),
        replication: 2,
        mtime_ms: 3000,
        atime_ms: 2000,
        block_size: BLOCK_SIZE,
        blocks: blocks.to_vec(),
        ..Close::default()
    }
}

/// `/d` with the closed file `f` of two blocks, and the empty file `g`.
fn with_files() -> Namespace {
    let mut namespace = namespace();
    commit(&mut namespace, mkdir(DIRECTORY, "/d"));
    commit(&mut namespace, add(FILE, "/d/f"));
    commit(
        &mut namespace,
        AddBlock { path: "/d/f".into(), penultimate: None, last: block(1, 1001, 0) },
    );
    let (first, last) = (block(1, 1001, 100), block(2, 1002, 0));
    commit(&mut namespace, AddBlock { path: "/d/f".into(), penultimate: Some(first), last });
    commit(&mut namespace, close("/d/f", &[first, block(2, 1002, 30)]));
    commit(&mut namespace, add(OTHER, "/d/g"));
    commit(&mut namespace, close("/d/g", &[]));
    namespace
}

/// What edits say of each inode, without the sums that directories keep.
fn inodes(namespace: &Namespace) -> BTreeMap<InodeId, String> {
    let tree = namespace.state().tree();
    let (mut all, mut at) = (vec![tree.root()], 0);
    while let Some(slot) = all.get(at).copied() {
        let children = |slot: Slot| tree.get(slot).as_directory().map(|it| it.children.iter());
        all.extend(children(slot).into_iter().flatten());
        at += 1;
    }
    let shown = |slot: &Slot| {
        let text = Comparison(namespace.state()).describe(*slot);
        text.split(" below ").next().unwrap_or_default().to_owned()
    };
    all.iter().map(|slot| (tree.get(*slot).id, shown(slot))).collect()
}

fn file_of(namespace: &Namespace, path: &str) -> Vec<(Block, bool)> {
    let slot = namespace.state().paths().existing_file(path).unwrap();
    let blocks = namespace.state().files().stored_blocks(slot);
    blocks.into_iter().map(|it| (it, namespace.blocks().is_complete(it.id))).collect()
}

fn lens(namespace: &Namespace, path: &str) -> Vec<u64> {
    file_of(namespace, path).iter().map(|(block, _)| block.len).collect()
}

/// One edit of each kind that changes inodes, to be committed one after another.
fn all_edits() -> Vec<EditOp> {
    let path = || "/d/f".to_owned();
    let user = |name: &str| XAttr {
        namespace: XAttrNamespace::User,
        name: name.into(),
        value: Some("v".into()),
    };
    let entry = |kind, name: Option<&str>| AclEntry {
        scope: AclScope::Access,
        kind,
        name: name.map(Into::into),
        permission: 6,
    };
    let acl = vec![
        entry(AclKind::User, None),
        entry(AclKind::User, Some("bob")),
        entry(AclKind::Group, None),
        entry(AclKind::Mask, None),
        entry(AclKind::Other, None),
    ];
    let (client_name, client_machine) = ("client".to_owned(), "host".to_owned());
    vec![
        SetPermissions { path: path(), mode: 0o600 }.into(),
        SetOwner { path: path(), user: Some("bob".into()), group: None }.into(),
        Times { path: path(), mtime_ms: 9000, atime_ms: 9001 }.into(),
        SetReplication { path: path(), replication: 3 }.into(),
        SetStoragePolicy { path: path(), policy_id: 12 }.into(),
        SetStoragePolicy { path: "/d".into(), policy_id: 2 }.into(),
        SetAcl { path: path(), entries: acl }.into(),
        SetXAttr { path: path(), xattrs: vec![user("a"), user("b")] }.into(),
        RemoveXAttr { path: path(), xattrs: vec![user("a")] }.into(),
        SetQuota { path: "/d".into(), ns_quota: 10, ds_quota: 5000 }.into(),
        SetQuotaByStorageType { path: "/d".into(), storage_type: StorageType::Disk, quota: 7 }
            .into(),
        Append {
            path: path(),
            client_name: client_name.clone(),
            client_machine: client_machine.clone(),
            new_block: false,
        }
        .into(),
        UpdateBlocks { path: path(), blocks: vec![block(1, 1001, 100), block(2, 1003, 40)] }.into(),
        ReassignLease {
            lease_holder: client_name.clone(),
            path: path(),
            new_holder: "other".into(),
        }
        .into(),
        close("/d/f", &[block(1, 1001, 100), block(2, 1003, 50)]).into(),
        Truncate {
            path: path(),
            client_name,
            client_machine,
            new_length: 120,
            timestamp_ms: 9100,
            block: Some(block(2, 1004, 50)),
        }
        .into(),
        close("/d/f", &[block(1, 1001, 100), block(2, 1004, 20)]).into(),
        mkdir(InodeId(16389), "/e").into(),
        RenameOld { src: path(), dst: "/e/f".into(), timestamp_ms: 9200 }.into(),
        Rename { src: "/e/f".into(), dst: path(), timestamp_ms: 9300, options: vec![0] }.into(),
        ConcatDelete { target: "/d/g".into(), sources: vec![path()], timestamp_ms: 9400 }.into(),
        add(InodeId(16390), "/d/h"),
        Delete { path: "/d/h".into(), timestamp_ms: 9500 }.into(),
    ]
}

#[test]
fn each_inode_is_seen_before_an_edit_changes_it() {
    let mut namespace = with_files();
    for op in all_edits() {
        let before = inodes(&namespace);
        drop(namespace.state_mut().take_seen());
        let name = op.name();
        commit(&mut namespace, op);
        let (after, seen) = (inodes(&namespace), namespace.state_mut().take_seen());
        assert_ne!(before, after, "{name} changes something");
        let is_changed = |(id, text): &(&InodeId, &String)| after.get(id) != Some(text);
        for (id, _) in before.iter().filter(is_changed) {
            assert!(seen.contains(id), "{name} changed {id} unseen");
        }
        assert_eq!(namespace.miscounted(), None, "after {name}");
    }
}

#[test]
fn an_edit_that_does_not_fit_changes_nothing() {
    let path = || "/d/f".to_owned();
    let (first, second) = (block(1, 1001, 100), block(2, 1002, 30));
    let wrong: Vec<EditOp> = vec![
        mkdir(FILE, "/new").into(),
        mkdir(InodeId(20000), "/d/f").into(),
        mkdir(InodeId(20000), "/none/new").into(),
        add(FILE, "/d/new"),
        AddBlock { path: path(), penultimate: None, last: block(9, 1009, 0) }.into(),
        AddBlock { path: path(), penultimate: Some(first), last: block(9, 1009, 0) }.into(),
        UpdateBlocks { path: path(), blocks: vec![first, block(3, 1002, 30)] }.into(),
        UpdateBlocks { path: path(), blocks: vec![block(1, 1009, 5), second] }.into(),
        UpdateBlocks { path: path(), blocks: vec![first] }.into(),
        close("/d/f", &[]).into(),
        Truncate {
            path: path(),
            client_name: "client".into(),
            client_machine: "host".into(),
            new_length: 120,
            timestamp_ms: 9100,
            block: None,
        }
        .into(),
        ConcatDelete { target: path(), sources: vec![path()], timestamp_ms: 9400 }.into(),
        Rename { src: path(), dst: "/d/g".into(), timestamp_ms: 9300, options: vec![0] }.into(),
        SetXAttr {
            path: path(),
            xattrs: vec![XAttr {
                namespace: XAttrNamespace::Raw,
                name: "hdfs.crypto.encryption.zone".into(),
                value: None,
            }],
        }
        .into(),
    ];
    let expected = with_files();
    for op in wrong {
        let mut namespace = with_files();
        assert!(namespace.apply(TxId(1), &op).is_err(), "{op:?}");
        assert_eq!(namespace.difference(&expected), None, "after {op:?}");
        assert_eq!(namespace.miscounted(), None, "after {op:?}");
    }
}

#[test]
fn a_closed_file_has_complete_blocks_and_no_lease() {
    let namespace = with_files();
    let done = [(block(1, 1001, 100), true), (block(2, 1002, 30), true)];
    assert_eq!(file_of(&namespace, "/d/f"), done);
    assert_eq!(lens(&namespace, "/d/f"), [100, 30]);
    assert_eq!(namespace.state().leases().len(), 0);
    assert_eq!((namespace.ids().inode, namespace.ids().stamp), (OTHER, GenerationStamp(1002)));
}

#[test]
fn an_append_opens_the_last_block_unless_it_is_full_or_a_new_one_is_wanted() {
    for (len, new_block, is_open) in [(30, false, true), (30, true, false), (100, false, false)] {
        let mut namespace = namespace();
        commit(&mut namespace, add(FILE, "/f"));
        commit(
            &mut namespace,
            AddBlock { path: "/f".into(), penultimate: None, last: block(1, 1001, 0) },
        );
        commit(&mut namespace, close("/f", &[block(1, 1001, len)]));
        let op = Append {
            path: "/f".into(),
            client_name: "other".into(),
            client_machine: "host".into(),
            new_block,
        };
        commit(&mut namespace, op);
        assert_eq!(file_of(&namespace, "/f"), [(block(1, 1001, len), !is_open)]);
        assert_eq!(namespace.state().leases().holder(FILE).map(|holder| &**holder), Some("other"));
    }
}

#[test]
fn a_truncate_frees_blocks_at_once_and_leaves_the_last_one_to_be_cut() {
    let mut namespace = with_files();
    let op = Truncate {
        path: "/d/f".into(),
        client_name: "client".into(),
        client_machine: "host".into(),
        new_length: 60,
        timestamp_ms: 9100,
        block: Some(block(1, 1004, 100)),
    };
    commit(&mut namespace, op);
    assert_eq!(file_of(&namespace, "/d/f"), [(block(1, 1001, 100), false)]);
    let cut = namespace.blocks().lookup().recovery(BlockId(1)).unwrap();
    let target = cut.truncate.unwrap();
    assert_eq!((target, target.len, cut.is_asked()), (block(1, 1004, 60), 60, false));
    assert!(namespace.blocks().get(BlockId(2)).is_none());
    assert_eq!(namespace.ids().stamp, GenerationStamp(1004));
}

#[test]
fn an_abandoned_block_is_taken_out_by_the_list_that_lacks_it() {
    let mut namespace = namespace();
    commit(&mut namespace, add(FILE, "/f"));
    commit(
        &mut namespace,
        AddBlock { path: "/f".into(), penultimate: None, last: block(1, 1001, 0) },
    );
    commit(&mut namespace, UpdateBlocks { path: "/f".into(), blocks: Vec::new() });
    assert_eq!(file_of(&namespace, "/f"), []);
    assert!(namespace.blocks().get(BlockId(1)).is_none());
    assert_eq!(namespace.miscounted(), None);
}

#[test]
fn an_old_rename_to_a_name_that_is_taken_changes_nothing() {
    let mut namespace = with_files();
    let op = RenameOld { src: "/d/f".into(), dst: "/d/g".into(), timestamp_ms: 9200 };
    commit(&mut namespace, op);
    assert_eq!(namespace.difference(&with_files()), None);
}

/// What a DataNode told of a block before its edits waits in the namespace of a standby until they are applied.
#[test]
fn a_standby_hears_of_a_replica_when_the_edit_of_its_block_is_applied() {
    let mut namespace = with_files();
    let now = Now { wall_ms: 1000, mono_ms: 1000 };
    let (storage, uuid) = ("DS-1".into(), "uuid-1".to_owned());
    let id = DatanodeId { uuid: uuid.clone(), ..DatanodeId::default() };
    namespace.blocks_mut().register(id, "/rack", "3.4.3", now);
    commit(&mut namespace, AllocateBlockId { block_id: BlockId(2) });
    commit(&mut namespace, SetGenstampV2 { stamp: GenerationStamp(1002) });
    namespace.become_standby();
    let new = block(3, 1003, 50);
    let event = [ReplicaEvent::Received(new)];
    let told = namespace.blocks_mut().block_reports().incremental_report(
        &uuid,
        (&storage, crate::blocks::StorageType::Disk),
        event,
    );
    told.unwrap();
    let live = |namespace: &Namespace| namespace.blocks().lookup().replica_counts(BlockId(3)).live;
    commit(&mut namespace, AllocateBlockId { block_id: BlockId(3) });
    commit(&mut namespace, SetGenstampV2 { stamp: GenerationStamp(1003) });
    commit(&mut namespace, append_to_g());
    assert_eq!((live(&namespace), namespace.blocks().pending_messages()), (0, 1));
    commit(
        &mut namespace,
        AddBlock { path: "/d/g".into(), penultimate: None, last: block(3, 1003, 0) },
    );
    assert_eq!(namespace.blocks().pending_messages(), 0);
    commit(&mut namespace, close("/d/g", &[new]));
    assert_eq!((live(&namespace), file_of(&namespace, "/d/g")), (1, vec![(new, true)]));
}

fn append_to_g() -> Append {
    Append {
        path: "/d/g".into(),
        client_name: "client".into(),
        client_machine: "host".into(),
        new_block: true,
    }
}
