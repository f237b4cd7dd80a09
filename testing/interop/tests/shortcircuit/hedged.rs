//! Hedged reads: of two DataNodes that have a block one is frozen, so that it takes requests and answers none.

use crate::client::{BLOCK, LEN, expect};
use crate::ranges::is_right;
use std::time::{Duration, Instant};
use zerohop_interop::Outcome;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::harm::{Explain, Frozen, client, put, shape, wait_same};

/// A third of the time after which a DataNode that is silent has failed (`dfs.client.socket-timeout`).
const LIMIT: Duration = Duration::from_secs(20);
/// The NameNode names the frozen DataNode first in half of its answers, for each block anew.
const OPENS_MAX: u32 = 50;

pub fn a_frozen_datanode(cluster: &Cluster) -> Outcome {
    let settings = [
        ("dfs.client.read.shortcircuit", "false"),
        ("dfs.client.hedged.read.threadpool.size", "4"),
        ("dfs.client.hedged.read.threshold.millis", "100"),
    ];
    let fs = client(&cluster.conf(), &settings)?;
    put(&fs, "/hedged", 5, LEN, shape(2, BLOCK))?;
    wait_same(cluster, &fs, "/hedged", 2)?;
    let frozen = cluster.process_ids().1.first().copied().ok_or("no DataNode")?;
    let _frozen = Frozen::new(frozen)?;
    let mut bytes = vec![0; LEN as usize];
    for _ in 0..OPENS_MAX {
        let reader = fs.open("/hedged").at("/hedged")?;
        let begun = Instant::now();
        reader.read_exact_at(0, &mut bytes).at("a hedged read")?;
        let took = begun.elapsed();
        expect("the bytes", is_right(5, 0, &bytes), true)?;
        expect(&format!("a read of {} ms", took.as_millis()), took < LIMIT, true)?;
        expect("DataNodes that failed", reader.statistics().failovers, 0)?;
        let hedged = fs.hedged_reads();
        if hedged.wins > 0 {
            return expect(&format!("{hedged:?}"), hedged.ops >= hedged.wins, true);
        }
    }
    Err(format!("no hedged read in {OPENS_MAX} files: {:?}", fs.hedged_reads()))
}
