//! Who may do what.

use crate::world::{World, exception, kind, user_acl};
use zerohop_namespace::{NamespaceParams, XAttr, XAttrNamespace};
use zerohop_wire::JavaException;

fn world_with_home() -> World {
    world_with(NamespaceParams::default())
}

fn world_with(params: NamespaceParams) -> World {
    let mut world = World::with(params);
    let root = world.root();
    world.mkdirs("/home/alice");
    world
        .namespace
        .attributes(&root)
        .set_owner("/home/alice", Some("alice"), Some("staff"))
        .unwrap();
    world
}

#[test]
fn the_owner_writes_others_are_told_as_hadoop_tells_them() {
    let mut world = world_with_home();
    let (alice, bob) = (world.user("alice", &["staff"]), world.user("bob", &["staff"]));
    world.create_as(&alice, "/home/alice/f", false).unwrap();
    let e = world.create_as(&bob, "/home/alice/g", false).unwrap_err();
    assert_eq!(
        e.to_string(),
        "Permission denied: user=bob, access=WRITE, inode=\"/home/alice\":alice:staff:drwxr-xr-x"
    );
    assert_eq!(world.stat("/home/alice/f").unwrap().owner.as_ref(), "alice");
    assert_eq!(world.stat("/home/alice/f").unwrap().group.as_ref(), "staff");
}

#[test]
fn every_directory_on_the_way_must_let_one_pass() {
    let mut world = world_with_home();
    let root = world.root();
    let bob = world.user("bob", &[]);
    world.namespace.attributes(&root).set_permission("/home", 0o700).unwrap();
    let e = world.namespace.view(&bob).file_info("/home/alice/f").unwrap_err();
    assert_eq!(
        e.to_string(),
        "Permission denied: user=bob, access=EXECUTE, inode=\"/home\":root:supergroup:drwx------"
    );
}

#[test]
fn a_file_on_the_way_is_a_wall() {
    let mut world = World::new();
    world.write("/f", &[]);
    // Apache's contract lets a superuser find nothing there.
    assert!(world.namespace.view(&world.root()).file_info("/f/x").unwrap().is_none());
    let e = world.namespace.view(&world.user("bob", &[])).file_info("/f/x").unwrap_err();
    assert_eq!(
        (exception(&e), &*e.to_string()),
        (JavaException::AccessControl, "/f (is not a directory)")
    );
}

#[test]
fn a_sticky_directory_keeps_files_to_their_owners() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/tmp");
    world.namespace.attributes(&root).set_permission("/tmp", 0o1777).unwrap();
    let (alice, bob) = (world.user("alice", &[]), world.user("bob", &[]));
    world.create_as(&alice, "/tmp/f", false).unwrap();
    let e = world.namespace.directories(&bob).delete("/tmp/f", false).unwrap_err();
    assert_eq!(
        e.to_string(),
        "Permission denied by sticky bit: user=bob, path=\"/tmp/f\":alice:supergroup:-rw-r--r--, \
         parent=\"/tmp\":root:supergroup:drwxrwxrwt"
    );
    assert!(world.namespace.directories(&alice).delete("/tmp/f", false).unwrap());
}

#[test]
fn deleting_a_tree_needs_all_of_it() {
    let mut world = world_with_home();
    let root = world.root();
    let alice = world.user("alice", &["staff"]);
    world.mkdirs("/home/alice/mine/not");
    world.namespace.attributes(&root).set_owner("/home/alice/mine", Some("alice"), None).unwrap();
    world.write("/home/alice/mine/not/f", &[]);
    assert_eq!(
        kind(world.namespace.directories(&alice).delete("/home/alice/mine", true)),
        JavaException::AccessControl
    );
    world.namespace.directories(&root).delete("/home/alice/mine/not/f", false).unwrap();
    assert!(world.namespace.directories(&alice).delete("/home/alice/mine", true).unwrap());
}

