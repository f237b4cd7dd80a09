//! Apache's balancer moves blocks from a full DataNode of ours to an empty one (COPY_BLOCK and
//! REPLACE_BLOCK between them).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    self, Explain, SETTLE, SmallDisks, blocks, check, client, over, shape,
};
use zerohop_interop::process::Process;
use zerohop_interop::{Kind, Outcome, content, java, site, wait};

const BLOCKS: u64 = 40;
const BLOCK: u64 = 1 << 20;
const LEN: u64 = BLOCKS * BLOCK - 77;

/// Blocks of the file on DataNode 1, and replicas on both.
fn placed(cluster: &Cluster, fs: &FileSystem) -> Outcome<(usize, usize)> {
    let (address, mut count) = (cluster.datanode_address(1), (0, 0));
    for block in blocks(fs, "/f")? {
        count.0 += block.nodes().filter(|node| node.transfer_addr(false) == address).count();
        count.1 += block.nodes().count();
    }
    Ok(count)
}

fn start(cluster: &mut Cluster, small: &SmallDisks, i: usize) -> Outcome<Process> {
    let now = now_ms();
    let command = small.zerohop(&cluster.site.datanode_conf(i), &["datanode"])?;
    let log = cluster.site.log(&format!("dn{i}"));
    let process = Process::daemon(&format!("DataNode {i}"), command, &log)?;
    wait_heard(cluster, i, now + 1000)?;
    Ok(process)
}

fn now_ms() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis())
}

/// Waits for a heartbeat of a DataNode after an instant.
fn wait_heard(cluster: &mut Cluster, i: usize, since_ms: u128) -> Outcome {
    let address = cluster.datanode_address(i) + " ";
    wait::until(&format!("DataNode {i}"), SETTLE, || {
        let contacts = cluster.judge()?.ok(&["contacts"])?;
        let times = contacts.iter().filter_map(|contact| contact.strip_prefix(&address));
        let spoke = times.filter_map(|at| at.parse().ok()).any(|at: u128| at > since_ms);
        if spoke { Ok(true) } else { Err(format!("{contacts:?}")) }
    })
}

/// Runs the balancer until it has nothing to do. Of several iterations in one process 3.4.3 fails the
/// second: it registers its metrics twice.
fn balance(cluster: &mut Cluster, fs: &FileSystem) -> Outcome {
    let class = "org.apache.hadoop.hdfs.server.balancer.Balancer";
    let limit = Duration::from_secs(300);
    let mut output = String::new();
    for _ in 0..8 {
        let ended = java::run(class, &["-threshold", "5"], &cluster.conf(), limit)?;
        output += &ended.output;
        if ended.code == 0 && ended.output.contains("The cluster is balanced") {
            return Ok(());
        }
        if !ended.output.contains("Metrics source Balancer") {
            break;
        }
        // What was moved away is deleted, and the NameNode knows of the room: the next one would move it
        // once more.
        wait::until("every block is in one place", SETTLE, || {
            let found = placed(cluster, fs)?;
            if found.1 == BLOCKS as usize { Ok(true) } else { Err(format!("{found:?}")) }
        })?;
        let deleted = now_ms();
        (0..2).try_for_each(|i| wait_heard(cluster, i, deleted + 1000))?;
    }
    Err(format!("the balancer said:\n{output}"))
}

#[test]
fn apache_s_balancer_moves_our_blocks() {
    let settings =
        site::settings(&[("dfs.replication", "1"), ("dfs.balancer.getBlocks.min-block-size", "1")]);
    let (name, namenode) = ("balance", Kind::Apache);
    let spec = Spec { name, namenode, datanodes: Kind::Ours, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        cluster.stop_datanode(0)?;
        cluster.stop_datanode(1)?;
        let base = cluster.directory().canonicalize().at("the directory")?;
        let disks: Vec<_> =
            ["dn0/disk0", "dn0/disk1", "dn1/disk0", "dn1/disk1"].map(|d| base.join(d)).into();
        let sized: Vec<_> = disks.iter().map(|disk| (disk.as_path(), "32m")).collect();
        let Some(small) = SmallDisks::mount(&sized, &cluster.site.log("disks"))? else {
            return Ok(());
        };
        let _first = start(cluster, &small, 0)?;
        let fs = client(&cluster.conf(), &[])?;
        wait::until("all blocks on the first DataNode", SETTLE, || {
            harm::put(&fs, "/f", 1, LEN, shape(1, BLOCK))?;
            let found = placed(cluster, &fs)?;
            if found == (0, BLOCKS as usize) { Ok(true) } else { Err(format!("{found:?}")) }
        })?;
        let _second = start(cluster, &small, 1)?;

        balance(cluster, &fs)?;
        let (fewest, most) = (BLOCKS as usize * 3 / 8, BLOCKS as usize * 5 / 8);
        wait::until("half of the blocks on each", SETTLE, || {
            let (second, all) = placed(cluster, &fs)?;
            let even = (fewest..=most).contains(&second) && all == BLOCKS as usize;
            if even { Ok(true) } else { Err(format!("{second} of {all}")) }
        })?;
        check(&client(&cluster.conf(), &[])?, "/f", 1, LEN)?;
        let (len, crc) = (LEN.to_string(), content::crc(1, 0, LEN));
        cluster.judge()?.gives(&["read", "/f", "0", "-1"], &[&len, &crc])
    });
}
