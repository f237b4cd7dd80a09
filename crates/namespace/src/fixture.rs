//! What tests of several modules begin with.

use crate::blocks::Now;
use crate::{CreateFlags, CreateRequest, Namespace, OpContext};
use zerohop_wire::CallerIdentity;

/// The superuser, at an instant that does not change.
pub(crate) fn superuser() -> OpContext {
    let now = Now { wall_ms: 1, mono_ms: 1 };
    OpContext { identity: CallerIdentity::simple("root", None), ..OpContext::internal(now) }
}

/// Creates an empty file and closes it.
pub(crate) fn create(namespace: &mut Namespace, path: &str) {
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
    let file = namespace.files(&superuser()).create(&request).unwrap();
    assert!(
        namespace.file_writes(&superuser()).complete(path, file.file_id, "client", None).unwrap()
    );
}
