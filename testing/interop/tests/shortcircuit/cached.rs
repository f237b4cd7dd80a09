//! Apache's NameNode has replicas cached by our DataNode; its client reads those unverified, without
//! a copy.

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{SETTLE, over};
use zerohop_interop::{Kind, Outcome, site, wait};

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
        // A reader that keeps lent memory keeps it locked.
        client.ok(&["open", "r", "/c"])?;
        client.gives(&["lend", "r", "1000"], &["1000"])?;
        cluster.judge()?.ok(&["uncache", &directive])?;
        wait_cached(cluster, "0")?;
        wait::until("only the lent block is locked", SETTLE, || match locked(cluster)? {
            1_048_576 => Ok(true),
            other => Err(format!("{other} bytes are locked")),
        })?;
        client.ok(&["giveback", "r"])?;
        wait::until("nothing is locked", SETTLE, || match locked(cluster)? {
            0 => Ok(true),
            other => Err(format!("{other} bytes are locked")),
        })
    });
}
