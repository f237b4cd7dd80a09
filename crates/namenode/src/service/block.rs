//! Blocks of files being written.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::activity::BlockOperation;
use crate::audit::Line;
use crate::call_error::CallError;
use zerohop_namespace::{
    AddBlockRequest, AdditionalDatanodeRequest, BlockSynchronization, Error, LocatedBlock,
};
use zerohop_wire::{Block, InodeId};

/// The request of `addBlock`; it may be held for a while.
pub(crate) struct AddBlockCall {
    pub(crate) path: String,
    pub(crate) client_name: String,
    pub(crate) previous: Option<Block>,
    pub(crate) file: InodeId,
    /// UUIDs of DataNodes that must not be chosen.
    pub(crate) excluded: Vec<String>,
    /// Addresses of DataNodes that are preferred.
    pub(crate) favored: Vec<String>,
    pub(crate) avoid_local: bool,
    pub(crate) ignore_locality: bool,
}

/// The request of `updatePipeline`.
pub(crate) struct NewPipeline<'a> {
    pub(crate) client_name: &'a str,
    pub(crate) old: Block,
    pub(crate) new: Block,
    /// UUID and storage id of each DataNode.
    pub(crate) storages: &'a [(String, String)],
}

/// Blocks of files being written.
pub(crate) struct Blocks<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Blocks<'_> {
    /// The next block of a file. Held while the block before the last has too few reported replicas.
    pub(crate) fn add_block(&self, call: AddBlockCall) -> Answer<LocatedBlock> {
        self.call.core.activity.count_block(BlockOperation::Add);
        self.call.held(
            call,
            |_| Line::default(),
            |namespace, op, call| {
                let request = AddBlockRequest {
                    path: &call.path,
                    client_name: &call.client_name,
                    previous: call.previous,
                    file_id: call.file,
                    excluded: &call.excluded,
                    favored: &call.favored,
                    avoid_local: call.avoid_local,
                    ignore_locality: call.ignore_locality,
                };
                namespace.file_writes(op).add_block(&request)
            },
            |namespace, call, outcome| match outcome {
                Err(CallError::Namespace(Error::NotReplicatedYet(_))) => {
                    namespace.lacking_block(&call.path, call.file)
                }
                _ => None,
            },
        )
    }

    pub(crate) fn abandon_block(
        &self,
        path: &str,
        file: InodeId,
        client_name: &str,
        block: Block,
    ) -> Answer<()> {
        self.call.change(Line::default(), |namespace, op| {
            namespace.file_writes(op).abandon_block(path, file, client_name, block)
        })
    }

    /// More DataNodes for a pipeline that lost some.
    pub(crate) fn additional_datanode(
        &self,
        request: &AdditionalDatanodeRequest<'_>,
    ) -> Answer<LocatedBlock> {
        self.call.core.activity.count_block(BlockOperation::AdditionalDatanode);
        self.call
            .change(Line::default(), |names, op| names.file_writes(op).additional_datanode(request))
    }

    /// A new generation stamp for a block whose pipeline is set up again.
    pub(crate) fn update_block_for_pipeline(
        &self,
        block: Block,
        client_name: &str,
    ) -> Answer<LocatedBlock> {
        self.call.change(Line::default(), |namespace, op| {
            namespace.file_writes(op).update_block_for_pipeline(block, client_name)
        })
    }

    pub(crate) fn update_pipeline(&self, pipeline: &NewPipeline<'_>) -> Answer<()> {
        let NewPipeline { client_name, old, new, storages } = *pipeline;
        self.call.change_once(Line::default(), |namespace, op| {
            namespace.file_writes(op).update_pipeline(client_name, old, new, storages)
        })
    }

    /// The outcome of a block's recovery, from the DataNode that led it.
    pub(crate) fn commit_block_synchronization(
        &self,
        outcome: &BlockSynchronization<'_>,
    ) -> Answer<()> {
        self.call.change(Line::default(), |namespace, op| {
            namespace.block_recoveries(op).commit_block_synchronization(outcome)
        })
    }

    /// Reports corrupt replicas: block, DataNode's UUID and storage id of each.
    pub(crate) fn report_bad_blocks<'r>(
        &self,
        replicas: impl Iterator<Item = (Block, &'r str, &'r str)>,
    ) -> Answer<()> {
        self.call.change(Line::default(), |namespace, _| {
            for (block, uuid, storage) in replicas {
                namespace.blocks_mut().block_reports().bad_replica(block, uuid, storage);
            }
            Ok(())
        })
    }
}
