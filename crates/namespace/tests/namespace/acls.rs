//! ACLs on paths, and extended attributes.

use crate::world::{World, kind, user_acl};
use bytes::Bytes;
use zerohop_namespace::{AclEntry, AclKind, AclScope, XAttr, XAttrNamespace};
use zerohop_wire::JavaException;

fn xattr(namespace: XAttrNamespace, name: &str, value: &str) -> XAttr {
    XAttr { namespace, name: name.into(), value: Some(Bytes::copy_from_slice(value.as_bytes())) }
}

#[test]
fn a_named_user_gets_in_until_the_mask_shuts() {
    let mut world = World::new();
    let root = world.root();
    let bob = world.user("bob", &[]);
    world.mkdirs("/d");
    world.namespace.attributes(&root).set_permission("/d", 0o700).unwrap();
    world.namespace.acls(&root).modify_acl_entries("/d", &[user_acl(Some("bob"), 7)]).unwrap();
    world.create_as(&bob, "/d/f", false).unwrap();
    assert!(world.stat("/d").unwrap().has_acl);
    assert_eq!(world.namespace.view(&root).acl_status("/d").unwrap().entries.len(), 2);
    world.namespace.attributes(&root).set_permission("/d", 0o700).unwrap();
    assert_eq!(kind(world.create_as(&bob, "/d/g", false)), JavaException::AccessControl);
    world.namespace.acls(&root).remove_acl("/d").unwrap();
    assert!(!world.stat("/d").unwrap().has_acl);
    world.close("/d/f", None);
    world.check_replay();
}

#[test]
fn default_entries_are_handed_down() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/d");
    let default = AclEntry { scope: AclScope::Default, ..user_acl(Some("bob"), 7) };
    world.namespace.acls(&root).modify_acl_entries("/d", &[default]).unwrap();
    world.namespace.directories(&root).mkdirs("/d/sub", 0o755, Some(0o777), true).unwrap();
    world.write("/d/sub/f", &[]);
    let sub = world.namespace.view(&root).acl_status("/d/sub").unwrap();
    let has = |scope| sub.entries.iter().any(|entry| entry.scope == scope && entry.name.is_some());
    assert!(has(AclScope::Access) && has(AclScope::Default));
    assert_eq!(world.stat("/d/sub/f").unwrap().permission, 0o664);
    world.check_replay();
    world.check_image();
    world.namespace.acls(&root).remove_default_acl("/d").unwrap();
    assert!(!world.stat("/d").unwrap().has_acl);
    world.check_replay();
}

#[test]
fn an_invalid_acl_names_the_path() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[]);
    let default = AclEntry { scope: AclScope::Default, ..user_acl(Some("bob"), 7) };
    let e = world.namespace.acls(&root).modify_acl_entries("/f", &[default]).unwrap_err();
    assert_eq!(
        e.to_string(),
        "Invalid ACL: only directories may have a default ACL. Path: /f Path: /f"
    );
    let mask = AclEntry { kind: AclKind::Mask, ..user_acl(Some("x"), 7) };
    assert_eq!(
        kind(world.namespace.acls(&root).modify_acl_entries("/f", &[mask])),
        JavaException::AclException
    );
}

#[test]
fn attributes_are_set_listed_and_removed() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[]);
    world.edits();
    let (a, t) = (xattr(XAttrNamespace::User, "a", "1"), xattr(XAttrNamespace::Trusted, "t", "2"));
    world.namespace.xattrs(&root).set_xattr("/f", a.clone(), true, false).unwrap();
    world.namespace.xattrs(&root).set_xattr("/f", t.clone(), true, true).unwrap();
    assert_eq!(world.edit_names(), ["OP_SET_XATTR"; 2]);
    assert_eq!(
        kind(world.namespace.xattrs(&root).set_xattr("/f", a.clone(), true, false)),
        JavaException::Io
    );
    assert_eq!(
        world.namespace.view(&root).get_xattrs("/f", std::slice::from_ref(&a)).unwrap(),
        std::slice::from_ref(&a)
    );
    assert_eq!(world.namespace.view(&root).list_xattrs("/f").unwrap().len(), 2);
    let bob = world.user("bob", &[]);
    assert_eq!(world.namespace.view(&bob).list_xattrs("/f").unwrap(), std::slice::from_ref(&a));
    assert_eq!(
        kind(world.namespace.view(&bob).get_xattrs("/f", &[t])),
        JavaException::AccessControl
    );
    let none = xattr(XAttrNamespace::User, "none", "");
    assert_eq!(
        kind(world.namespace.view(&root).get_xattrs("/f", std::slice::from_ref(&none))),
        JavaException::XAttrNotFound
    );
    world.check_image();
    world.namespace.xattrs(&root).remove_xattr("/f", &a).unwrap();
    assert_eq!(kind(world.namespace.xattrs(&root).remove_xattr("/f", &none)), JavaException::Io);
    world.check_replay();
}

#[test]
fn attributes_have_limits() {
    let mut world = World::new();
    let root = world.root();
    world.write("/f", &[]);
    let large = xattr(XAttrNamespace::User, "a", &"x".repeat(20_000));
    assert_eq!(
        kind(world.namespace.xattrs(&root).set_xattr("/f", large, true, false)),
        JavaException::HadoopIllegalArgument
    );
    for n in 0..32 {
        let xattr = xattr(XAttrNamespace::User, &format!("n{n}"), "");
        world.namespace.xattrs(&root).set_xattr("/f", xattr, true, false).unwrap();
    }
    let more = xattr(XAttrNamespace::User, "more", "");
    assert_eq!(
        kind(world.namespace.xattrs(&root).set_xattr("/f", more, true, false)),
        JavaException::Io
    );
    let system = xattr(XAttrNamespace::System, "s", "");
    assert_eq!(
        kind(world.namespace.xattrs(&root).set_xattr("/f", system, true, false)),
        JavaException::AccessControl
    );
}

/// The edit of a child that takes the entry over could not carry the name.
#[test]
fn a_name_that_no_edit_can_carry_is_refused() {
    let mut world = World::new();
    let root = world.root();
    world.mkdirs("/d");
    let name = "n".repeat(22_000);
    let entry = AclEntry { scope: AclScope::Default, ..user_acl(Some(&name), 7) };
    assert_eq!(
        kind(world.namespace.acls(&root).modify_acl_entries("/d", &[entry])),
        JavaException::Io
    );
    assert!(!world.stat("/d").unwrap().has_acl);
    world.mkdirs("/d/below");
    world.check_replay();
}
