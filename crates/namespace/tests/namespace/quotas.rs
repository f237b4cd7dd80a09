//! Quotas enforced and counted.

use crate::world::{BLOCK_SIZE, World, exception, kind};
use zerohop_namespace::blocks::StorageType;
use zerohop_namespace::{NamespaceParams, QUOTA_DONT_SET, QUOTA_RESET};
use zerohop_wire::{Block, JavaException};

#[test]
fn names_run_out() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/q");
    world.namespace.quotas(&root).set_quota("/q", 3, QUOTA_DONT_SET, None).unwrap();
    world.mkdirs("/q/a/b");
    let e = world.namespace.directories(&root).mkdirs("/q/c", 0o755, None, true).unwrap_err();
    assert_eq!(
        e.to_string(),
        "The NameSpace quota (directories and files) of directory /q is exceeded: quota=3 file count=4"
    );
    world.mkdirs("/x");
    assert_eq!(
        kind(world.namespace.directories(&root).rename("/x", "/q/x")),
        JavaException::NSQuotaExceeded
    );
    assert!(world.namespace.directories(&root).rename("/q/a/b", "/q/b").unwrap());
    world.namespace.directories(&root).delete("/q/b", true).unwrap();
    world.mkdirs("/q/c");
    world.check_replay();
    world.check_image();
}

#[test]
fn space_runs_out_by_whole_blocks_until_they_are_closed() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/q");
    world
        .namespace
        .quotas(&root)
        .set_quota("/q", QUOTA_DONT_SET, 2 * BLOCK_SIZE as i64 + 100, None)
        .unwrap();
    world.write("/q/f", &[10]);
    assert_eq!(world.namespace.view(&root).quota_usage("/q").unwrap().space_consumed, 20);
    world.write("/q/g", &[10]);
    world.write("/q/h", &[40]);
    world.create_as(&root, "/q/i", false).unwrap();
    let e = world.add_block("/q/i", None).unwrap_err();
    assert_eq!(exception(&e), JavaException::DSQuotaExceeded);
    assert_eq!(
        e.to_string(),
        "The DiskSpace quota of /q is exceeded: quota = 2097252 B = 2.00 MB but diskspace consumed = 2097272 B = 2.00 MB"
    );
    world.namespace.directories(&root).delete("/q/h", false).unwrap();
    world.add_block("/q/i", None).unwrap();
    world.check_replay();
}

#[test]
fn a_storage_type_has_a_quota_of_its_own() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/q");
    world.write("/q/f", &[10]);
    world.namespace.storage_policies(&root).set_storage_policy("/q", "HOT").unwrap();
    world
        .namespace
        .quotas(&root)
        .set_quota("/q", QUOTA_DONT_SET, 500, Some(StorageType::Disk))
        .unwrap();
    let usage = world.namespace.view(&root).quota_usage("/q").unwrap();
    let disk = usage.types.iter().find(|quota| quota.kind == StorageType::Disk).unwrap();
    assert_eq!((disk.quota, disk.consumed), (500, 20));
    world.create_as(&root, "/q/g", false).unwrap();
    assert_eq!(kind(world.add_block("/q/g", None)), JavaException::QuotaByStorageTypeExceeded);
    world.close("/q/g", None);
    world.check_replay();
    world.check_image();
}

#[test]
fn files_without_a_storage_policy_are_charged_to_no_type() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/q");
    world
        .namespace
        .quotas(&root)
        .set_quota("/q", QUOTA_DONT_SET, 500, Some(StorageType::Disk))
        .unwrap();
    world.write("/q/f", &[BLOCK_SIZE]);
    world.namespace.attributes(&root).set_replication("/q/f", 3).unwrap();
    let usage = world.namespace.view(&root).quota_usage("/q").unwrap();
    let disk = usage.types.iter().find(|quota| quota.kind == StorageType::Disk).unwrap();
    assert_eq!((disk.quota, disk.consumed), (500, 0));
    assert_eq!(usage.space_consumed, 3 * BLOCK_SIZE as i64);
    world.check_replay();
    world.check_image();
}

