//! Rolling upgrades: prepared, finalized, and what they ask of files meanwhile.

use crate::world::{World, kind, through_image};
use zerohop_journal::op::RollingUpgradeFinalize;
use zerohop_namespace::{CreateFlags, SafeModeNotice};
use zerohop_wire::{Block, JavaException, TxId};

#[test]
fn a_rolling_upgrade_lasts_until_it_is_finalized() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[10]);
    world.edits();
    let started = world.namespace.rolling_upgrades(&root).start().unwrap();
    assert!(started.is_under_way() && started.started_ms() == Some(root.now.wall_ms));
    assert!(world.namespace.rolling_upgrades(&root).start().is_err());
    assert_eq!(world.edit_names(), ["OP_ROLLING_UPGRADE_START"]);
    world.check_replay();
    world.check_image();
    assert!(through_image(&world.namespace).rolling_upgrade().is_under_way());

    world
        .namespace
        .set_safe_mode(Some(SafeModeNotice { tip: "tip".to_owned(), is_passing: false }));
    assert_eq!(kind(world.namespace.rolling_upgrades(&root).finalize()), JavaException::SafeMode);
    world.namespace.set_safe_mode(None);
    let ended = world.namespace.rolling_upgrades(&root).finalize().unwrap();
    assert!(!ended.is_under_way() && ended.finalized_ms().is_some());
    assert_eq!(world.namespace.rolling_upgrades(&root).finalize().unwrap(), ended);
    assert_eq!(world.edit_names(), ["OP_ROLLING_UPGRADE_FINALIZE"], "logged once");
    world.check_replay();
    assert!(!through_image(&world.namespace).rolling_upgrade().is_under_way());
}

/// The standby saves an image after the start, its NameNode has no image from before it.
#[test]
fn an_upgrade_that_cannot_be_rolled_back_is_forgotten() {
    let mut world = World::new();
    let root = world.root();
    world.namespace.rolling_upgrades(&root).start().unwrap();
    let mut loaded = through_image(&world.namespace);
    loaded.forget_rolling_upgrade();
    loaded.apply(TxId(9), &RollingUpgradeFinalize { time_ms: 7 }.into()).unwrap();
    assert_eq!(loaded.rolling_upgrade().started_ms(), None);
}

/// A rollback found the replica with the stamp and the length of the append, which the image from before it does not have.
#[test]
fn an_append_during_a_rolling_upgrade_leaves_the_last_block_as_it_was() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[10]);
    world.namespace.rolling_upgrades(&root).start().unwrap();
    let (last, status) =
        world.namespace.files(&root).append("/f", "client", CreateFlags::default()).unwrap();
    assert!(last.is_none() && status.len == 10, "the client continues with a new block");
    let next = world.add_block("/f", None).unwrap();
    assert_eq!(next.offset, 10);
    let block = Block { len: 7, ..next.block() };
    world.received(&next, block);
    assert!(world.close("/f", Some(block)));
    assert_eq!(world.stat("/f").unwrap().len, 17);
    world.check_replay();
}

/// DataNodes cut replicas in place.
#[test]
fn a_truncate_within_a_block_waits_for_the_end_of_the_rolling_upgrade() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[10]);
    world.namespace.rolling_upgrades(&root).start().unwrap();
    world.edits();
    let refused = world.namespace.files(&root).truncate("/f", 4, "client");
    assert_eq!(kind(refused), JavaException::UnsupportedOperation);
    assert_eq!((world.stat("/f").unwrap().len, world.edits().len()), (10, 0));
    assert!(world.namespace.files(&root).truncate("/f", 0, "client").unwrap());
    world.write("/g", &[10]);
    world.namespace.rolling_upgrades(&root).finalize().unwrap();
    assert!(!world.namespace.files(&root).truncate("/g", 4, "client").unwrap());
}
