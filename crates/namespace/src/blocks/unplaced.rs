//! Blocks that found no place, for the NameNode's log: the client gets Hadoop's message, which names
//! no reason.

use super::nodes::Nodes;
use super::placement::{Placement, Search};
use super::refusal::Refusal;
use super::types::{NodeIdx, PlacementRequest};
use std::fmt::Write;

/// DataNodes that one line names; the rest are counted.
const NAMED_MAX: usize = 10;

/// Each DataNode that cannot take the block and why.
pub(super) fn refusals(placement: &Placement<'_>, request: &PlacementRequest<'_>) -> Vec<String> {
    let search = Search::widest(placement, request, true);
    let indexes = placement.nodes.indexes();
    let refused = indexes.filter_map(|node| {
        let reason = match search.judge(node).err()? {
            Refusal::NoStorage => volumes_lack(placement.nodes, &search, node),
            refusal => refusal.to_string(),
        };
        Some(format!("{} ({reason})", placement.nodes.node(node)?.id.xfer_addr()))
    });
    refused.collect()
}

/// What is wrong with the volumes of a DataNode that has none for the block.
fn volumes_lack(nodes: &Nodes, search: &Search<'_>, node: NodeIdx) -> String {
    let kinds: Vec<_> = search.kinds().collect();
    let storages = nodes.node(node).into_iter().flat_map(|known| &known.storages);
    let usable = storages
        .filter_map(|storage| nodes.storage(*storage))
        .filter(|known| kinds.contains(&known.kind) && !known.failed && !known.read_only);
    match usable.max_by_key(|known| known.remaining) {
        None => {
            let names: Vec<_> = kinds.iter().map(|kind| kind.as_str_name()).collect();
            format!("no usable volume of type {}", names.join(" or "))
        }
        Some(known) => {
            let node = nodes.node(node);
            let scheduled = node.map_or(0, |node| node.scheduled.count(known.kind));
            format!(
                "not enough storage space: {} bytes at most on one volume, {scheduled} block(s) on their way",
                known.remaining
            )
        }
    }
}

/// One line a refused block. Hadoop logs the reasons counted, and the DataNodes at level debug.
pub(super) fn log_refusals(placement: &Placement<'_>, request: &PlacementRequest<'_>) {
    let refusals = refusals(placement, request);
    let mut named = refusals.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = refusals.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        _ = write!(named, " and {more} more");
    }
    if named.is_empty() {
        named.push_str("there are none");
    }
    tracing::warn!(
        "Not enough replicas was chosen for a block of {} bytes of {}. DataNodes: {named}",
        request.block_size,
        request.path,
    );
}