#[test]
fn the_use_of_types_is_shown_without_a_quota_too() {
    let mut world = World::new();
    let root = world.root();
    world.write("/d/f", &[10]);
    assert!(world.namespace.view(&root).content_summary("/d").unwrap().types.is_empty());
    world.namespace.storage_policies(&root).set_storage_policy("/d", "ONE_SSD").unwrap();
    let shown = [
        world.namespace.view(&root).content_summary("/d").unwrap().types,
        world.namespace.view(&root).quota_usage("/d").unwrap().types,
        world.namespace.view(&root).quota_usage("/").unwrap().types,
    ];
    for types in shown {
        let used: Vec<_> = types.iter().filter(|quota| quota.consumed > 0).collect();
        let used: Vec<_> = used.iter().map(|used| (used.kind, used.quota, used.consumed)).collect();
        assert_eq!(used, [(StorageType::Ssd, -1, 10), (StorageType::Disk, -1, 10)]);
        assert_eq!(types.len(), 5);
    }
}

#[test]
fn a_truncate_may_use_what_it_frees() {
    let mut world = World::new();
    let root = world.root();
    world.write("/q/f", &[10, BLOCK_SIZE]);
    let used = 2 * (10 + BLOCK_SIZE as i64);
    world.namespace.quotas(&root).set_quota("/q", QUOTA_DONT_SET, used, None).unwrap();
    assert!(!world.namespace.files(&root).truncate("/q/f", 5, "client").unwrap());
    let usage = world.namespace.view(&root).quota_usage("/q").unwrap();
    assert_eq!(usage.space_consumed, 2 * BLOCK_SIZE as i64);
    // The block that is cut counts as full meanwhile.
    world.write("/r/f", &[10, 10]);
    world.namespace.quotas(&root).set_quota("/r", QUOTA_DONT_SET, 40, None).unwrap();
    let refused = world.namespace.files(&root).truncate("/r/f", 5, "client");
    assert_eq!(kind(refused), JavaException::DSQuotaExceeded);
    world.check_replay();
}

#[test]
fn with_permissions_off_any_user_sets_quotas() {
    let params = NamespaceParams { permissions_enabled: false, ..NamespaceParams::default() };
    let mut world = World::with(params);
    world.mkdirs("/q");
    let bob = world.user("bob", &[]);
    world.namespace.quotas(&bob).set_quota("/q", 5, QUOTA_DONT_SET, None).unwrap();
    assert_eq!(world.namespace.view(&bob).quota_usage("/q").unwrap().quota, 5);
}

#[test]
fn a_refused_quota_is_named_as_hadoop_names_it() {
    let mut world = World::new();
    world.mkdirs("/q");
    let bob = world.user("bob", &[]);
    for (names, space, operation) in [
        (5, QUOTA_DONT_SET, "setQuota"),
        (QUOTA_DONT_SET, 5, "setSpaceQuota"),
        (5, 5, "setSpaceQuota"),
        (QUOTA_RESET, QUOTA_DONT_SET, "clearQuota"),
        (QUOTA_DONT_SET, QUOTA_RESET, "clearSpaceQuota"),
    ] {
        let e = world.namespace.quotas(&bob).set_quota("/q", names, space, None).unwrap_err();
        let expected = format!(
            "Access denied for user bob. Superuser privilege is required for operation {operation}"
        );
        assert_eq!(e.to_string(), expected);
    }
}