#[test]
fn owners_change_modes_and_groups_only_the_superuser_owners() {
    let mut world = world_with_home();
    let (alice, bob) = (world.user("alice", &["staff", "dev"]), world.user("bob", &[]));
    world.namespace.attributes(&alice).set_permission("/home/alice", 0o750).unwrap();
    world.namespace.attributes(&alice).set_owner("/home/alice", None, Some("dev")).unwrap();
    let e =
        world.namespace.attributes(&alice).set_owner("/home/alice", Some("bob"), None).unwrap_err();
    assert_eq!(
        e.to_string(),
        "User alice is not a super user (non-super user cannot change owner)."
    );
    let e = world
        .namespace
        .attributes(&alice)
        .set_owner("/home/alice", None, Some("wheel"))
        .unwrap_err();
    assert_eq!(e.to_string(), "User alice does not belong to wheel");
    let e = world.namespace.attributes(&bob).set_permission("/home/alice", 0o777).unwrap_err();
    assert_eq!(e.to_string(), "Permission denied. user=bob is not the owner of inode=/home/alice");
    world.check_replay();
}

#[test]
fn check_access_asks_for_one_action() {
    let mut world = world_with_home();
    let bob = world.user("bob", &[]);
    world.namespace.view(&bob).check_access("/home/alice", 5).unwrap();
    assert_eq!(
        kind(world.namespace.view(&bob).check_access("/home/alice", 2)),
        JavaException::AccessControl
    );
    assert_eq!(kind(world.namespace.view(&bob).check_access("/x", 4)), JavaException::FileNotFound);
    world.write("/f", &[]);
}

#[test]
fn a_sticky_directory_may_be_summed_up() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/tmp");
    world.namespace.attributes(&root).set_permission("/tmp", 0o1777).unwrap();
    world.write("/tmp/f", &[5]);
    let bob = world.user("bob", &[]);
    assert_eq!(world.namespace.view(&bob).content_summary("/tmp").unwrap().length, 5);
}

#[test]
fn a_sticky_directory_is_summed_up_for_its_owner_alone_where_sub_access_is_asked_for() {
    let params = NamespaceParams { content_summary_sub_access: true, ..NamespaceParams::default() };
    let mut world = world_with(params);
    let root = world.root();
    world.write("/home/alice/f", &[5]);
    world.namespace.attributes(&root).set_permission("/home/alice", 0o1777).unwrap();
    let (alice, bob) = (world.user("alice", &[]), world.user("bob", &[]));
    assert_eq!(world.namespace.view(&alice).content_summary("/home").unwrap().length, 5);
    let e = world.namespace.view(&bob).content_summary("/home").unwrap_err();
    assert!(e.to_string().starts_with("Permission denied by sticky bit: user=bob"), "{e}");
}

/// Otherwise any user could become the owner of a file before permissions are turned on again.
#[test]
fn with_permissions_off_only_owners_say_who_may_what() {
    let params = NamespaceParams { permissions_enabled: false, ..NamespaceParams::default() };
    let mut world = world_with(params);
    let root = world.root();
    let (alice, bob) = (world.user("alice", &["staff", "dev"]), world.user("bob", &["staff"]));
    let namespace = &mut world.namespace;
    namespace.attributes(&root).set_permission("/home/alice", 0o1700).unwrap();
    let entries = [user_acl(Some("bob"), 7)];
    for refused in [
        namespace.attributes(&bob).set_permission("/home/alice", 0o777),
        namespace.attributes(&bob).set_owner("/home/alice", Some("bob"), None),
        namespace.attributes(&bob).set_owner("/home/alice", None, Some("staff")),
        namespace.acls(&bob).modify_acl_entries("/home/alice", &entries),
        namespace.acls(&bob).remove_acl("/home/alice"),
    ] {
        let message = refused.unwrap_err().to_string();
        assert_eq!(message, "Permission denied. user=bob is not the owner of inode=/home/alice");
    }
    namespace.attributes(&alice).set_permission("/home/alice", 0o1750).unwrap();
    namespace.attributes(&alice).set_owner("/home/alice", None, Some("dev")).unwrap();
    // All else is open to everybody.
    let xattr =
        XAttr { namespace: XAttrNamespace::User, name: "color".into(), value: Some("red".into()) };
    namespace.xattrs(&bob).set_xattr("/home/alice", xattr, true, false).unwrap();
    namespace.attributes(&root).set_permission("/home", 0o700).unwrap();
    let e = namespace.attributes(&alice).set_permission("/home/alice", 0o700).unwrap_err();
    assert_eq!(
        e.to_string(),
        "Permission denied: user=alice, access=EXECUTE, inode=\"/home\":root:supergroup:drwx------"
    );
    world.create_as(&bob, "/home/alice/f", false).unwrap();
    world.check_replay();
}
