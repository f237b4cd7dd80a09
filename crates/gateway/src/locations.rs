//! Where blocks are, as JSON.

use serde_json::{Value, json};
use zerohop_client::{DatanodeInfo, LocatedBlock, LocatedBlocks};

/// Returns what file systems of every kind say of a block (`BlockLocation`).
pub(crate) fn block_location(block: &LocatedBlock) -> Value {
    let each = |make: &dyn Fn(&DatanodeInfo) -> String| -> Vec<String> {
        block.nodes().map(make).collect()
    };
    let cached = block.replicas.iter().filter(|replica| replica.is_cached);
    let cached: Vec<&str> = cached.map(|replica| replica.node.host()).collect();
    let types: Vec<&str> =
        block.replicas.iter().map(|replica| replica.storage_type.as_str_name()).collect();
    json!({
        "cachedHosts": cached,
        "corrupt": block.is_corrupt,
        "hosts": each(&|node| node.host().to_owned()),
        "length": block.block.block.len,
        "names": each(&|node| node.transfer_addr(false)),
        "offset": block.offset,
        "storageTypes": types,
        "topologyPaths": each(&|node| format!("{}/{}", node.location(), node.transfer_addr(false))),
    })
}

/// Returns what stands before the list of blocks in what HDFS says of them (`LocatedBlocks`).
pub(crate) fn located_blocks_head(located: &LocatedBlocks) -> String {
    let last = located.last_block.as_ref().map_or(Value::Null, located_block);
    format!(
        "{{\"LocatedBlocks\":{{\"fileLength\":{},\"isLastBlockComplete\":{},\"isUnderConstruction\":{},\
         \"lastLocatedBlock\":{last},\"locatedBlocks\":",
        located.file_len, located.is_last_complete, located.is_under_construction
    )
}

/// Returns what HDFS says of a block.
pub(crate) fn located_block(block: &LocatedBlock) -> Value {
    let nodes: Vec<Value> = block.nodes().map(datanode).collect();
    let cached = block.replicas.iter().filter(|replica| replica.is_cached);
    let cached: Vec<Value> = cached.map(|replica| datanode(&replica.node)).collect();
    let types: Vec<&str> =
        block.replicas.iter().map(|replica| replica.storage_type.as_str_name()).collect();
    let id = block.block.block;
    json!({
        "block": {
            "blockId": id.id.0,
            "blockPoolId": &*block.block.pool,
            "generationStamp": id.stamp.0,
            "numBytes": id.len,
        },
        // The empty token of a cluster without security.
        "blockToken": { "urlString": "AAAAAA" },
        "cachedLocations": cached,
        "isCorrupt": block.is_corrupt,
        "locations": nodes,
        "startOffset": block.offset,
        "storageTypes": types,
    })
}

fn datanode(node: &DatanodeInfo) -> Value {
    let (proto, id) = (node.proto(), &node.proto().id);
    json!({
        "adminState": node.admin_state().as_str_name(),
        "blockPoolUsed": proto.block_pool_used(),
        "cacheCapacity": proto.cache_capacity(),
        "cacheUsed": proto.cache_used(),
        "capacity": proto.capacity(),
        "dfsUsed": proto.dfs_used(),
        "hostName": node.host(),
        "infoPort": id.info_port,
        "infoSecurePort": id.info_secure_port(),
        "ipAddr": node.ip(),
        "ipcPort": id.ipc_port,
        "lastBlockReportMonotonic": proto.last_block_report_monotonic(),
        "lastBlockReportTime": proto.last_block_report_time(),
        "lastUpdate": proto.last_update(),
        "lastUpdateMonotonic": proto.last_update_monotonic(),
        "name": node.transfer_addr(false),
        "networkLocation": node.location(),
        "remaining": proto.remaining(),
        "storageID": node.uuid(),
        "xceiverCount": proto.xceiver_count(),
        "xferPort": id.xfer_port,
    })
}
