//! Files being written: from create or append to complete.

use crate::convert;
use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use crate::service::CompleteCall;
use zerohop_namespace::{CreateFlags, CreateRequest};
use zerohop_proto::hdfs::{
    AppendRequestProto, CompleteRequestProto, CompleteResponseProto, ConcatRequestProto,
    ConcatResponseProto, CreateRequestProto, CreateResponseProto, FsyncRequestProto,
    FsyncResponseProto, TruncateRequestProto, TruncateResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::{ExtendedBlock, InodeId};

pub(super) const METHODS: &[Method] = &[
    ("create", create),
    ("append", append),
    ("truncate", truncate),
    ("concat", concat),
    ("complete", complete),
    ("fsync", fsync),
];

fn create(call: Call<'_>) -> Reply {
    call.serve(|service, q: CreateRequestProto| {
        let pool = service.pool();
        let request = CreateRequest {
            path: &q.src,
            masked: convert::mode(&q.masked),
            unmasked: q.unmasked.as_ref().map(convert::mode),
            client_name: &q.client_name,
            flags: CreateFlags::from_bits(q.create_flag),
            create_parent: q.create_parent,
            replication: q.replication.min(u32::from(u16::MAX)) as u16,
            // Java can send a negative size: refuse it like one below the minimum.
            block_size: i64::try_from(q.block_size).map_or(0, |_| q.block_size),
            storage_policy: q.storage_policy.as_deref().filter(|policy| !policy.is_empty()),
            ec_policy: q.ec_policy_name.as_deref().filter(|policy| !policy.is_empty()),
        };
        service.files().create(&request).map(move |status| CreateResponseProto {
            fs: Some(convert::file_status(status, &pool)),
        })
    })
}

fn append(call: Call<'_>) -> Reply {
    call.serve(|service, q: AppendRequestProto| {
        let pool = service.pool();
        let flags = CreateFlags::from_bits(q.flag.unwrap_or(0));
        service
            .files()
            .append(&q.src, &q.client_name, flags)
            .map(move |appended| convert::appended(appended, &pool))
    })
}

fn truncate(call: Call<'_>) -> Reply {
    call.serve(|service, q: TruncateRequestProto| {
        service
            .files()
            .truncate(&q.src, q.new_length, &q.client_name)
            .map(|result| TruncateResponseProto { result })
    })
}

fn concat(call: Call<'_>) -> Reply {
    call.serve(|service, q: ConcatRequestProto| {
        service.files().concat(&q.trg, &q.srcs).map(|()| ConcatResponseProto {})
    })
}

fn complete(call: Call<'_>) -> Reply {
    call.serve(|service, q: CompleteRequestProto| {
        let request = CompleteCall {
            path: q.src,
            file: InodeId(q.file_id.unwrap_or(0)),
            client_name: q.client_name,
            last: q.last.as_ref().map(|last| ExtendedBlock::from(last).block),
        };
        service.files().complete(request).map(|result| CompleteResponseProto { result })
    })
}

fn fsync(call: Call<'_>) -> Reply {
    call.serve(|service, q: FsyncRequestProto| {
        let file = InodeId(q.file_id.unwrap_or(0));
        service
            .files()
            .fsync(&q.src, file, &q.client, q.last_block_length.unwrap_or(-1))
            .map(|()| FsyncResponseProto {})
    })
}
