//! Leases of files being written.

use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use zerohop_namespace::OpenFile;
use zerohop_proto::hdfs::{
    ListOpenFilesRequestProto, ListOpenFilesResponseProto, OpenFilesBatchResponseProto,
    RecoverLeaseRequestProto, RecoverLeaseResponseProto, RenewLeaseRequestProto,
    RenewLeaseResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::InodeId;

pub(super) const METHODS: &[Method] =
    &[("renewLease", renew), ("recoverLease", recover), ("listOpenFiles", open_files)];

fn renew(call: Call<'_>) -> Reply {
    call.serve(|service, q: RenewLeaseRequestProto| {
        service.leases().renew_lease(&q.client_name).map(|()| RenewLeaseResponseProto {})
    })
}

fn recover(call: Call<'_>) -> Reply {
    call.serve(|service, q: RecoverLeaseRequestProto| {
        service
            .leases()
            .recover_lease(&q.src, &q.client_name)
            .map(|result| RecoverLeaseResponseProto { result })
    })
}

fn open_files(call: Call<'_>) -> Reply {
    call.serve(|service, q: ListOpenFilesRequestProto| {
        let page = service.leases().open_files(InodeId(q.id as u64), q.path());
        page.map(|(files, has_more)| ListOpenFilesResponseProto {
            entries: files.into_iter().map(open_file).collect(),
            has_more,
            types: q.types,
        })
    })
}

fn open_file(file: OpenFile) -> OpenFilesBatchResponseProto {
    OpenFilesBatchResponseProto {
        id: file.id.0 as i64,
        path: file.path,
        client_name: file.client_name,
        client_machine: file.client_machine,
    }
}
