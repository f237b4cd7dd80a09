//! `/scanners`: how far the replicas are verified, and what the last directory scan found.

use crate::node::Node;
use zerohop_pages::{Body, Cell, Content, Level, Section, Table, bytes, date};

pub(super) fn content(node: &Node) -> Content {
    let mut verified = Table::new(
        &[
            "Volume",
            "Verified in this period",
            "Since the start",
            "Failures",
            "In the last hour",
            "Whole scans",
        ],
        "The block scanner is off (dfs.datanode.scan.period.hours).",
    );
    for (volume, statistics) in node.block_scanner.statistics() {
        let failures = statistics.failures();
        verified.row(vec![
            Cell::code(volume.root().display().to_string()),
            Cell::count(statistics.in_period()),
            Cell::count(statistics.verified()),
            Cell::count(failures).level(Level::bad_if(failures > 0)),
            Cell::number(bytes(statistics.bytes_in_last_hour())),
            Cell::count(statistics.scans()),
        ]);
    }
    let mut compared = Table::new(
        &[
            "Block pool",
            "Replicas",
            "No meta file",
            "No data file",
            "Not in memory",
            "Mismatched",
            "Duplicates",
        ],
        "No directory scan has ended yet.",
    );
    for (pool, counts) in node.directory_scanner.counts() {
        let odd = |number: usize| Cell::count(number as u64).level(Level::warn_if(number > 0));
        compared.row(vec![
            Cell::code(&*pool),
            Cell::count(counts.total as u64),
            odd(counts.missing_meta),
            odd(counts.missing_data),
            odd(counts.missing_in_memory),
            odd(counts.mismatched),
            odd(counts.duplicates),
        ]);
    }
    let finished = node.directory_scanner.finished_ms();
    let note = format!("Compares the disks with memory. The last one ended: {}.", date(finished));
    Content::new()
        .with(Section::new("verified", Body::Table(verified)).titled("Block scanner").noted(
            "Reads every replica and compares it with its checksums. The same as text: /blockScannerReport.",
        ))
        .with(Section::new("compared", Body::Table(compared)).titled("Directory scanner").noted(note))
}
