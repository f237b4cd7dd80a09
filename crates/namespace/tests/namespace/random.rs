//! Any sequence of operations: its edits give the same namespace on a standby, after each operation, and after a restart;
//! so does a saved image.

use crate::world::{BLOCK_SIZE, World, empty, user_acl};
use proptest::prelude::*;
use zerohop_namespace::{CreateFlags, RenameOptions, XAttr, XAttrNamespace};
use zerohop_wire::{Block, InodeId};

#[derive(Clone, Debug)]
enum Op {
    Mkdirs(usize),
    Write(usize, u8, u64),
    Open(usize, bool),
    Append(usize, bool),
    Truncate(usize, u64),
    Rename(usize, usize),
    Rename2(usize, usize, bool),
    Delete(usize, bool),
    Concat(usize, usize),
    Mode(usize, u16),
    Owner(usize, u8),
    Times(usize, i64),
    Replication(usize, u16),
    Quota(usize, i64, i64),
    Acl(usize, bool, u8),
    XAttr(usize, bool),
    Policy(usize, u8),
    UnsetPolicy(usize),
    Fsync(usize, i64),
    Recover(usize),
    Pass(u64),
}

const PATHS: [&str; 12] =
    ["/a", "/a/b", "/a/b/c", "/a/b/c/f", "/a/g", "/d", "/d/e", "/d/e/f", "/d/h", "/i", "/i/j", "/"];

fn path() -> impl Strategy<Value = usize> {
    0..PATHS.len()
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => path().prop_map(Op::Mkdirs),
        5 => (path(), 0u8..4, 0..BLOCK_SIZE).prop_map(|(at, blocks, len)| Op::Write(at, blocks, len)),
        2 => (path(), any::<bool>()).prop_map(|(at, overwrite)| Op::Open(at, overwrite)),
        2 => (path(), any::<bool>()).prop_map(|(at, new_block)| Op::Append(at, new_block)),
        2 => (path(), 0..2 * BLOCK_SIZE).prop_map(|(at, len)| Op::Truncate(at, len)),
        3 => (path(), path()).prop_map(|(from, to)| Op::Rename(from, to)),
        3 => (path(), path(), any::<bool>()).prop_map(|(from, to, over)| Op::Rename2(from, to, over)),
        2 => (path(), any::<bool>()).prop_map(|(at, recursive)| Op::Delete(at, recursive)),
        1 => (path(), path()).prop_map(|(to, from)| Op::Concat(to, from)),
        1 => (path(), 0u16..0o2000).prop_map(|(at, mode)| Op::Mode(at, mode)),
        1 => (path(), 0u8..3).prop_map(|(at, user)| Op::Owner(at, user)),
        1 => (path(), -1i64..100).prop_map(|(at, time)| Op::Times(at, time)),
        1 => (path(), 1u16..4).prop_map(|(at, replication)| Op::Replication(at, replication)),
        1 => (path(), -1i64..20, -1i64..8 * BLOCK_SIZE as i64).prop_map(|(at, n, s)| Op::Quota(at, n, s)),
        1 => (path(), any::<bool>(), 0u8..8).prop_map(|(at, set, perm)| Op::Acl(at, set, perm)),
        1 => (path(), any::<bool>()).prop_map(|(at, set)| Op::XAttr(at, set)),
        1 => (path(), 0u8..4).prop_map(|(at, policy)| Op::Policy(at, policy)),
        1 => path().prop_map(Op::UnsetPolicy),
        1 => (path(), 0..BLOCK_SIZE as i64).prop_map(|(at, len)| Op::Fsync(at, len)),
        1 => path().prop_map(Op::Recover),
        1 => (0u64..100_000).prop_map(Op::Pass),
    ]
}

/// Writes up to `blocks` blocks and closes; stops where it is refused.
fn write(world: &mut World, path: &str, blocks: u8, len: u64) {
    let root = world.root();
    if world.create_as(&root, path, true).is_err() {
        return;
    }
    let mut previous = None;
    for at in 0..blocks {
        let Ok(located) = world.add_block(path, previous) else { break };
        let len = if at + 1 == blocks { len } else { BLOCK_SIZE };
        let block = Block { len, ..located.block() };
        world.received(&located, block);
        previous = Some(block);
    }
    let _ =
        world.namespace.file_writes(&root).complete(path, InodeId::GRANDFATHER, "client", previous);
}

