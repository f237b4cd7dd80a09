//! A disk that is slow: the kernel's block layer lets only some writes a second through to it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SETTLE, client, http, over, put, shape};
use zerohop_interop::process::Process;
use zerohop_interop::throttled::ThrottledDisks;
use zerohop_interop::{Kind, Outcome, site, wait};

const WRITES_PER_S: u32 = 4;
/// Each volume gets a third of them; fewer calls say nothing about a disk.
const FILES: u64 = 18;

/// The maps of one kind of call: the volume and the milliseconds of the slowest.
fn slowest(page: &str, kind: &str) -> Outcome<Vec<(String, f64)>> {
    let page: Value = serde_json::from_str(page).at("/heatmap")?;
    let maps = page["maps"].as_array().ok_or("no maps")?.iter().filter(|map| map["kind"] == kind);
    let one = |map: &Value| {
        let place = map["place"].as_str().unwrap_or_default().to_owned();
        (place, map["summary"]["maxMs"].as_f64().unwrap_or(0.0))
    };
    Ok(maps.map(one).collect())
}

/// `/slow`, the heat map and the log name the volume that the block layer throttles, and no other.
#[test]
fn a_throttled_disk_is_named_by_its_pages_and_in_the_log() {
    let settings = site::settings(&[
        ("dfs.replication", "1"),
        ("dfs.datanode.synconclose", "true"),
        ("dfs.datanode.slow.io.warning.threshold.ms", "150"),
        ("dfs.datanode.data.dir", "{datanode}/v0,{datanode}/v1,{datanode}/v2"),
    ]);
    let ours = Kind::Ours;
    let spec = Spec { name: "slow-disk", namenode: ours, datanodes: ours, count: 1, settings };
    over(Cluster::start(&spec), |cluster| {
        cluster.stop_datanode(0)?;
        let directory =
            cluster.directory().canonicalize().at("the cluster's directory")?.join("dn0");
        let volumes: Vec<PathBuf> = (0..3).map(|n| directory.join(format!("v{n}"))).collect();
        let log = cluster.site.log("loop");
        let Some(disks) = ThrottledDisks::mount(&volumes, 1, WRITES_PER_S, &log)? else {
            return Ok(());
        };
        let command = disks.zerohop(&cluster.site.datanode_conf(0), &["datanode"])?;
        let mut datanode = Process::daemon("DataNode 0", command, &cluster.site.log("dn0"))?;
        let fs = client(&cluster.conf(), &[])?;
        wait::until("the DataNode takes blocks", SETTLE, || {
            datanode.alive()?;
            Ok(put(&fs, "/first", 0, 1000, shape(1, 1 << 20)).is_ok())
        })?;
        for number in 0..FILES {
            put(&fs, &format!("/f{number}"), number, 200_000, shape(1, 1 << 20))?;
        }
        let port = cluster.site.info_ports[0];
        let throttled = cluster.directory().join("dn0/v1").display().to_string();
        let page = http(port, "/slow")?;
        let slow: Value = serde_json::from_str(&page).at("/slow")?;
        let named = slow["slowVolumes"].as_array().ok_or("no slowVolumes")?;
        if named.is_empty() || !named.iter().all(|volume| volume["volume"] == throttled.as_str()) {
            return Err(format!("/slow names other volumes than {throttled}: {page}"));
        }
        if !named.iter().any(|volume| volume["kind"] == "fsync") {
            return Err(format!("/slow does not name syncs: {page}"));
        }
        let syncs = slowest(&http(port, "/heatmap?minutes=10&format=json")?, "fsync")?;
        let of = |is_throttled: bool| {
            let of = syncs.iter().filter(|(place, _)| (*place == throttled) == is_throttled);
            of.map(|(_, ms)| *ms).fold(0.0, f64::max)
        };
        // A write that has to wait for its turn waits a quarter of a second.
        if of(true) < 200.0 || of(true) < 2.0 * of(false) {
            return Err(format!("the heat map's syncs: {syncs:?}"));
        }
        let said = fs::read_to_string(cluster.site.log("dn0")).at("the log")?;
        let line = format!("(threshold=150ms), volume={throttled}, blockId=");
        match said.lines().any(|l| l.contains("Slow flushOrSync took ") && l.contains(&line)) {
            true => Ok(()),
            false => Err("the log has no line about a slow sync on the volume".to_owned()),
        }
    });
}
