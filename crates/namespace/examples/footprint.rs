//! How much memory a file takes and how long an operation does, without any server around it.
//!
//! `cargo run --profile fast -p zerohop-namespace --example footprint [FILES]` makes that many one-block files, 1000 a
//! directory, each block with one replica reported, and prints the growth of resident memory for each.
#![allow(clippy::disallowed_methods, reason = "this measures")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::time::Instant;
use zerohop_journal::image::ImageWriter;
use zerohop_namespace::blocks::{
    BlockManager, BlockParams, DatanodeId, Heartbeat, Now, ReplicaEvent, StorageReport, StorageType,
};
use zerohop_namespace::{
    AddBlockRequest, CreateFlags, CreateRequest, ImageInfo, Namespace, NamespaceParams, OpContext,
};
use zerohop_wire::{Block, CallerIdentity, InodeId, TxId};

const FILES_PER_DIRECTORY: usize = 1000;

fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * 4096
}

fn timed(what: &str, count: usize, mut op: impl FnMut(usize)) {
    let start = Instant::now();
    (0..count).for_each(&mut op);
    println!("{what:12} {:8.2} us", start.elapsed().as_secs_f64() * 1e6 / count as f64);
}

fn namespace(now: Now) -> Namespace {
    let mut namespace =
        Namespace::new(NamespaceParams::default(), BlockManager::new(BlockParams::default()));
    namespace.start(now);
    let id = DatanodeId { ip: "10.0.0.1".into(), uuid: "uuid".into(), ..DatanodeId::default() };
    namespace.blocks_mut().register(id, "/default-rack", "3.4.3", now);
    let report = StorageReport {
        id: "DS-1".into(),
        kind: StorageType::Disk,
        read_only: false,
        failed: false,
        capacity: 1 << 50,
        dfs_used: 0,
        non_dfs_used: 0,
        remaining: 1 << 50,
        block_pool_used: 0,
        mount: None,
    };
    namespace.heartbeat("uuid", Heartbeat::default(), &[report], now);
    namespace
}

fn path(n: usize) -> String {
    format!("/data/{:04}/part-{n:08}", n / FILES_PER_DIRECTORY)
}

fn write(namespace: &mut Namespace, ctx: &OpContext, n: usize) {
    let path = path(n);
    let request = CreateRequest {
        path: &path,
        masked: 0o644,
        client_name: "client",
        flags: CreateFlags { create: true, ..CreateFlags::default() },
        create_parent: true,
        replication: 1,
        block_size: 128 << 20,
        ..CreateRequest::default()
    };
    let file = namespace.files(ctx).create(&request).expect("create").file_id;
    let block = AddBlockRequest {
        path: &path,
        client_name: "client",
        file_id: file,
        ..AddBlockRequest::default()
    };
    let block = Block {
        len: 1024,
        ..namespace.file_writes(ctx).add_block(&block).expect("addBlock").block()
    };
    let storage = "DS-1".into();
    let received = [ReplicaEvent::Received(block)];
    namespace
        .blocks_mut()
        .block_reports()
        .incremental_report("uuid", (&storage, StorageType::Disk), received)
        .expect("report");
    assert!(
        namespace.file_writes(ctx).complete(&path, file, "client", Some(block)).expect("complete")
    );
    namespace.take_edits();
    namespace.blocks_mut().take_completed();
}

fn main() {
    let files: usize =
        std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(1_000_000);
    let now = Now { wall_ms: 1_700_000_000_000, mono_ms: 1 };
    let ctx = OpContext {
        client_host: "10.0.0.1".into(),
        client_rack: None,
        identity: CallerIdentity::simple("root", None),
        ..OpContext::internal(now)
    };
    let mut namespace = namespace(now);
    (0..1000).for_each(|n| write(&mut namespace, &ctx, n));
    let before = resident_bytes();
    timed("write", files, |n| write(&mut namespace, &ctx, n + 1000));
    let grown = resident_bytes().saturating_sub(before);
    println!("{files} files: {} bytes resident each", grown / files);
    let (start, mut image) = (Instant::now(), Vec::new());
    let mut writer = ImageWriter::new(&mut image);
    namespace.save_image(&mut writer, ImageInfo { namespace_id: 1, txid: TxId(1) }).expect("save");
    writer.finish().expect("finish");
    let took_ms = start.elapsed().as_secs_f64() * 1e3;
    println!("image        {took_ms:8.2} ms to make {} bytes of it in memory", image.len());
    drop(image);
    timed("mkdirs", files / 10, |n| {
        namespace
            .directories(&ctx)
            .mkdirs(&format!("/dirs/{:03}/{n}", n / 1000), 0o755, None, true)
            .expect("mkdirs");
        namespace.take_edits();
    });
    timed("open", files / 10, |n| {
        namespace.view(&ctx).block_locations(&path(n * 7919 % files), 0, 10).expect("open");
    });
    timed("stat", files / 10, |n| {
        drop(namespace.view(&ctx).file_info(&path(n * 7919 % files)).expect("stat"))
    });
    timed("rename", files / 10, |n| {
        namespace
            .directories(&ctx)
            .rename(&path(n), &format!("/data/0000/renamed-{n}"))
            .expect("rename");
        namespace.take_edits();
    });
    timed("delete", files / 10, |n| {
        namespace
            .directories(&ctx)
            .delete(&format!("/data/0000/renamed-{n}"), false)
            .expect("delete");
        namespace.take_edits();
    });
    let start = Instant::now();
    namespace.directories(&ctx).delete("/data", true).expect("delete");
    println!("delete all   {:8.2} ms at once", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    while namespace.free_deleted(10_000) {}
    println!("freed        {:8.2} ms later, in slices", start.elapsed().as_secs_f64() * 1e3);
    assert_eq!(namespace.path_of(InodeId::ROOT).as_deref(), Some("/"));
}
