//! What operations with many parameters take.

use zerohop_wire::{Block, CacheDirective, InodeId};

/// Flags of `create` and `append` (`CreateFlagProto`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct CreateFlags {
    pub create: bool,
    pub overwrite: bool,
    pub append: bool,
    pub lazy_persist: bool,
    pub new_block: bool,
    pub no_local_write: bool,
    pub should_replicate: bool,
    pub ignore_client_locality: bool,
}

impl CreateFlags {
    /// From the bit set of the message.
    pub fn from_bits(bits: u32) -> Self {
        Self {
            create: bits & 0x01 != 0,
            overwrite: bits & 0x02 != 0,
            append: bits & 0x04 != 0,
            lazy_persist: bits & 0x10 != 0,
            new_block: bits & 0x20 != 0,
            no_local_write: bits & 0x40 != 0,
            should_replicate: bits & 0x80 != 0,
            ignore_client_locality: bits & 0x100 != 0,
        }
    }
}

/// A file to create.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct CreateRequest<'a> {
    pub path: &'a str,
    /// Mode after the client's umask.
    pub masked: u16,
    /// Mode before the client's umask, if the client sent it.
    pub unmasked: Option<u16>,
    pub client_name: &'a str,
    pub flags: CreateFlags,
    pub create_parent: bool,
    pub replication: u16,
    pub block_size: u64,
    pub storage_policy: Option<&'a str>,
    pub ec_policy: Option<&'a str>,
}

/// A further block wanted for a file being written.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct AddBlockRequest<'a> {
    pub path: &'a str,
    pub client_name: &'a str,
    pub previous: Option<Block>,
    pub file_id: InodeId,
    /// DataNodes not to use, by UUID.
    pub excluded: &'a [String],
    /// DataNodes to prefer, `host:port`.
    pub favored: &'a [String],
    pub avoid_local: bool,
    pub ignore_locality: bool,
}

/// A further DataNode wanted for a pipeline.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct AdditionalDatanodeRequest<'a> {
    pub path: &'a str,
    pub client_name: &'a str,
    pub file_id: InodeId,
    pub block: Block,
    /// Storage ids (with their DataNodes' UUIDs) of the pipeline as it is.
    pub existing: &'a [(String, String)],
    /// DataNodes not to use, by UUID.
    pub excluded: &'a [String],
    pub count: usize,
}

/// What a recovery leader reports at its end (`CommitBlockSynchronizationRequestProto`).
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct BlockSynchronization<'a> {
    pub block: Block,
    pub new_stamp: i64,
    pub new_len: u64,
    pub close_file: bool,
    pub delete_block: bool,
    /// (DataNode UUID, storage id) of the replicas.
    pub targets: &'a [(String, String)],
}

/// Options of `rename2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RenameOptions {
    pub overwrite: bool,
    pub to_trash: bool,
}

/// A new cache directive, or what of one shall change.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct CacheDirectiveRequest {
    pub directive: CacheDirective,
    /// Also beyond the pool's limit.
    pub force: bool,
}