#[test]
fn owners_set_quotas_in_their_directories_where_that_is_allowed() {
    let params = NamespaceParams { owner_sets_quota: true, ..NamespaceParams::default() };
    let mut world = World::with(params);
    let root = world.root();
    world.mkdirs("/home/alice/data");
    let namespace = &mut world.namespace;
    for path in ["/home/alice", "/home/alice/data"] {
        namespace.attributes(&root).set_owner(path, Some("alice"), None).unwrap();
    }
    let (alice, bob) = (world.user("alice", &[]), world.user("bob", &[]));
    let namespace = &mut world.namespace;
    namespace.quotas(&alice).set_quota("/home/alice/data", 5, QUOTA_DONT_SET, None).unwrap();
    namespace.quotas(&root).set_quota("/home/alice", 9, QUOTA_DONT_SET, None).unwrap();
    for (who, path) in [(&alice, "/home/alice"), (&alice, "/"), (&bob, "/home/alice/data")] {
        let e = namespace.quotas(who).set_quota(path, 7, QUOTA_DONT_SET, None).unwrap_err();
        assert_eq!(
            e.to_string(),
            format!(
                "Access denied for user {}. Superuser or owner of parent directory privilege is required",
                who.user()
            )
        );
    }
    let missing = namespace.quotas(&alice).set_quota("/home/alice/x/y", 7, QUOTA_DONT_SET, None);
    assert_eq!(kind(missing), JavaException::FileNotFound);
    world.check_replay();
}

#[test]
fn a_cleared_quota_is_not_counted_any_more() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/q/a");
    world.namespace.quotas(&root).set_quota("/q", 2, 5, None).unwrap();
    world.namespace.quotas(&root).set_quota("/q", QUOTA_RESET, QUOTA_RESET, None).unwrap();
    world.mkdirs("/q/b");
    assert_eq!(world.namespace.view(&root).quota_usage("/q").unwrap().quota, -1);
    assert_eq!(world.namespace.view(&root).quota_usage("/").unwrap().quota, i64::MAX);
    assert_eq!(world.namespace.view(&root).quota_usage("/").unwrap().names, 4);
    world.check_replay();
}

#[test]
fn replication_is_charged() {
    let mut world = World::new();
    let root = world.root();
    world.write("/q/f", &[100]);
    world.namespace.quotas(&root).set_quota("/q", QUOTA_DONT_SET, 250, None).unwrap();
    assert_eq!(
        kind(world.namespace.attributes(&root).set_replication("/q/f", 3)),
        JavaException::DSQuotaExceeded
    );
    world.namespace.attributes(&root).set_replication("/q/f", 1).unwrap();
    assert_eq!(world.namespace.view(&root).quota_usage("/q").unwrap().space_consumed, 100);
    let bob = world.user("bob", &[]);
    assert_eq!(
        kind(world.namespace.quotas(&bob).set_quota("/q", 1, 1, None)),
        JavaException::AccessControl
    );
    world.write("/f", &[]);
    assert_eq!(
        kind(world.namespace.quotas(&root).set_quota("/f", 1, 1, None)),
        JavaException::PathIsNotDirectory
    );
    world.check_replay();
}

/// The block before was charged as a full one until its commit, which this call brings.
#[test]
fn what_a_short_block_leaves_is_there_for_the_next() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/q");
    let limit = 2 * (BLOCK_SIZE as i64 + 100);
    world.namespace.quotas(&root).set_quota("/q", QUOTA_DONT_SET, limit, None).unwrap();
    world.create_as(&root, "/q/f", false).unwrap();
    let first = world.add_block("/q/f", None).unwrap();
    let long = Block { len: 101, ..first.block() };
    assert_eq!(kind(world.add_block("/q/f", Some(long))), JavaException::DSQuotaExceeded);
    let short = Block { len: 100, ..first.block() };
    world.add_block("/q/f", Some(short)).unwrap();
    assert_eq!(world.namespace.view(&root).quota_usage("/q").unwrap().space_consumed, limit);
    world.received(&first, short);
    world.check_replay();
}

/// An edit cannot carry the path as it was asked for: it would be another one after a restart.
#[test]
fn a_quota_is_logged_with_the_path_that_it_is_on() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/dir");
    let path = format!("{}dir", "/".repeat(22_000));
    world.namespace.quotas(&root).set_quota(&path, 5, QUOTA_DONT_SET, None).unwrap();
    world
        .namespace
        .quotas(&root)
        .set_quota(&path, QUOTA_DONT_SET, 7, Some(StorageType::Ssd))
        .unwrap();
    assert_eq!(world.namespace.view(&root).quota_usage("/dir").unwrap().quota, 5);
    world.check_replay();
}
