//! Status, listings, locations.

use crate::call_error::CallError;
use crate::convert;
use crate::message::{decode, encode};
use crate::rpc::answer::{Call, RpcResult};
use crate::rpc::service::Method;
use crate::service::{Answer, BatchedCursor, BatchedListing};
use bytes::Bytes;
use zerohop_namespace::DirectoryListing;
use zerohop_proto::hdfs::{
    BatchedDirectoryListingProto, BatchedListingKeyProto, GetBatchedListingRequestProto,
    GetBatchedListingResponseProto, GetBlockLocationsRequestProto, GetBlockLocationsResponseProto,
    GetFileInfoRequestProto, GetFileInfoResponseProto, GetFileLinkInfoRequestProto,
    GetFileLinkInfoResponseProto, GetListingRequestProto, GetListingResponseProto,
    GetLocatedFileInfoRequestProto, GetLocatedFileInfoResponseProto,
    GetPreferredBlockSizeRequestProto, GetPreferredBlockSizeResponseProto,
    IsFileClosedRequestProto, IsFileClosedResponseProto, RemoteExceptionProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::{JavaException, RemoteException};

pub(super) const METHODS: &[Method] = &[
    ("getFileInfo", file_info),
    ("getFileLinkInfo", file_link_info),
    ("getLocatedFileInfo", located_file_info),
    ("getListing", listing),
    ("getBatchedListing", batched_listing),
    ("getBlockLocations", block_locations),
    ("isFileClosed", is_file_closed),
    ("getPreferredBlockSize", preferred_block_size),
];

fn file_info(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetFileInfoRequestProto| {
        let pool = service.pool();
        service.reads().file_info(&q.src).map(move |status| GetFileInfoResponseProto {
            fs: status.map(|status| convert::file_status(status, &pool)),
        })
    })
}

fn file_link_info(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetFileLinkInfoRequestProto| {
        let pool = service.pool();
        service.reads().file_link_info(&q.src).map(move |status| GetFileLinkInfoResponseProto {
            fs: status.map(|status| convert::file_status(status, &pool)),
        })
    })
}

fn located_file_info(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetLocatedFileInfoRequestProto| {
        let pool = service.pool();
        service.reads().located_file_info(q.src()).map(move |status| {
            GetLocatedFileInfoResponseProto {
                fs: status.map(|status| convert::file_status(status, &pool)),
            }
        })
    })
}

fn listing(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetListingRequestProto| {
        let pool = service.pool();
        let page = service.reads().listing(&q.src, &q.start_after, q.need_location);
        page.map(move |page| GetListingResponseProto {
            dir_list: page.map(|page| convert::directory_listing(page, &pool)),
        })
    })
}

/// Tells the paths of one batched listing from those of another.
fn checksum(paths: &[String]) -> [u8; 4] {
    let mut sum = crc32fast::Hasher::new();
    for path in paths {
        sum.update(&path.len().to_be_bytes());
        sum.update(path.as_bytes());
    }
    sum.finalize().to_be_bytes()
}

fn decode_cursor(key: Bytes, paths: &[String]) -> RpcResult<BatchedCursor> {
    if key.is_empty() {
        return Ok(BatchedCursor::default());
    }
    let key: BatchedListingKeyProto = decode(key)?;
    if key.checksum != checksum(paths)[..] {
        let message =
            "startAfter belongs to a listing of other paths: continue with the paths it began with";
        return Err(JavaException::IllegalArgument.with(message));
    }
    Ok(BatchedCursor { index: key.path_index as usize, after: key.start_after })
}

fn encode_cursor(cursor: BatchedCursor, paths: &[String]) -> Bytes {
    encode(&BatchedListingKeyProto {
        checksum: checksum(paths).to_vec().into(),
        path_index: cursor.index as u32,
        start_after: cursor.after,
    })
}

fn batched_listing(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetBatchedListingRequestProto| {
        let pool = service.pool();
        let start = match decode_cursor(q.start_after, &q.paths) {
            Ok(start) => start,
            Err(error) => return Answer::Ready(Err(CallError::Request(error))),
        };
        let found = service.reads().batched_listing(&q.paths, start, q.need_location);
        found.map(move |BatchedListing { pages, next }| GetBatchedListingResponseProto {
            listings: pages.into_iter().map(|(at, page)| batched_page(at, page, &pool)).collect(),
            has_more: next.is_some(),
            start_after: next.map(|next| encode_cursor(next, &q.paths)).unwrap_or_default(),
        })
    })
}

fn batched_page(
    index: usize,
    page: zerohop_namespace::Result<DirectoryListing>,
    pool: &str,
) -> BatchedDirectoryListingProto {
    let (partial_listing, exception) = match page {
        Ok(page) => (convert::directory_listing(page, pool).partial_listing, None),
        Err(error) => {
            let RemoteException { class, message } = error.into();
            let class_name = class.into_owned();
            (Vec::new(), Some(RemoteExceptionProto { class_name, message: Some(message) }))
        }
    };
    BatchedDirectoryListingProto { partial_listing, parent_idx: index as u32, exception }
}

fn block_locations(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetBlockLocationsRequestProto| {
        let pool = service.pool();
        // The protocol declares them unsigned, but Java sends a `long`.
        let numbers = [("offset", q.offset), ("length", q.length)];
        if let Some((name, _)) = numbers.iter().find(|(_, number)| i64::try_from(*number).is_err())
        {
            let text = format!("Negative {name} is not supported. File: {}", q.src);
            let refused = JavaException::IllegalArgument.with(text);
            return Answer::Ready(Err(CallError::Request(refused)));
        }
        let blocks = service.reads().block_locations(&q.src, q.offset, q.length);
        blocks.map(move |blocks| GetBlockLocationsResponseProto {
            locations: Some(convert::located_blocks(blocks, &pool)),
        })
    })
}

fn is_file_closed(call: Call<'_>) -> Reply {
    call.serve(|service, q: IsFileClosedRequestProto| {
        service.reads().is_file_closed(&q.src).map(|result| IsFileClosedResponseProto { result })
    })
}

fn preferred_block_size(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetPreferredBlockSizeRequestProto| {
        service
            .reads()
            .preferred_block_size(&q.filename)
            .map(|bsize| GetPreferredBlockSizeResponseProto { bsize })
    })
}
