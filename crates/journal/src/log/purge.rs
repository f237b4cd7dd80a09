//! Segments that no image needs any more.

use crate::segment::{self, SegmentKind};
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::Path;
use zerohop_wire::TxId;

/// Removes finalized segments that end before a transaction, except those that hold one of `kept`.
pub(super) fn purge(current: &Path, before: TxId, kept: Option<RangeInclusive<i64>>) {
    let segments = segment::list(current).unwrap_or_else(|error| {
        tracing::warn!("{error}");
        Vec::new()
    });
    for file in segments {
        let SegmentKind::Finalized(last) = file.kind else { continue };
        let is_kept = kept
            .as_ref()
            .is_some_and(|kept| file.first.0 <= *kept.end() && *kept.start() <= last.0);
        if last >= before || is_kept {
            continue;
        }
        tracing::info!("purging old edit log {}", file.path.display());
        match std::fs::remove_file(&file.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::warn!("could not delete {}: {error}", file.path.display());
            }
            _ => {}
        }
    }
}
