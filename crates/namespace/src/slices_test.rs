//! What an operation does under the namespace's lock is bounded, however large the subtree is that it is about.

use crate::blocks::{BlockManager, BlockParams, Now};
use crate::fixture::{create, superuser};
use crate::{
    Namespace, NamespaceParams, OpContext, QUOTA_DONT_SET, RemovalCheck, RenameOptions, Result,
};
use std::sync::atomic::Ordering;
use zerohop_wire::{CallerIdentity, InodeId};

const DIRECTORIES: usize = 60;
const FILES: usize = 100;
/// Far fewer than there are inodes: paths are short.
const LOOKS_MAX: usize = 400;

fn alice() -> OpContext {
    let identity = CallerIdentity::simple("alice", None);
    OpContext { identity, superuser: false, ..superuser() }
}

/// `/big` with directories of files, and `/q` with a quota.
fn large() -> Namespace {
    let mut namespace =
        Namespace::new(NamespaceParams::default(), BlockManager::new(BlockParams::default()));
    namespace.start(Now { wall_ms: 1, mono_ms: 1 });
    for directory in 0..DIRECTORIES {
        (0..FILES).for_each(|file| create(&mut namespace, &format!("/big/{directory:02}/{file}")));
    }
    namespace.directories(&superuser()).mkdirs("/q", 0o777, None, true).unwrap();
    namespace.quotas(&superuser()).set_quota("/q", 1_000_000, 1 << 50, None).unwrap();
    namespace
}

/// How many inodes something looks at.
fn looks<T>(namespace: &mut Namespace, work: impl FnOnce(&mut Namespace) -> T) -> (T, usize) {
    let before = namespace.state().tree().looks.load(Ordering::Relaxed);
    let result = work(namespace);
    (result, namespace.state().tree().looks.load(Ordering::Relaxed) - before)
}

#[test]
fn sums_of_a_subtree_are_not_counted_under_the_lock() {
    let (mut namespace, root) = (large(), superuser());
    let (summary, steps) = looks(&mut namespace, |it| it.view(&root).content_summary("/").unwrap());
    assert_eq!((summary.files, summary.directories), (6000, 63));
    assert!(steps < LOOKS_MAX, "content summary: {steps}");
    let (usage, steps) = looks(&mut namespace, |it| it.view(&root).quota_usage("/big").unwrap());
    assert_eq!(usage.names, 6061);
    assert!(steps < LOOKS_MAX, "quota usage: {steps}");
    let limit = |it: &mut Namespace| it.quotas(&root).set_quota("/big", 9000, QUOTA_DONT_SET, None);
    let (done, steps) = looks(&mut namespace, limit);
    done.unwrap();
    assert!(steps < LOOKS_MAX, "setQuota: {steps}");
    let policy = |it: &mut Namespace| it.storage_policies(&root).set_storage_policy("/big", "COLD");
    let (done, steps) = looks(&mut namespace, policy);
    done.unwrap();
    assert!(steps < LOOKS_MAX, "setStoragePolicy: {steps}");
    assert_eq!(namespace.miscounted(), None);
}

#[test]
fn a_rename_between_quotas_does_not_count_the_subtree_under_the_lock() {
    let (mut namespace, root) = (large(), superuser());
    let (done, steps) =
        looks(&mut namespace, |it| it.directories(&root).rename("/big", "/q").unwrap());
    assert!(done && steps < LOOKS_MAX, "rename: {steps}");
    assert_eq!(namespace.view(&root).quota_usage("/q").unwrap().names, 6062);
    let back = |it: &mut Namespace| {
        it.directories(&root).rename2("/q/big", "/big", RenameOptions::default())
    };
    let (done, steps) = looks(&mut namespace, back);
    done.unwrap();
    assert!(steps < LOOKS_MAX, "rename2: {steps}");
    assert_eq!(namespace.miscounted(), None);
}

