//! What an operation does under the namespace's lock is bounded, however large the subtree is that it is about.

use crate::blocks::{BlockManager, BlockParams, Now};
use crate::{
    CreateFlags, CreateRequest, Namespace, NamespaceParams, OpContext, QUOTA_DONT_SET,
    RenameOptions,
};
use std::sync::atomic::Ordering;
use zerohop_wire::InodeId;

const DIRECTORIES: usize = 60;
const FILES: usize = 100;
/// Far fewer than there are inodes: paths are short.
const LOOKS_MAX: usize = 400;

fn superuser() -> OpContext {
    OpContext { user: "root".into(), ..OpContext::internal(Now { wall_ms: 1, mono_ms: 1 }) }
}

fn alice() -> OpContext {
    OpContext { user: "alice".into(), superuser: false, ..superuser() }
}

fn create(namespace: &mut Namespace, path: &str) {
    let request = CreateRequest {
        path,
        masked: 0o644,
        client_name: "client",
        flags: CreateFlags { create: true, ..CreateFlags::default() },
        create_parent: true,
        replication: 1,
        block_size: 128 << 20,
        ..CreateRequest::default()
    };
    let file = namespace.create(&superuser(), &request).unwrap();
    assert!(namespace.complete(&superuser(), path, file.id, "client", None).unwrap());
}

/// `/big` with directories of files, and `/q` with a quota.
fn large() -> Namespace {
    let mut namespace =
        Namespace::new(NamespaceParams::default(), BlockManager::new(BlockParams::default()));
    namespace.start(Now { wall_ms: 1, mono_ms: 1 });
    for directory in 0..DIRECTORIES {
        (0..FILES).for_each(|file| create(&mut namespace, &format!("/big/{directory:02}/{file}")));
    }
    namespace.mkdirs(&superuser(), "/q", 0o777, None, true).unwrap();
    namespace.set_quota(&superuser(), "/q", 1_000_000, 1 << 50, None).unwrap();
    namespace
}

/// How many inodes something looks at.
fn looks<T>(namespace: &mut Namespace, work: impl FnOnce(&mut Namespace) -> T) -> (T, usize) {
    let before = namespace.state.tree().looks.load(Ordering::Relaxed);
    let result = work(namespace);
    (result, namespace.state.tree().looks.load(Ordering::Relaxed) - before)
}

#[test]
fn sums_of_a_subtree_are_not_counted_under_the_lock() {
    let (mut namespace, root) = (large(), superuser());
    let (summary, steps) = looks(&mut namespace, |it| it.content_summary(&root, "/").unwrap());
    assert_eq!((summary.files, summary.directories), (6000, 63));
    assert!(steps < LOOKS_MAX, "content summary: {steps}");
    let (usage, steps) = looks(&mut namespace, |it| it.quota_usage(&root, "/big").unwrap());
    assert_eq!(usage.names, 6061);
    assert!(steps < LOOKS_MAX, "quota usage: {steps}");
    let limit = |it: &mut Namespace| it.set_quota(&root, "/big", 9000, QUOTA_DONT_SET, None);
    let (done, steps) = looks(&mut namespace, limit);
    done.unwrap();
    assert!(steps < LOOKS_MAX, "setQuota: {steps}");
    let policy = |it: &mut Namespace| it.set_storage_policy(&root, "/big", "COLD");
    let (done, steps) = looks(&mut namespace, policy);
    done.unwrap();
    assert!(steps < LOOKS_MAX, "setStoragePolicy: {steps}");
    assert_eq!(namespace.miscounted(), None);
}

#[test]
fn a_rename_between_quotas_does_not_count_the_subtree_under_the_lock() {
    let (mut namespace, root) = (large(), superuser());
    let (done, steps) = looks(&mut namespace, |it| it.rename(&root, "/big", "/q").unwrap());
    assert!(done && steps < LOOKS_MAX, "rename: {steps}");
    assert_eq!(namespace.quota_usage(&root, "/q").unwrap().names, 6062);
    let back = |it: &mut Namespace| it.rename2(&root, "/q/big", "/big", RenameOptions::default());
    let (done, steps) = looks(&mut namespace, back);
    done.unwrap();
    assert!(steps < LOOKS_MAX, "rename2: {steps}");
    assert_eq!(namespace.miscounted(), None);
}

#[test]
fn a_deletion_frees_a_slice_under_the_lock_whatever_quotas_are_above() {
    let (mut namespace, root) = (large(), superuser());
    assert!(namespace.rename(&root, "/big", "/q").unwrap());
    let (done, steps) = looks(&mut namespace, |it| it.delete(&root, "/q/big", true).unwrap());
    assert!(done && steps < 6000, "delete: {steps}");
    assert_eq!(namespace.quota_usage(&root, "/q").unwrap().names, 1);
    // Neither a rename nor a quota above what is being freed waits for that.
    let (done, steps) = looks(&mut namespace, |it| it.rename(&root, "/q", "/r").unwrap());
    assert!(done && steps < LOOKS_MAX, "rename: {steps}");
    let mut slices = 0;
    while namespace.free_deleted(1000) {
        slices += 1;
    }
    assert!((4..=12).contains(&slices), "{slices}");
    assert_eq!(namespace.stats().inodes, 2);
}

#[test]
fn permissions_below_are_checked_in_slices_and_of_directories_only() {
    let (mut namespace, alice) = (large(), alice());
    let mut walk = namespace.begin_summary_walk(&alice, "/big").unwrap();
    let mut slices = 0;
    loop {
        let (more, steps) = looks(&mut namespace, |it| it.walk_on(&alice, &mut walk, 10).unwrap());
        assert!(steps <= 10 * 20, "{steps} in one slice");
        slices += 1;
        if !more {
            break;
        }
    }
    assert!((12..20).contains(&slices), "{slices}");
    assert_eq!(namespace.content_summary_of(&walk).unwrap().files, 6000);
}

#[test]
fn a_walk_goes_on_whatever_changes_between_its_slices() {
    let (mut namespace, root, alice) = (large(), superuser(), alice());
    let mut walk = namespace.begin_summary_walk(&alice, "/big").unwrap();
    assert!(namespace.walk_on(&alice, &mut walk, 20).unwrap());
    namespace.delete(&root, "/big/55", true).unwrap();
    namespace.mkdirs(&root, "/elsewhere", 0o755, None, true).unwrap();
    namespace.rename(&root, "/big/02", "/elsewhere").unwrap();
    namespace.set_permission(&root, "/elsewhere/02", 0o700).unwrap();
    while namespace.walk_on(&alice, &mut walk, 20).unwrap() {}
    assert_eq!(namespace.content_summary_of(&walk).unwrap().files, 5800);
    let mut walk = namespace.begin_summary_walk(&alice, "/big").unwrap();
    namespace.set_permission(&root, "/big/30", 0o700).unwrap();
    let refused = loop {
        match namespace.walk_on(&alice, &mut walk, 20) {
            Ok(more) => assert!(more, "the directory was left out"),
            Err(refused) => break refused,
        }
    };
    assert!(refused.message.contains("/big/30"), "{}", refused.message);
    let mut walk = namespace.begin_quota_walk(&root, "/big").unwrap();
    namespace.delete(&root, "/big", true).unwrap();
    assert!(!namespace.walk_on(&root, &mut walk, 1).unwrap());
    assert!(namespace.quota_usage_of(&walk).is_err());
    assert!(namespace.state.tree().find(InodeId::ROOT).is_some());
}
