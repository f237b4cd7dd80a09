//! `/pendingDeletions`: replicas of blocks that the namespace does not know. They are deleted after the next full block
//! report of their storage.
//!
//! `limit` is the number of block ids listed of each storage; with `storage` and `from` the listing goes on where
//! the `next` of that storage said.

use super::page::{query, text};
use crate::core::Core;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::Arc;
use zerohop_namespace::blocks::UnknownOnStorage;

/// Most block ids listed of one storage in one answer: the lock is held meanwhile.
const LIMIT_MAX: usize = 10_000;

pub(super) async fn page(State(core): State<Arc<Core>>, raw: RawQuery) -> Response {
    let values = query(raw);
    let number = |name: &str| values.get(name).and_then(|value| value.parse::<u64>().ok());
    let limit = number("limit").map_or(LIMIT_MAX, |limit| limit.min(LIMIT_MAX as u64) as usize);
    let only = values.get("storage").map(|id| (&**id, number("from").unwrap_or(0)));
    let (totals, storages) = core.read(|namespace| {
        let blocks = namespace.blocks();
        (blocks.unknown_totals(), blocks.unknown_replicas(only, limit))
    });
    let page = json!({
        "replicas": totals.replicas, "bytes": totals.bytes, "newerThanMetadata": totals.newer,
        "storages": storages.iter().map(storage).collect::<Vec<_>>(),
    });
    text("application/json; charset=utf-8", page.to_string())
}

fn storage(found: &UnknownOnStorage) -> Value {
    json!({
        "datanode": found.xfer_addr, "datanodeUuid": found.uuid, "storage": &*found.storage_id,
        "lastBlockReport": found.last_report_ms,
        "replicas": found.totals.replicas, "bytes": found.totals.bytes,
        "newerThanMetadata": found.totals.newer,
        "blockIds": found.ids.iter().map(|id| id.0).collect::<Vec<_>>(),
        // As text: above 2^53 a number is not exact everywhere.
        "next": found.next.map(|next| next.to_string()),
    })
}
