//! Files being written: from create or append to complete.

use crate::audit::Line;
use crate::convert;
use crate::rpc::answer::Call;
use zerohop_namespace::{CreateFlags, CreateRequest};
use zerohop_proto::hdfs::{
    AppendRequestProto, CompleteRequestProto, CompleteResponseProto, ConcatRequestProto,
    ConcatResponseProto, CreateRequestProto, CreateResponseProto, FsyncRequestProto,
    FsyncResponseProto, TruncateRequestProto, TruncateResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::{Block, ExtendedBlock, InodeId};

pub(super) fn create(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    call.write_once(
        |q: &CreateRequestProto| Line::path("create", &q.src),
        |namespace, op, q| {
            let status = namespace.create(
                op,
                &CreateRequest {
                    path: &q.src,
                    masked: convert::mode(&q.masked),
                    unmasked: q.unmasked.as_ref().map(convert::mode),
                    client_name: &q.client_name,
                    flags: CreateFlags::from_bits(q.create_flag),
                    create_parent: q.create_parent,
                    replication: q.replication.min(u32::from(u16::MAX)) as u16,
                    block_size: q.block_size,
                    storage_policy: q.storage_policy.as_deref().filter(|policy| !policy.is_empty()),
                    ec_policy: q.ec_policy_name.as_deref().filter(|policy| !policy.is_empty()),
                },
            )?;
            Ok(CreateResponseProto { fs: Some(convert::file_status(status, &pool)) })
        },
    )
}

pub(super) fn append(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    call.write_once(
        |q: &AppendRequestProto| Line::path("append", &q.src),
        |namespace, op, q| {
            let flags = CreateFlags::from_bits(q.flag.unwrap_or(0));
            let answer = namespace.append(op, &q.src, &q.client_name, flags)?;
            Ok(convert::appended(answer, &pool))
        },
    )
}

pub(super) fn truncate(call: Call<'_>) -> Reply {
    call.write_once(
        |q: &TruncateRequestProto| Line::path("truncate", &q.src),
        |namespace, op, q| {
            Ok(TruncateResponseProto {
                result: namespace.truncate(op, &q.src, q.new_length, &q.client_name)?,
            })
        },
    )
}

pub(super) fn concat(call: Call<'_>) -> Reply {
    call.write_once(
        |q: &ConcatRequestProto| {
            Line::paths("concat", q.srcs.first().map_or("", |src| src), &q.trg)
        },
        |namespace, op, q| {
            namespace.concat(op, &q.trg, &q.srcs)?;
            Ok(ConcatResponseProto {})
        },
    )
}

pub(super) fn complete(call: Call<'_>) -> Reply {
    call.held(
        |q: &CompleteRequestProto| Line::path("completeFile", &q.src),
        |namespace, op, q| {
            let last: Option<Block> = q.last.as_ref().map(|last| ExtendedBlock::from(last).block);
            let file = InodeId(q.file_id.unwrap_or(0));
            Ok(CompleteResponseProto {
                result: namespace.complete(op, &q.src, file, &q.client_name, last)?,
            })
        },
        |namespace, q, result| match result {
            Ok(CompleteResponseProto { result: false }) => {
                namespace.lacking_block(&q.src, InodeId(q.file_id.unwrap_or(0)))
            }
            _ => None,
        },
    )
}

pub(super) fn fsync(call: Call<'_>) -> Reply {
    call.write(
        |q: &FsyncRequestProto| Line::path("fsync", &q.src),
        |namespace, op, q| {
            let file = InodeId(q.file_id.unwrap_or(0));
            namespace.fsync(op, &q.src, file, &q.client, q.last_block_length.unwrap_or(-1))?;
            Ok(FsyncResponseProto {})
        },
    )
}
