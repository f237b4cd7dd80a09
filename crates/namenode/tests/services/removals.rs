//! Deletes of large trees by ordinary users.

use crate::harness::*;
use zerohop_proto::hdfs::*;
use zerohop_wire::JavaException;

/// More than are looked at under one hold of the lock.
const DIRECTORIES: usize = 1200;

fn delete() -> DeleteRequestProto {
    DeleteRequestProto { src: "/home/big".into(), recursive: true }
}

fn to_trash() -> Rename2RequestProto {
    let (src, dst) = ("/home/big".into(), "/home/trash".into());
    Rename2RequestProto { src, dst, overwrite_dest: false, move_to_trash: Some(true) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_larger_than_one_hold_of_the_lock_is_deleted_or_refused_as_a_whole() {
    let harness = Harness::start().await;
    let (root, alice) = (harness.superuser(), harness.client("alice"));
    let open = permission(0o777);
    let made = |path: String, masked| MkdirsRequestProto {
        masked,
        unmasked: Some(masked),
        ..mkdirs(&path)
    };
    for path in ["/home", "/home/big"] {
        let _: MkdirsResponseProto = call(&root, "mkdirs", made(path.into(), open)).await;
    }
    // Below the first in name order, which is the last that is looked at.
    let closed = |name: &str| made(format!("/home/big/0/{name}"), permission(0o755));
    for n in 0..DIRECTORIES {
        for path in [format!("/home/big/{n}"), format!("/home/big/{n}/below")] {
            let _: MkdirsResponseProto = call(&alice, "mkdirs", made(path, open)).await;
        }
    }
    for name in ["closed", "closed/below"] {
        let _: MkdirsResponseProto = call(&root, "mkdirs", closed(name)).await;
    }
    let expected = "access=ALL, inode=\"/home/big/0/closed\":";
    let deleted = alice.call::<_, DeleteResponseProto>("delete", &delete()).await;
    let moved = alice.call::<_, Rename2ResponseProto>("rename2", &to_trash()).await;
    for refused in [deleted.unwrap_err(), moved.unwrap_err()] {
        assert!(refused.to_string().contains(expected), "{refused}");
        assert_eq!(kind(refused), Some(JavaException::AccessControl));
    }
    assert!(status(&root, &format!("/home/big/{}/below", DIRECTORIES - 1)).await.is_some());
    let q = SetPermissionRequestProto { src: "/home/big/0/closed".into(), permission: open };
    let _: SetPermissionResponseProto = call(&root, "setPermission", q).await;
    let _: Rename2ResponseProto = call(&alice, "rename2", to_trash()).await;
    let back = Rename2RequestProto {
        src: "/home/trash".into(),
        dst: "/home/big".into(),
        overwrite_dest: false,
        move_to_trash: None,
    };
    let _: Rename2ResponseProto = call(&alice, "rename2", back).await;
    let done: DeleteResponseProto = call(&alice, "delete", delete()).await;
    assert!(done.result && status(&root, "/home/big").await.is_none());
}