#[test]
fn a_deletion_frees_a_slice_under_the_lock_also_below_quotas() {
    let (mut namespace, root) = (large(), superuser());
    assert!(namespace.directories(&root).rename("/big", "/q").unwrap());
    let (done, steps) =
        looks(&mut namespace, |it| it.directories(&root).delete("/q/big", true).unwrap());
    assert!(done && steps < 6000, "delete: {steps}");
    assert_eq!(namespace.view(&root).quota_usage("/q").unwrap().names, 1);
    // Neither a rename nor a quota above what is being freed waits for that.
    let (done, steps) =
        looks(&mut namespace, |it| it.directories(&root).rename("/q", "/r").unwrap());
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
    let mut walk = namespace.subtrees(&alice).begin_summary_walk("/big").unwrap();
    let mut slices = 0;
    loop {
        let (more, steps) =
            looks(&mut namespace, |it| it.subtrees(&alice).walk_on(&mut walk, 10).unwrap());
        assert!(steps <= 10 * 20, "{steps} in one slice");
        slices += 1;
        if !more {
            break;
        }
    }
    assert!((12..20).contains(&slices), "{slices}");
    assert_eq!(namespace.summaries().content_summary(&walk).unwrap().files, 6000);
}

#[test]
fn a_walk_goes_on_after_changes_between_its_slices() {
    let (mut namespace, root, alice) = (large(), superuser(), alice());
    let mut walk = namespace.subtrees(&alice).begin_summary_walk("/big").unwrap();
    assert!(namespace.subtrees(&alice).walk_on(&mut walk, 20).unwrap());
    namespace.directories(&root).delete("/big/55", true).unwrap();
    namespace.directories(&root).mkdirs("/elsewhere", 0o755, None, true).unwrap();
    namespace.directories(&root).rename("/big/02", "/elsewhere").unwrap();
    namespace.attributes(&root).set_permission("/elsewhere/02", 0o700).unwrap();
    while namespace.subtrees(&alice).walk_on(&mut walk, 20).unwrap() {}
    assert_eq!(namespace.summaries().content_summary(&walk).unwrap().files, 5800);
    let mut walk = namespace.subtrees(&alice).begin_summary_walk("/big").unwrap();
    namespace.attributes(&root).set_permission("/big/30", 0o700).unwrap();
    let refused = loop {
        match namespace.subtrees(&alice).walk_on(&mut walk, 20) {
            Ok(more) => assert!(more, "the directory was left out"),
            Err(refused) => break refused,
        }
    };
    assert!(refused.to_string().contains("/big/30"), "{refused}");
    let mut walk = namespace.subtrees(&root).begin_quota_walk("/big").unwrap();
    namespace.directories(&root).delete("/big", true).unwrap();
    assert!(!namespace.subtrees(&root).walk_on(&mut walk, 1).unwrap());
    assert!(namespace.summaries().quota_usage(&walk).is_err());
    assert!(namespace.state().tree().find(InodeId::ROOT).is_some());
}

/// `/big` as [`large`] makes it, where every directory is the caller's to empty.
fn large_and_open() -> Namespace {
    let mut namespace = large();
    for directory in 0..DIRECTORIES {
        let path = format!("/big/{directory:02}");
        namespace.attributes(&superuser()).set_permission(&path, 0o777).unwrap();
    }
    namespace.attributes(&superuser()).set_permission("/big", 0o777).unwrap();
    namespace.attributes(&superuser()).set_permission("/", 0o777).unwrap();
    namespace
}

/// Deletes a tree as `alice`, with `between` before each slice of the check, and one try under the lock after each walk.
/// Gives the inodes looked at under each hold of the lock.
fn delete_in_slices(
    namespace: &mut Namespace,
    path: &str,
    max: usize,
    mut between: impl FnMut(&mut Namespace, usize),
) -> (Result<bool>, Vec<usize>) {
    let (alice, mut check, mut holds) = (alice(), RemovalCheck::default(), Vec::new());
    loop {
        let attempt =
            |it: &mut Namespace| it.directories(&alice).try_delete(path, true, &mut check, max);
        let (done, steps) = looks(namespace, attempt);
        holds.push(steps);
        match done.transpose() {
            Some(done) => return (done, holds),
            None => between(namespace, holds.len()),
        }
        loop {
            let slice = |it: &mut Namespace| it.subtrees(&alice).continue_check(&mut check, max);
            let (more, steps) = looks(namespace, slice);
            holds.push(steps);
            assert!(holds.len() < 10_000, "the check does not end");
            match more {
                Err(refused) => return (Err(refused), holds),
                Ok(false) => break,
                Ok(true) => between(namespace, holds.len()),
            }
        }
    }
}

