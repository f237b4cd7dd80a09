//! Times, replication, storage policies.

use crate::world::{World, kind};
use zerohop_namespace::NamespaceParams;
use zerohop_namespace::blocks::{ReplicaEvent, StorageType};
use zerohop_wire::JavaException;

#[test]
fn times_are_set_one_by_one() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[]);
    world.namespace.attributes(&root).set_times("/f", 5, -1).unwrap();
    world.namespace.attributes(&root).set_times("/f", -1, 9).unwrap();
    let status = world.stat("/f").unwrap();
    assert_eq!((status.modified_ms, status.accessed_ms), (5, 9));
    let e = world.namespace.attributes(&root).set_times("/x", 1, 1).unwrap_err();
    assert_eq!(e.to_string(), "File/Directory /x does not exist.");
    world.check_replay();
    world.check_image();
}

/// They were logged, and not kept.
#[test]
fn access_times_of_directories_are_kept() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/d");
    assert_eq!(world.stat("/d").unwrap().accessed_ms, 0);
    world.namespace.attributes(&root).set_times("/d", -1, 9).unwrap();
    assert_eq!(world.stat("/d").unwrap().accessed_ms, 9);
    world.check_replay();
    world.check_image();
    world.restart_from_image();
    assert_eq!(world.stat("/d").unwrap().accessed_ms, 9);
}

#[test]
fn a_read_moves_the_access_time_once_an_hour() {
    let mut world = World::new();
    world.write("/f", &[1]);
    let root = world.root();
    assert_eq!(world.namespace.view(&root).block_locations("/f", 0, 1).unwrap().1, None);
    world.pass_ms(3_600_001);
    let root = world.root();
    let due = world.namespace.view(&root).block_locations("/f", 0, 1).unwrap().1.unwrap();
    world.edits();
    world.namespace.attributes(&root).touch(due).unwrap();
    world.namespace.attributes(&root).touch(due).unwrap();
    assert_eq!(world.edit_names(), ["OP_TIMES"]);
    assert_eq!(world.stat("/f").unwrap().accessed_ms, world.now.wall_ms);
    world.check_replay();
}

#[test]
fn replication_is_for_files() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[1]);
    world.mkdirs("/d");
    assert!(world.namespace.attributes(&root).set_replication("/f", 1).unwrap());
    assert!(!world.namespace.attributes(&root).set_replication("/d", 1).unwrap());
    assert_eq!(kind(world.namespace.attributes(&root).set_replication("/f", 0)), JavaException::Io);
    assert_eq!(world.stat("/f").unwrap().replication, 1);
    world.check_replay();
}

/// dfs.storage.policy.permissions.superuser-only was accepted and had no effect.
#[test]
fn storage_policies_were_everybodys_where_only_the_superuser_may_set_them() {
    let params =
        NamespaceParams { storage_policy_superuser_only: true, ..NamespaceParams::default() };
    let mut world = World::with(params);
    let (root, eve) = (world.root(), world.user("eve", &["eve"]));
    world.write("/d/f", &[1]);
    world.namespace.attributes(&root).set_owner("/d", Some("eve"), None).unwrap();
    let set = world.namespace.storage_policies(&eve).set_storage_policy("/d", "cold");
    assert_eq!(kind(set), JavaException::AccessControl);
    let unset = world.namespace.storage_policies(&eve).unset_storage_policy("/d");
    assert_eq!(kind(unset), JavaException::AccessControl);
    world.namespace.storage_policies(&root).set_storage_policy("/d", "cold").unwrap();
}

#[test]
fn policies_are_inherited_until_unset() {
    let mut world = World::new();
    let root = world.root();
    world.write("/d/f", &[1]);
    world.namespace.storage_policies(&root).set_storage_policy("/d", "cold").unwrap();
    assert_eq!(world.stat("/d/f").unwrap().storage_policy, 2);
    world.namespace.storage_policies(&root).set_storage_policy("/d/f", "ALL_SSD").unwrap();
    assert_eq!(world.namespace.view(&root).storage_policy("/d/f").unwrap(), 12);
    world.check_image();
    world.namespace.storage_policies(&root).unset_storage_policy("/d/f").unwrap();
    world.namespace.storage_policies(&root).unset_storage_policy("/d").unwrap();
    assert_eq!(world.stat("/d/f").unwrap().storage_policy, 0);
    assert_eq!(world.namespace.view(&root).storage_policy("/d/f").unwrap(), 7);
    let wrong = world.namespace.storage_policies(&root).set_storage_policy("/d", "nope");
    assert_eq!(kind(wrong), JavaException::HadoopIllegalArgument);
    let lazy = world.namespace.storage_policies(&root).set_storage_policy("/d/f", "LAZY_PERSIST");
    assert_eq!(kind(lazy), JavaException::HadoopIllegalArgument);
    world.check_replay();
}

/// Copies obey the policy of the file's directory, as it is when they are made.
#[test]
fn copies_lie_where_the_directories_policy_wants_them() {
    let mut world = World::new();
    let root = world.root();
    world.write("/d/f", &[10]);
    let located = world.namespace.view(&root).block_locations("/d/f", 0, 10).unwrap().0;
    let replicas = &located.blocks[0].locations.replicas;
    let lost = [ReplicaEvent::Deleted(located.blocks[0].block())];
    let blocks = world.namespace.blocks_mut();
    let at = (&replicas[0].storage_id, StorageType::Disk);
    blocks.block_reports().incremental_report(&replicas[0].node.id.uuid, at, lost).unwrap();
    world.namespace.storage_policies(&root).set_storage_policy("/d", "COLD").unwrap();
    world.pass_ms(10_000);
    world.namespace.tick(world.now);
    assert_eq!(world.namespace.blocks().stats().pending_replication, 0, "there is no archive");
    world.namespace.storage_policies(&root).set_storage_policy("/d", "HOT").unwrap();
    world.pass_ms(10_000);
    world.namespace.tick(world.now);
    assert_eq!(world.namespace.blocks().stats().pending_replication, 1);
}
