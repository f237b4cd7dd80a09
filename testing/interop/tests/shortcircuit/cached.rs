//! Apache's NameNode has replicas cached by our DataNode; its client and ours read those unverified,
//! and keep them in memory for as long as they are lent.

use zerohop_client::blocking::{FileReader, FileSystem};
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{self, Explain, SETTLE, over};
use zerohop_interop::{Kind, Outcome, site, wait};

use crate::client::expect;
use crate::java::{LEN, listing, put, read_local};
use crate::place::SocketFolder;

const VERIFIED: &[&str] = &["zerocopy", "300000", "true"];

/// Waits until the NameNode names so many blocks of the file as cached.
fn wait_cached(cluster: &mut Cluster, blocks: &str) -> Outcome {
    wait::until(&format!("{blocks} cached blocks"), SETTLE, || {
        let found = cluster.judge()?.ok(&["cached", "/c"])?;
        if found == [blocks] { Ok(true) } else { Err(format!("{found:?}")) }
    })
}

fn locked(cluster: &Cluster) -> Outcome<u64> {
    let listing = listing(cluster, 0)?;
    listing["cache"]["used"].as_u64().ok_or_else(|| listing.to_string())
}

#[test]
fn cached_replicas_lend_their_memory() {
    let folder = SocketFolder::make("cached").unwrap();
    let settings = site::settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &folder.setting()),
        ("dfs.replication", "1"),
        ("dfs.datanode.max.locked.memory", "4194304"),
        ("dfs.cachereport.intervalMsec", "200"),
        ("dfs.namenode.path.based.cache.refresh.interval.ms", "200"),
    ]);
    let spec = Spec {
        name: "shortcircuit-cached",
        namenode: Kind::Apache,
        datanodes: Kind::Ours,
        count: 1,
        settings,
    };
    over(Cluster::start(&spec), |cluster| {
        let mut client = cluster.client(Kind::Apache)?;
        put(&mut client, "/c", 1)?;
        let directive = cluster.judge()?.ok(&["cache", "/c"])?.swap_remove(0);
        wait_cached(cluster, "3")?;
        // Three blocks in whole pages.
        let used = locked(cluster)?;
        if used != LEN.next_multiple_of(4096) {
            return Err(format!("{used} bytes are locked for {LEN}"));
        }
        // Verifying readers get mapped memory of cached replicas only.
        read_local(&mut client, "/c", 1, VERIFIED)?;
        let fs = harm::client(&cluster.conf(), &[])?;
        let ours = unverified(&fs)?;
        let lent = ours.lend_at(1 << 20, 1000).at("lend")?;
        expect("lent by anchor", (lent.is_anchored(), lent.is_mapped()), (true, true))?;
        // A reader that keeps lent memory keeps it locked.
        client.ok(&["open", "r", "/c"])?;
        client.gives(&["lend", "r", "1000"], &["1000"])?;
        cluster.judge()?.ok(&["uncache", &directive])?;
        wait_cached(cluster, "0")?;
        wait_locked(cluster, 2 << 20)?;
        client.ok(&["giveback", "r"])?;
        wait_locked(cluster, 1 << 20)?;
        drop(lent);
        wait_locked(cluster, 0)?;
        // From now on every byte is compared again.
        let before = ours.statistics().checked_bytes;
        let mut out = [0; 5000];
        ours.read_exact_at(300_000, &mut out).at("read")?;
        expect("verified again", ours.statistics().checked_bytes - before, 5000)
    });
}

/// Our client reads a cached file without comparing it with its checksums: the DataNode did.
fn unverified(fs: &FileSystem) -> Outcome<FileReader> {
    let mut reader = fs.open("/c").at("/c")?;
    harm::check_rest(&mut reader, 1)?;
    let statistics = reader.statistics();
    expect("all is local", (statistics.local_bytes(), statistics.total()), (LEN, LEN))?;
    expect("nothing is verified", statistics.checked_bytes, 0)?;
    Ok(reader)
}

/// Waits until so many bytes are locked in the DataNode's memory: those of lent blocks.
fn wait_locked(cluster: &Cluster, bytes: u64) -> Outcome {
    wait::until(&format!("{bytes} bytes are locked"), SETTLE, || match locked(cluster)? {
        found if found == bytes => Ok(true),
        other => Err(format!("{other} bytes are locked")),
    })
}