#[test]
fn the_permissions_below_a_deleted_tree_are_checked_in_slices() {
    let mut namespace = large_and_open();
    let (done, holds) = delete_in_slices(&mut namespace, "/big", 10, |_, _| {});
    assert!(done.unwrap());
    assert!((12..20).contains(&holds.len()), "{holds:?}");
    let (last, slices) = holds.split_last().unwrap();
    assert!(slices.iter().all(|steps| *steps <= 10 * 20), "{slices:?}");
    // Nothing changed: the hold that deletes looks at no directory again, and frees a slice.
    assert!(*last < 6000, "{last}");
    let mut namespace = large_and_open();
    let (alice, mut check) = (alice(), RemovalCheck::default());
    namespace.attributes(&superuser()).set_permission("/q", 0o777).unwrap();
    let to_trash = RenameOptions { to_trash: true, ..RenameOptions::default() };
    let mut tries = 0;
    loop {
        tries += 1;
        let attempt = |it: &mut Namespace| {
            it.directories(&alice).try_rename2("/big", "/q/big", to_trash, &mut check, 10)
        };
        let (done, steps) = looks(&mut namespace, attempt);
        assert!(steps < LOOKS_MAX, "{steps}");
        if done.unwrap().is_some() {
            break;
        }
        while namespace.subtrees(&alice).continue_check(&mut check, 10).unwrap() {}
    }
    assert_eq!(tries, 2);
    assert!(namespace.state().paths().walk("/q/big").unwrap().last().is_some());
}

type Change = fn(&mut Namespace);

#[test]
fn a_permission_that_changes_behind_the_check_of_a_deleted_tree_counts() {
    let root = superuser();
    let changes: [(&str, Change); 5] = [
        ("mode", |it| it.attributes(&superuser()).set_permission("/big/59", 0o755).unwrap()),
        ("owner", |it| {
            it.attributes(&superuser()).set_permission("/big/58", 0o1777).unwrap();
            it.attributes(&superuser()).set_owner("/big/58", Some("alice"), None).unwrap();
            it.attributes(&superuser()).set_owner("/big/58", Some("bob"), None).unwrap();
        }),
        ("created", |it| {
            it.directories(&superuser()).mkdirs("/big/59/new", 0o755, None, false).unwrap();
            create(it, "/big/59/new/file");
        }),
        ("moved in", |it| {
            it.directories(&superuser()).rename("/other", "/big/59").map(drop).unwrap()
        }),
        ("filled", |it| create(it, "/big/zz/file")),
    ];
    for (name, change) in changes {
        let mut namespace = large_and_open();
        create(&mut namespace, "/other/below/file");
        namespace.attributes(&root).set_permission("/other/below", 0o755).unwrap();
        // The last in Hadoop's order of directories comes first; an empty one is not asked.
        namespace.directories(&root).mkdirs("/big/zz", 0o755, None, false).unwrap();
        let mut holds_before = 0;
        let (done, holds) = delete_in_slices(&mut namespace, "/big", 10, |it, holds| {
            if holds == 10 {
                change(it);
                holds_before = holds;
            }
        });
        assert!(holds_before > 0 && holds.len() > holds_before, "{name}: {holds:?}");
        let refused = done.expect_err(name);
        assert!(refused.to_string().starts_with("Permission denied"), "{name}: {refused:?}");
        assert!(namespace.state().paths().walk("/big/00/1").unwrap().last().is_some(), "{name}");
    }
}

