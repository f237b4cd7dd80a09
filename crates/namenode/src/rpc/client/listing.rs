//! Status, listings, block locations.

use crate::audit::Line;
use crate::convert;
use crate::message::{decode, encode};
use crate::rpc::answer::{Call, Outcome};
use zerohop_namespace::{Namespace, OpContext};
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

pub(super) fn file_info(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    call.read(
        |q: &GetFileInfoRequestProto| Line::path("getfileinfo", &q.src),
        |namespace, op, q| {
            let status = namespace.file_info(op, &q.src)?;
            Ok(GetFileInfoResponseProto {
                fs: status.map(|status| convert::file_status(status, &pool)),
            })
        },
    )
}

pub(super) fn file_link_info(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    call.read(
        |q: &GetFileLinkInfoRequestProto| Line::path("getfileinfo", &q.src),
        |namespace, op, q| {
            let status = namespace.file_link_info(op, &q.src)?;
            Ok(GetFileLinkInfoResponseProto {
                fs: status.map(|status| convert::file_status(status, &pool)),
            })
        },
    )
}

pub(super) fn located_file_info(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    call.read(
        |q: &GetLocatedFileInfoRequestProto| Line::path("open", q.src()),
        |namespace, op, q| {
            let status = namespace.located_file_info(op, q.src())?;
            Ok(GetLocatedFileInfoResponseProto {
                fs: status.map(|status| convert::file_status(status, &pool)),
            })
        },
    )
}

pub(super) fn listing(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    call.read(
        |q: &GetListingRequestProto| Line::path("listStatus", &q.src),
        |namespace, op, q| {
            let listing = namespace.listing(op, &q.src, &q.start_after, q.need_location)?;
            Ok(GetListingResponseProto {
                dir_list: listing.map(|listing| convert::directory_listing(listing, &pool)),
            })
        },
    )
}

/// Where a batched listing goes on: the folder's place in the request and the last name given.
struct Cursor {
    index: usize,
    after: bytes::Bytes,
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

impl Cursor {
    fn decode(key: &bytes::Bytes, paths: &[String]) -> Outcome<Self> {
        if key.is_empty() {
            return Ok(Self { index: 0, after: bytes::Bytes::new() });
        }
        let key: BatchedListingKeyProto = decode(key.clone())?;
        if key.checksum != checksum(paths)[..] {
            let message = "startAfter belongs to a listing of other paths: go on with the paths it began with";
            return Err(JavaException::IllegalArgument.with(message));
        }
        Ok(Self { index: key.path_index as usize, after: key.start_after })
    }

    fn encode(self, paths: &[String]) -> bytes::Bytes {
        encode(&BatchedListingKeyProto {
            checksum: checksum(paths).to_vec().into(),
            path_index: self.index as u32,
            start_after: self.after,
        })
    }
}

pub(super) fn batched_listing(call: Call<'_>) -> Reply {
    let pool = call.core.identity.pool.clone();
    let limit = call.core.settings.namespace_params.list_limit;
    let paths_max = call.core.settings.batched_listing_max;
    call.read(
        |q: &GetBatchedListingRequestProto| {
            Line::path("listStatus", q.paths.first().map_or("", |path| path))
        },
        |namespace, op, q| {
            let count = q.paths.len();
            if count > paths_max {
                let message = format!("Too many source paths ({count} > {paths_max})");
                return Err(JavaException::IllegalArgument.with(message));
            }
            batched(namespace, op, q, &pool, limit)
        },
    )
}

fn batched(
    namespace: &Namespace,
    op: &OpContext,
    q: &GetBatchedListingRequestProto,
    pool: &str,
    limit: usize,
) -> Outcome<GetBatchedListingResponseProto> {
    let mut cursor = Cursor::decode(&q.start_after, &q.paths)?;
    let mut listings = Vec::new();
    let mut count = 0;
    while let Some(path) = q.paths.get(cursor.index) {
        if count >= limit {
            return Ok(GetBatchedListingResponseProto {
                listings,
                has_more: true,
                start_after: cursor.encode(&q.paths),
            });
        }
        let page = namespace.listing(op, path, &cursor.after, q.need_location);
        let mut next = Cursor { index: cursor.index + 1, after: bytes::Bytes::new() };
        listings.push(match page {
            Ok(Some(page)) => {
                count += page.entries.len().max(1);
                if let Some(last) = page.entries.last().filter(|_| page.remaining > 0) {
                    next = Cursor {
                        index: cursor.index,
                        after: last.name.clone().into_bytes().into(),
                    };
                }
                let page = convert::directory_listing(page, pool);
                one_listing(cursor.index, page.partial_listing, None)
            }
            Ok(None) => {
                let missing =
                    JavaException::FileNotFound.with(format!("Path {path} does not exist"));
                one_listing(cursor.index, Vec::new(), Some(missing))
            }
            Err(error) => one_listing(cursor.index, Vec::new(), Some(error)),
        });
        cursor = next;
    }
    Ok(GetBatchedListingResponseProto {
        listings,
        has_more: false,
        start_after: bytes::Bytes::new(),
    })
}

fn one_listing(
    index: usize,
    partial_listing: Vec<zerohop_proto::hdfs::HdfsFileStatusProto>,
    error: Option<RemoteException>,
) -> BatchedDirectoryListingProto {
    let exception = error.map(|e| RemoteExceptionProto {
        class_name: e.class.to_string(),
        message: Some(e.message),
    });
    BatchedDirectoryListingProto { partial_listing, parent_idx: index as u32, exception }
}

pub(super) fn block_locations(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    let op = call.op_context();
    let mut due = None;
    let reply = call.read(
        |q: &GetBlockLocationsRequestProto| Line::path("open", &q.src),
        |namespace, op, q| {
            let (blocks, touch) = namespace.block_locations(op, &q.src, q.offset, q.length)?;
            due = touch;
            Ok(GetBlockLocationsResponseProto {
                locations: Some(convert::located_blocks(blocks, &core.identity.pool)),
            })
        },
    );
    if let Some(file) = due {
        // An access time is worth no wait for its sync.
        _ = core.write(|namespace| namespace.touch(&op, file));
    }
    reply
}

pub(super) fn is_file_closed(call: Call<'_>) -> Reply {
    call.read(
        |q: &IsFileClosedRequestProto| Line::path("isFileClosed", &q.src),
        |namespace, op, q| {
            Ok(IsFileClosedResponseProto { result: namespace.is_file_closed(op, &q.src)? })
        },
    )
}

pub(super) fn preferred_block_size(call: Call<'_>) -> Reply {
    call.read(
        |q: &GetPreferredBlockSizeRequestProto| Line::path("", &q.filename),
        |namespace, op, q| {
            let bsize = namespace.preferred_block_size(op, &q.filename)?;
            Ok(GetPreferredBlockSizeResponseProto { bsize })
        },
    )
}
