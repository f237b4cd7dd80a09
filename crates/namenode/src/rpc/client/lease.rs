//! Leases of files being written.

use crate::audit::Line;
use crate::rpc::answer::Call;
use zerohop_proto::hdfs::{
    ListOpenFilesRequestProto, ListOpenFilesResponseProto, OpenFilesBatchResponseProto,
    RecoverLeaseRequestProto, RecoverLeaseResponseProto, RenewLeaseRequestProto,
    RenewLeaseResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::InodeId;

pub(super) fn renew(call: Call<'_>) -> Reply {
    call.write(
        |_: &RenewLeaseRequestProto| Line::default(),
        |namespace, op, q| {
            namespace.renew_lease(op, &q.client_name)?;
            Ok(RenewLeaseResponseProto {})
        },
    )
}

pub(super) fn recover(call: Call<'_>) -> Reply {
    call.write(
        |q: &RecoverLeaseRequestProto| Line::path("recoverLease", &q.src),
        |namespace, op, q| {
            Ok(RecoverLeaseResponseProto {
                result: namespace.recover_lease(op, &q.src, &q.client_name)?,
            })
        },
    )
}

pub(super) fn open_files(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    call.read(
        |q: &ListOpenFilesRequestProto| Line::path("listOpenFiles", q.path()),
        |namespace, op, q| {
            core.check_superuser(op)?;
            let path = q.path.as_deref().filter(|path| !path.is_empty()).unwrap_or("/");
            let (files, has_more) = namespace.list_open_files(op, InodeId(q.id as u64), path)?;
            let entries = files.into_iter().map(|file| OpenFilesBatchResponseProto {
                id: file.id.0 as i64,
                path: file.path,
                client_name: file.client_name,
                client_machine: file.client_machine,
            });
            Ok(ListOpenFilesResponseProto {
                entries: entries.collect(),
                has_more,
                types: q.types.clone(),
            })
        },
    )
}
