//! Apache's balancer moves blocks from a full DataNode of ours to an empty one (COPY_BLOCK and
//! REPLACE_BLOCK between them), and our balancer and mover do so on both clusters.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use zerohop_client::DatanodeReportType;
use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    self, Explain, SETTLE, SmallDisks, blocks, check, client, over, shape,
};
use zerohop_interop::process::Process;
use zerohop_interop::{Kind, Outcome, content, java, site, tools, wait};

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

/// Small file systems for the volumes of both DataNodes, which have to be stopped.
fn small_disks(cluster: &Cluster) -> Outcome<Option<SmallDisks>> {
    let base = cluster.directory().canonicalize().at("the directory")?;
    let disks: Vec<_> =
        ["dn0/disk0", "dn0/disk1", "dn1/disk0", "dn1/disk1"].map(|d| base.join(d)).into();
    let sized: Vec<_> = disks.iter().map(|disk| (disk.as_path(), "32m")).collect();
    SmallDisks::mount(&sized, &cluster.site.log("disks"))
}

const BALANCER: &str = "org.apache.hadoop.hdfs.server.balancer.Balancer";

/// Runs the balancer until it has nothing to do. Of several iterations in one process 3.4.3 fails the
/// second: it registers its metrics twice.
fn balance(cluster: &mut Cluster, fs: &FileSystem) -> Outcome {
    let limit = Duration::from_secs(300);
    let mut output = String::new();
    for _ in 0..8 {
        let ended = java::run(BALANCER, &["-threshold", "5"], &cluster.conf(), limit)?;
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
        let Some(small) = small_disks(cluster)? else { return Ok(()) };
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

const OWN_BLOCKS: u64 = 16;
const OWN_LEN: u64 = OWN_BLOCKS * BLOCK - 5;

/// Blocks of a file on each DataNode, and whether all are on a type of storage.
fn replicas(cluster: &Cluster, fs: &FileSystem, path: &str) -> Outcome<([usize; 2], Vec<String>)> {
    let (mut counts, mut types) = ([0, 0], Vec::new());
    for block in blocks(fs, path)? {
        for replica in &block.replicas {
            counts[cluster.datanode_at(&replica.node.transfer_addr(false))?] += 1;
            types.push(replica.storage_type.as_str_name().to_owned());
        }
    }
    types.sort_unstable();
    types.dedup();
    Ok((counts, types))
}

/// A file whose replicas are all on the disks of the first DataNode, which is fuller than the second then.
fn fill_first(cluster: &Cluster, fs: &FileSystem, path: &str) -> Outcome {
    let shape = shape(1, BLOCK).favored_nodes(vec![cluster.datanode_address(0)]);
    harm::put(fs, path, 7, OWN_LEN, shape)?;
    let found = replicas(cluster, fs, path)?;
    let expected = ([OWN_BLOCKS as usize, 0], vec!["DISK".to_owned()]);
    if found != expected {
        return Err(format!("{path}: {found:?}"));
    }
    wait::until("the NameNode knows how full the disks are", SETTLE, || {
        let mut used = [0, 0];
        for report in fs.datanode_storage_report(DatanodeReportType::Live).at("the report")? {
            let disks = report.volumes.iter().filter(|v| v.storage_type.as_str_name() == "DISK");
            used[cluster.datanode_at(&report.node.transfer_addr(false))?] =
                disks.map(|disk| disk.used).sum();
        }
        let is_known = used[0] >= OWN_LEN && used[1] < BLOCK;
        if is_known { Ok(true) } else { Err(format!("{used:?}")) }
    })
}

/// Our balancer runs to its end, beside a second one that does not; what it printed.
fn run_balancer(cluster: &Cluster, fs: &FileSystem, options: &[&str]) -> Outcome<String> {
    let log = cluster.site.log("balancer");
    let mut command = std::process::Command::new(tools::zerohop()?);
    command.arg("--config").arg(cluster.conf()).args(["balancer", "-threshold", "5"]);
    command.args(options);
    let mut first = Process::daemon("balancer", command, &log)?;
    wait::until("the balancer's file", SETTLE, || {
        first.alive()?;
        fs.exists("/system/balancer.id").at("the balancer's file")
    })?;
    let (code, said) = harm::zerohop(&cluster.conf(), &["balancer"])?;
    if code != 255 || !said.contains("another Balancer is running") {
        return Err(format!("the second balancer: exit code {code}\n{said}"));
    }
    let status = first.finish(Duration::from_secs(300))?;
    let said = std::fs::read_to_string(&log).at("the balancer's output")?;
    match status.code() {
        Some(0) if !fs.exists("/system/balancer.id").at("the balancer's file")? => Ok(said),
        code => Err(format!("the balancer: exit code {code:?}\n{said}")),
    }
}

fn expect_said(said: &str, parts: &[&str]) -> Outcome {
    match parts.iter().find(|part| !said.contains(**part)) {
        Some(part) => Err(format!("no `{part}' in\n{said}")),
        None => Ok(()),
    }
}

fn balance_with_ours(cluster: &mut Cluster, fs: &FileSystem, path: &str, json: bool) -> Outcome {
    fill_first(cluster, fs, path)?;
    let options: &[&str] = if json { &["--json"] } else { &[] };
    let said = run_balancer(cluster, fs, options)?;
    match json {
        true => expect_said(&said, &["\"bytesBeingMoved\":", "\"status\":\"SUCCESS\""])?,
        false => expect_said(&said, &["Time Stamp  ", "The cluster is balanced. Exiting..."])?,
    }
    wait::until("blocks on both, each once", SETTLE, || {
        let [first, second] = replicas(cluster, fs, path)?.0;
        let is_even = first.abs_diff(second) <= 4 && first + second == OWN_BLOCKS as usize;
        if is_even { Ok(true) } else { Err(format!("{first} and {second}")) }
    })?;
    check(fs, path, 7, OWN_LEN)
}

/// All replicas go to the archives; nothing goes where no storage is.
fn move_with_ours(cluster: &Cluster, fs: &FileSystem, path: &str) -> Outcome {
    fs.set_storage_policy(path, "COLD").at("COLD")?;
    let mover = || harm::zerohop(&cluster.conf(), &["mover", "-p", path]);
    let (code, said) = mover()?;
    expect_said(&said, &["Mover Successful: all blocks satisfy", "Mover took "])?;
    wait::until("replicas in the archives only", SETTLE, || {
        let (counts, types) = replicas(cluster, fs, path)?;
        let are_there = types == ["ARCHIVE"] && counts.iter().sum::<usize>() == OWN_BLOCKS as usize;
        if are_there { Ok(true) } else { Err(format!("{counts:?} {types:?}")) }
    })?;
    check(fs, path, 7, OWN_LEN)?;
    fs.set_storage_policy(path, "ALL_SSD").at("ALL_SSD")?;
    let (nowhere, why) = mover()?;
    fs.set_storage_policy(path, "COLD").at("COLD")?;
    match (code, nowhere) {
        (0, 254) => expect_said(&why, &["Some blocks can't be moved. Exiting..."]),
        codes => Err(format!("exit codes {codes:?}\n{said}\n{why}")),
    }
}

fn start_small(cluster: &mut Cluster, small: &SmallDisks) -> Outcome {
    for i in 0..2 {
        cluster.start_datanode_as(i, |command| Ok(small.inside(&command)))?;
    }
    cluster.wait_serving()
}

/// Apache's balancer finds nothing to do after ours, and does not begin while the file is open that ours holds.
fn apache_s_balancer_agrees(cluster: &Cluster, fs: &FileSystem) -> Outcome {
    let limit = Duration::from_secs(120);
    let run = || java::run(BALANCER, &["-threshold", "5"], &cluster.conf(), limit);
    let said = run()?.ok("Apache's balancer after ours")?;
    expect_said(&said, &["The cluster is balanced. Exiting..."])?;
    let mut held = fs.create("/system/balancer.id", shape(1, BLOCK)).at("the balancer's file")?;
    held.write_data(b"host").and_then(|()| held.hflush()).at("the balancer's file")?;
    let refused = run()?;
    held.close().at("the balancer's file")?;
    // The next one is seen by its own file.
    fs.delete("/system/balancer.id", false).at("the balancer's file")?;
    match refused.code {
        252 => expect_said(&refused.output, &["Another Balancer is running"]),
        code => Err(format!("exit code {code}\n{}", refused.output)),
    }
}

#[test]
fn our_balancer_and_mover_work_on_either_cluster() {
    let settings = site::settings(&[
        ("dfs.replication", "1"),
        ("dfs.balancer.getBlocks.min-block-size", "1"),
        ("dfs.datanode.data.dir", "[DISK]{datanode}/disk0,[ARCHIVE]{datanode}/disk1"),
        // Apache's DataNode leaves a gigabyte free on each volume.
        ("dfs.datanode.round-robin-volume-choosing-policy.additional-available-space", "0"),
        // Long enough for a second one to find the first.
        ("dfs.datanode.balance.bandwidthPerSec", "4m"),
    ]);
    let (name, namenode) = ("our-balancer", Kind::Apache);
    let spec = Spec { name, namenode, datanodes: Kind::Ours, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        cluster.stop_datanode(0)?;
        cluster.stop_datanode(1)?;
        let Some(small) = small_disks(cluster)? else { return Ok(()) };
        cluster.use_kinds(Kind::Apache, Kind::Apache);
        start_small(cluster, &small)?;
        let fs = client(&cluster.conf(), &[])?;
        balance_with_ours(cluster, &fs, "/theirs", false)?;
        apache_s_balancer_agrees(cluster, &fs)?;
        move_with_ours(cluster, &fs, "/theirs")?;

        cluster.stop_all()?;
        cluster.use_kinds(Kind::Ours, Kind::Ours);
        cluster.start_namenode()?;
        start_small(cluster, &small)?;
        let fs = client(&cluster.conf(), &[])?;
        balance_with_ours(cluster, &fs, "/ours", true)?;
        move_with_ours(cluster, &fs, "/ours")?;
        check(&fs, "/theirs", 7, OWN_LEN)
    });
}