#[test]
fn what_does_no_harm_may_change_behind_the_check_of_a_deleted_tree() {
    let mut namespace = large_and_open();
    let (done, holds) = delete_in_slices(&mut namespace, "/big", 10, |it, holds| {
        let root = superuser();
        it.directories(&root).mkdirs(&format!("/big/59/new-{holds}"), 0o755, None, false).unwrap();
        create(it, &format!("/big/58/new-{holds}"));
        if holds == 8 {
            it.directories(&root).rename("/big/57", "/r").unwrap();
            it.attributes(&root).set_permission("/r", 0o700).unwrap();
            it.directories(&root).delete("/big/56", true).unwrap();
        }
    });
    assert!(done.unwrap(), "{holds:?}");
    assert!(namespace.state().paths().walk("/r/1").unwrap().last().is_some());
    // Something else is at the path.
    let mut namespace = large_and_open();
    let (done, _) = delete_in_slices(&mut namespace, "/big", 10, |it, holds| {
        if holds == 8 {
            it.directories(&superuser()).rename("/big", "/r").unwrap();
            create(it, "/big/1/2/3");
            it.attributes(&superuser()).set_permission("/big", 0o755).unwrap();
        }
    });
    let refused = done.unwrap_err();
    assert!(refused.to_string().contains("inode=\"/big\":root"), "{refused:?}");
}

#[test]
fn a_check_that_changes_overtake_is_refused_in_the_end() {
    let mut namespace = large_and_open();
    let mut is_closed = false;
    let (done, holds) = delete_in_slices(&mut namespace, "/big", 10, |it, _| {
        (0..17_000).for_each(|at| {
            it.attributes(&superuser()).set_permission("/q", 0o700 + at % 8).unwrap();
        });
        it.take_edits();
        is_closed = true;
    });
    let refused = done.unwrap_err();
    assert!(matches!(refused, crate::Error::TryAgain(_)), "{refused:?}");
    assert!(is_closed && holds.len() < 50, "{}", holds.len());
}

/// `FSPermissionChecker.checkSubAccess` takes directories from a stack, and asks for the owners of all children first.
#[test]
fn the_directory_that_refuses_is_the_first_in_hadoop_s_order_with_slices_of_any_size() {
    let mut namespace = large_and_open();
    let root = superuser();
    for path in ["/big/10/a/x", "/big/10/b/y", "/big/10/b/z", "/big/05/c/w", "/big/44/d/v"] {
        create(&mut namespace, &format!("{path}/file"));
        namespace.attributes(&root).set_permission(path, 0o755).unwrap();
        let above = path.rsplit_once('/').unwrap().0;
        namespace.attributes(&root).set_permission(above, 0o777).unwrap();
    }
    let sticky = "/big/10";
    let expected =
        ["/big/44/d/v", "/big/10/99", "/big/10/b/z", "/big/10/b/y", "/big/10/a/x", "/big/05/c/w"];
    for (at, refusing) in expected.into_iter().enumerate() {
        if at == 1 {
            namespace.attributes(&root).set_permission(sticky, 0o1777).unwrap();
            // The first child in name order whose owner is another one.
            (0..FILES).filter(|file| *file != 99).for_each(|file| {
                let path = format!("{sticky}/{file}");
                namespace.attributes(&root).set_owner(&path, Some("alice"), None).unwrap();
            });
        }
        for max in [1, 2, 7, 50, usize::MAX] {
            let (done, _) = delete_in_slices(&mut namespace, "/big", max, |_, _| {});
            let refused = done.unwrap_err();
            assert!(refused.to_string().contains(&format!("\"{refusing}\"")), "{max}: {refused:?}");
        }
        namespace.attributes(&root).set_permission(refusing, 0o777).unwrap();
        if at == 1 {
            namespace.attributes(&root).set_permission(sticky, 0o777).unwrap();
        }
    }
    let (done, _) = delete_in_slices(&mut namespace, "/big", 3, |_, _| {});
    assert!(done.unwrap());
}
