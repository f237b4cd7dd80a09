//! Pipelines of ten DataNodes, by writers of both kinds.

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{check, client, over, wait_nodes, wait_same};
use zerohop_interop::{Kind, Outcome, content};

const ALL: usize = 10;
const PART: u64 = 1_500_007;
const BLOCK: &str = "8388608";

/// Flushed in the middle, when all ten have it, and closed: ten equal finalized replicas.
fn written(cluster: &mut Cluster, kind: Kind, path: &str, seed: u64) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    let mut writer = cluster.client(kind)?;
    let (part, text) = (PART.to_string(), seed.to_string());
    writer.ok(&["create", "w", path, &ALL.to_string(), BLOCK, "true"])?;
    writer.ok(&["write", "w", &part, &text])?;
    writer.ok(&["hflush", "w"])?;
    wait_nodes(cluster, &fs, path, ALL)?;
    writer.ok(&["write", "w", &part, &text])?;
    writer.ok(&["close", "w"])?;
    wait_same(cluster, &fs, path, ALL)?;
    check(&fs, path, seed, 2 * PART)?;
    let (len, crc) = ((2 * PART).to_string(), content::crc(seed, 0, 2 * PART));
    cluster.judge()?.gives(&["read", path, "0", "-1"], &[&len, &crc])
}

#[test]
fn pipelines_of_ten() {
    let (name, ours) = ("ten", Kind::Ours);
    let spec = Spec { name, namenode: ours, datanodes: ours, count: ALL, settings: Vec::new() };
    over(Cluster::start(&spec), |cluster| {
        written(cluster, Kind::Apache, "/java", 1)?;
        written(cluster, Kind::Ours, "/ours", 2)?;
        // Both have the same sum at both clients.
        for path in ["/java", "/ours"] {
            let apache = cluster.judge()?.ok(&["checksum", path])?;
            cluster.client(Kind::Ours)?.gives(&["checksum", path], &[&apache[0], &apache[1]])?;
        }
        Ok(())
    });
}