fn run(world: &mut World, op: &Op) {
    let root = world.root();
    let at = |index: &usize| PATHS[*index];
    match op {
        Op::Mkdirs(path) => {
            drop(world.namespace.directories(&root).mkdirs(at(path), 0o755, Some(0o777), true))
        }
        Op::Write(path, blocks, len) => write(world, at(path), *blocks, *len),
        Op::Open(path, overwrite) => {
            if world.create_as(&root, at(path), *overwrite).is_ok() {
                drop(world.add_block(at(path), None));
            }
        }
        Op::Append(path, new_block) => {
            let flags = CreateFlags { new_block: *new_block, ..CreateFlags::default() };
            if let Ok((last, _)) = world.namespace.files(&root).append(at(path), "client", flags) {
                let last = last.map(|located| located.block());
                if *new_block {
                    drop(world.add_block(at(path), last));
                }
            }
        }
        Op::Truncate(path, len) => {
            drop(world.namespace.files(&root).truncate(at(path), *len, "client"))
        }
        Op::Rename(from, to) => drop(world.namespace.directories(&root).rename(at(from), at(to))),
        Op::Rename2(from, to, overwrite) => {
            let options = RenameOptions { overwrite: *overwrite, to_trash: false };
            drop(world.namespace.directories(&root).rename2(at(from), at(to), options));
        }
        Op::Delete(path, recursive) => {
            drop(world.namespace.directories(&root).delete(at(path), *recursive))
        }
        Op::Concat(to, from) => {
            drop(world.namespace.files(&root).concat(at(to), &[at(from).to_owned()]))
        }
        Op::Mode(path, mode) => {
            drop(world.namespace.attributes(&root).set_permission(at(path), *mode))
        }
        Op::Owner(path, user) => {
            let name = ["root", "alice", "bob"][usize::from(*user)];
            drop(world.namespace.attributes(&root).set_owner(at(path), Some(name), Some("staff")));
        }
        Op::Times(path, time) => {
            drop(world.namespace.attributes(&root).set_times(at(path), *time, *time))
        }
        Op::Replication(path, count) => {
            drop(world.namespace.attributes(&root).set_replication(at(path), *count))
        }
        Op::Quota(path, names, space) => {
            drop(world.namespace.quotas(&root).set_quota(at(path), *names, *space, None));
        }
        Op::Acl(path, true, perm) => {
            drop(
                world
                    .namespace
                    .acls(&root)
                    .modify_acl_entries(at(path), &[user_acl(Some("bob"), *perm)]),
            );
        }
        Op::Acl(path, false, _) => drop(world.namespace.acls(&root).remove_acl(at(path))),
        Op::XAttr(path, set) => {
            let xattr = XAttr { namespace: XAttrNamespace::User, name: "n".into(), value: None };
            drop(match set {
                true => world.namespace.xattrs(&root).set_xattr(at(path), xattr, true, true),
                false => world.namespace.xattrs(&root).remove_xattr(at(path), &xattr),
            });
        }
        Op::Policy(path, policy) => {
            let name = ["ONE_SSD", "COLD", "ALL_SSD", "WARM"][usize::from(*policy)];
            drop(world.namespace.storage_policies(&root).set_storage_policy(at(path), name));
        }
        Op::UnsetPolicy(path) => {
            drop(world.namespace.storage_policies(&root).unset_storage_policy(at(path)))
        }
        Op::Fsync(path, len) => {
            drop(world.namespace.file_writes(&root).fsync(
                at(path),
                InodeId::GRANDFATHER,
                "client",
                *len,
            ));
        }
        Op::Recover(path) => {
            drop(world.namespace.lease_manager(&root).recover_lease(at(path), "other"))
        }
        Op::Pass(ms) => {
            world.pass_ms(*ms);
            let root = world.root();
            world.namespace.lease_manager(&root).check_leases(10);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replay_and_image_give_the_same_namespace(ops in prop::collection::vec(op(), 1..60)) {
        let (mut world, mut standby) = (World::new(), empty());
        for op in &ops {
            run(&mut world, op);
            assert_eq!(world.namespace.miscounted(), None, "after {op:?}");
            world.catch_up(&mut standby);
            assert_eq!(standby.miscounted(), None, "on a standby, after {op:?}");
            assert_eq!(world.namespace.difference(&standby), None, "after {op:?}");
        }
        world.check_replay();
        world.check_image();
    }
}
