//! Full block reports.

use crate::store::StorageBlocks;
use zerohop_proto::hdfs::datanode::{
    BlockReportContextProto, BlockReportRequestProto, DatanodeRegistrationProto,
    StorageBlockReportProto,
};
use zerohop_system::random;

/// The messages of one report.
#[derive(Default)]
pub(crate) struct FullReport {
    pub(crate) messages: Vec<BlockReportRequestProto>,
    pub(crate) blocks: u64,
}

/// One message with all storages, or one a storage from `split` blocks on.
pub(crate) fn full_report(
    registration: &DatanodeRegistrationProto,
    pool_id: &str,
    storages: Vec<StorageBlocks>,
    lease: u64,
    split: u64,
) -> FullReport {
    let blocks = storages.iter().map(|storage| storage.blocks.count()).sum();
    let reports: Vec<StorageBlockReportProto> = storages
        .into_iter()
        .map(|storage| StorageBlockReportProto {
            storage: storage.storage,
            blocks: Vec::new(),
            number_of_blocks: Some(storage.blocks.count()),
            blocks_buffers: storage.blocks.into_buffers(),
        })
        .collect();
    let parts: Vec<Vec<StorageBlockReportProto>> = if blocks < split || reports.len() < 2 {
        vec![reports]
    } else {
        reports.into_iter().map(|report| vec![report]).collect()
    };
    let total = i32::try_from(parts.len()).unwrap_or(i32::MAX);
    let id = random::i64(1..);
    let messages = (0..).zip(parts).map(|(part, reports)| BlockReportRequestProto {
        registration: registration.clone(),
        block_pool_id: pool_id.to_owned(),
        reports,
        context: Some(BlockReportContextProto {
            total_rpcs: total,
            cur_rpc: part,
            id,
            lease_id: Some(lease),
        }),
    });
    FullReport { messages: messages.collect(), blocks }
}
