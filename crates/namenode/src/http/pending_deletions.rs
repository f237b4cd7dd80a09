//! `/pendingDeletions`: replicas of blocks that the namespace does not know. They are deleted after the next full block
//! report of their storage.
//!
//! `limit` is the number of block ids listed of each storage; with `storage` and `from` the listing goes on where
//! the `next` of that storage said.

use super::pages::Pages;
use crate::core::Core;
use axum::extract::State;
use serde_json::{Value, json};
use zerohop_daemon::http::{Page, QueryValues, Unavailable};
use zerohop_namespace::blocks::UnknownOnStorage;

/// Most block ids listed of one storage in one answer: the lock is held meanwhile.
const LIMIT_MAX: usize = 10_000;

pub(super) async fn page(
    State(Pages { core, threads }): State<Pages>,
    values: QueryValues,
) -> Result<Page, Unavailable> {
    threads.run(move || listing(&core, &values)).await
}

fn listing(core: &Core, values: &QueryValues) -> Page {
    let number = |name: &str| values.get(name).and_then(|value| value.parse::<u64>().ok());
    let limit = number("limit").map_or(LIMIT_MAX, |limit| limit.min(LIMIT_MAX as u64) as usize);
    let only = values.get("storage").map(|id| (id, number("from").unwrap_or(0)));
    let (totals, storages) = core.read(|namespace| {
        let blocks = namespace.blocks();
        (blocks.datanodes().unknown_totals(), blocks.datanodes().unknown_replicas(only, limit))
    });
    let page = json!({
        "replicas": totals.replicas, "bytes": totals.bytes, "newerThanMetadata": totals.newer,
        "storages": storages.iter().map(storage).collect::<Vec<_>>(),
    });
    Page::json(page.to_string())
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
