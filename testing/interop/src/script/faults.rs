//! Steps that take daemons away.

use super::row::{BLOCK, Row};
use super::servers::Servers;
use crate::{Outcome, content};

/// The DataNodes of the last block of a file that is being written.
fn pipeline_of(row: &mut Row<impl Servers>, path: &str) -> Outcome<Vec<usize>> {
    let mut found = Vec::new();
    crate::wait::until(&format!("a pipeline of {path}"), super::row::SETTLE, || {
        found = row.locations(path)?.pop().unwrap_or_default();
        Ok(!found.is_empty())
    })?;
    found.iter().map(|address| row.cluster.datanode_at(address)).collect()
}

/// Starts a killed DataNode again and waits until it has registered again.
fn back_again(row: &mut Row<impl Servers>, victim: usize) -> Outcome {
    row.cluster.start_datanode(victim)?;
    row.cluster.wait_serving()
}

/// A pipeline of three loses a node in the middle of a block; nothing was flushed yet.
pub(super) fn kill_writing(row: &mut Row<impl Servers>) -> Outcome {
    let (path, block) = ("/kill/write", BLOCK.to_string());
    row.client.ok(&["create", "w", path, "3", &block, "true"])?;
    row.client.ok(&["write", "w", "300000", "301"])?;
    let victim = pipeline_of(row, path)?[1];
    row.cluster.kill_datanode(victim);
    let more = (2 * BLOCK).to_string();
    row.client.ok(&["write", "w", &more, "301"])?;
    row.client.ok(&["close", "w"])?;
    let len = 300_000 + 2 * BLOCK;
    row.keep(path, 301, len);
    row.read_by_all(path, 301, len)?;
    back_again(row, victim)?;
    row.wait_replicas(path, 3)
}

/// What was flushed survives the loss of first one, then another node of the pipeline.
pub(super) fn kill_flushed(row: &mut Row<impl Servers>) -> Outcome {
    let path = "/kill/append";
    row.put(path, 302, 100_000, 3)?;
    row.client.ok(&["append", "w", path])?;
    row.client.ok(&["write", "w", "1000", "302"])?;
    row.client.ok(&["hflush", "w"])?;
    let victim = pipeline_of(row, path)?[0];
    row.cluster.kill_datanode(victim);
    row.client.ok(&["write", "w", "200000", "302"])?;
    row.client.ok(&["hflush", "w"])?;
    let (flushed, crc) = ("301000", content::crc(302, 0, 301_000));
    for other in &mut row.others {
        other.gives(&["read", path, "0", flushed], &[flushed, &crc])?;
    }
    row.client.ok(&["write", "w", "5000", "302"])?;
    row.client.ok(&["close", "w"])?;
    row.keep(path, 302, 306_000);
    row.read_by_all(path, 302, 306_000)?;
    back_again(row, victim)?;
    row.wait_replicas(path, 3)
}

/// Readers that are in the middle of a block go on at another replica.
pub(super) fn kill_reading(row: &mut Row<impl Servers>) -> Outcome {
    let (path, len) = ("/kill/read", 6 * BLOCK);
    row.put(path, 303, len, 2)?;
    row.wait_replicas(path, 2)?;
    let first = row.locations(path)?.swap_remove(0).swap_remove(0);
    let victim = row.cluster.datanode_at(&first)?;
    for client in row.everyone() {
        client.ok(&["open", "r", path])?;
        client.gives(&["next", "r", "1000"], &["1000", &content::crc(303, 0, 1000)])?;
    }
    row.cluster.kill_datanode(victim);
    let rest = [(len - 1000).to_string(), content::crc(303, 1000, len - 1000)];
    for client in row.everyone() {
        client.gives(&["next", "r", "-1"], &[&rest[0], &rest[1]])?;
        client.ok(&["rclose", "r"])?;
    }
    row.read_by_all(path, 303, len)?;
    // With no word from the dead node, its replicas are made again elsewhere.
    row.wait_replicas(path, 2)?;
    back_again(row, victim)
}

/// Everything stops and starts; all files are whole, and the journal has all names.
pub(super) fn restart(row: &mut Row<impl Servers>) -> Outcome {
    let before = row.fingerprint()?;
    row.cluster.restart()?;
    row.reconnect()?;
    // Before any read: reads move access times.
    super::row::same(&before, &row.fingerprint()?)?;
    row.read_all_kept()?;
    row.put("/after/restart", 400, BLOCK + 1, 3)?;
    row.read_by_all("/after/restart", 400, BLOCK + 1)
}
