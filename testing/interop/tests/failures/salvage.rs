//! `fsck -move` and `-delete` of files that have lost blocks.

use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, SETTLE, blocks, check, client, over, put, replicas_of, shape, zerohop,
};
use zerohop_interop::{Kind, Outcome, content, wait};

const BLOCK: u64 = 1 << 20;
const SEED: u64 = 830;
/// Three blocks, the last one short.
const LEN: u64 = 3 * BLOCK - 1000;

fn fsck(cluster: &Cluster, words: &[&str]) -> Outcome<(i32, String)> {
    zerohop(&cluster.conf(), &[&["fsck", "/"], words].concat())
}

/// Takes the middle block of a file away, and waits until the NameNode misses it.
fn lose_a_block(cluster: &mut Cluster, fs: &FileSystem, path: &str) -> Outcome {
    let id = blocks(fs, path)?.get(1).ok_or("no second block")?.block.block.id.0;
    cluster.stop_datanode(0)?;
    for replica in replicas_of(cluster, id) {
        std::fs::remove_file(&replica.data).at("removing a block")?;
        std::fs::remove_file(&replica.meta).at("removing a meta file")?;
    }
    cluster.start_datanode(0)?;
    cluster.wait_serving()?;
    wait::until("the block is missing", SETTLE, || {
        let (code, report) = fsck(cluster, &[])?;
        let is_said = report.contains(&format!("{path}: MISSING 1 blocks of total size {BLOCK} B"));
        if code == 1 && is_said { Ok(true) } else { Err(report) }
    })
}

fn is_there(fs: &FileSystem, path: &str) -> Outcome<bool> {
    fs.exists(path).at(path)
}

/// What is left is copied, a file for each run of blocks; the damaged file stays until `-delete`.
fn story(namenode: Kind) {
    let name = format!("salvage-{namenode:?}").to_lowercase();
    let spec =
        Spec { name: &name, namenode, datanodes: Kind::Ours, count: 1, settings: Vec::new() };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[("dfs.client.retry.window.base", "100")])?;
        put(&fs, "/d/gone", SEED, LEN, shape(1, BLOCK))?;
        put(&fs, "/d/well", SEED, LEN, shape(1, BLOCK))?;
        lose_a_block(cluster, &fs, "/d/gone")?;
        let (code, report) = fsck(cluster, &["-list-corruptfileblocks"])?;
        let id = blocks(&fs, "/d/gone")?.get(1).ok_or("no second block")?.block.block.id.0;
        if code != 255 || !report.contains(&format!("\nblk_{id}\t1\t/d/gone\n")) {
            return Err(format!("-list-corruptfileblocks: {code}\n{report}"));
        }
        let (code, report) = fsck(cluster, &["-move"])?;
        if code != 1 || !report.contains("is CORRUPT") {
            return Err(format!("-move: {code}\n{report}"));
        }
        check(&fs, "/lost+found/d/gone/0", SEED, BLOCK)?;
        let rest = LEN - 2 * BLOCK;
        let crc = content::crc(SEED, 2 * BLOCK, rest);
        let read = ["read", "/lost+found/d/gone/1", "0", "-1"];
        cluster.judge()?.gives(&read, &[&rest.to_string(), &crc])?;
        if !is_there(&fs, "/d/gone")? || is_there(&fs, "/lost+found/d/well")? {
            return Err("-move did more than it should".to_owned());
        }
        let mode = fs.status("/lost+found/d/gone").at("status")?.permission;
        if mode != 0o644 {
            return Err(format!("the directory of the remains has mode {mode:o}"));
        }
        // What is in /lost+found already is left as it is.
        fsck(cluster, &["-move"])?;
        if is_there(&fs, "/lost+found/d/gone/2")? {
            return Err("the remains were copied again".to_owned());
        }
        let (code, report) = fsck(cluster, &["-delete"])?;
        if code != 1 || is_there(&fs, "/d/gone")? {
            return Err(format!("-delete: {code}\n{report}"));
        }
        let (code, report) = fsck(cluster, &[])?;
        match code == 0 && report.contains("is HEALTHY") {
            true => check(&fs, "/d/well", SEED, LEN),
            false => Err(format!("not healthy after -delete: {code}\n{report}")),
        }
    });
}

#[test]
fn our_namenode_salvages() {
    story(Kind::Ours);
}

#[test]
fn apache_s_namenode_salvages() {
    story(Kind::Apache);
}
