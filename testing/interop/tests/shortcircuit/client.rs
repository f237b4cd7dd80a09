//! Our client on the domain sockets of DataNodes of either kind: that every byte is local is told by
//! our own statistics, that it is right by the bytes.

use std::fs as disk;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

use crate::hedged;
use crate::ranges;
use zerohop_client::blocking::{FileReader, FileSystem};
use zerohop_client::{
    AppendOptions, ErrorKind, OpenOptions, ReadPath, ReadReason, ReadStatistics, User, Verify,
};
use zerohop_conf::Conf;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    self, Explain, SETTLE, check, check_rest, client, flip, on_disk, put, shape, wait_same, write,
};
use zerohop_interop::site::settings;
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, content, wait};

/// Of the files' blocks.
pub const BLOCK: u64 = 1 << 20;
/// Of `/ways`.
pub const LEN: u64 = 3_000_000;

/// What was read by way and reason.
pub fn bytes(statistics: &ReadStatistics) -> Vec<(ReadPath, ReadReason, u64)> {
    statistics.ranges.iter().map(|range| (range.path, range.reason, range.bytes)).collect()
}

/// An error that tells both where they differ.
pub fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: T, want: T) -> Outcome {
    if got == want { Ok(()) } else { Err(format!("{what}: {got:?}, not {want:?}")) }
}

/// Reads a file to its end; right bytes, all by one way.
pub fn read_all(
    fs: &FileSystem,
    path: &str,
    seed: u64,
    len: u64,
    way: (ReadPath, ReadReason),
) -> Outcome {
    let mut reader = fs.open(path).at(path)?;
    check_rest(&mut reader, seed)?;
    let statistics = reader.statistics();
    expect(
        &format!("{path}: {:?}", statistics.detail),
        bytes(&statistics),
        vec![(way.0, way.1, len)],
    )
}

/// The way of a local read.
pub const MAPPED: (ReadPath, ReadReason) = (ReadPath::LocalMapped, ReadReason::None);

fn every_way_of_reading(cluster: &Cluster, fs: &FileSystem) -> Outcome {
    put(fs, "/ways", 1, LEN, shape(1, BLOCK))?;
    read_all(fs, "/ways", 1, LEN, MAPPED)?;
    let mut want = vec![0; LEN as usize];
    content::fill(1, 0, &mut want);
    for verify in [Verify::Full, Verify::Once, Verify::None] {
        let mut reader = fs.open_with("/ways", OpenOptions::verifying(verify)).at("/ways")?;
        let mut read = 0;
        for _ in 0..300 {
            let at = fastrand::u64(..LEN);
            let mut out = vec![0; fastrand::usize(1..100_000).min((LEN - at) as usize)];
            expect("read_at", reader.read_at(at, &mut out).at("read_at")?, out.len())?;
            if out != want[at as usize..][..out.len()] {
                return Err(format!("wrong bytes at {at}"));
            }
            read += out.len() as u64;
        }
        let mut parts = vec![vec![0; 5000]; 100];
        // Not over the end of a block: such ones are counted as they are read, together.
        let start = || BLOCK * fastrand::u64(..2) + fastrand::u64(..BLOCK - 5000);
        let starts: Vec<u64> = std::iter::repeat_with(start).take(100).collect();
        let mut ranges: Vec<(u64, &mut [u8])> =
            starts.iter().zip(&mut parts).map(|(at, part)| (*at, &mut part[..])).collect();
        reader.read_ranges(&mut ranges).at("read_ranges")?;
        for (at, part) in starts.iter().zip(&parts) {
            expect("a range", part == &want[*at as usize..][..5000], true)?;
        }
        read += 500_000;
        loop {
            let pos = reader.pos() as usize;
            let read = reader.read_zero_copy(300_000).at("read_zero_copy")?;
            if read.is_empty() {
                break;
            }
            // SAFETY: nobody writes to the files of this cluster meanwhile.
            let bytes = unsafe { read.as_slice() };
            let is_right = bytes == &want[pos..][..bytes.len()];
            expect("zero-copy", (read.is_mapped(), is_right), (true, true))?;
        }
        let statistics = reader.statistics();
        // A zero-copy read opens its block by reading one byte the long way.
        let local = statistics.bytes_by(ReadPath::LocalMapped);
        expect("all is local", statistics.total(), local)?;
        expect("all is counted", (read + LEN..read + LEN + 4).contains(&local), true)?;
        expect("zero-copy bytes", statistics.zero_copy_bytes, LEN)?;
        let checked = if verify == Verify::None { 0 } else { local };
        expect("checked bytes", statistics.checked_bytes, checked)?;
        expect("cache hits", (statistics.cache_hits, statistics.cache_misses), (3, 0))?;
    }
    tokio_runtime()?.block_on(async_face(cluster, &want))
}

pub fn tokio_runtime() -> Outcome<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().at("a runtime")
}

async fn async_face(cluster: &Cluster, want: &[u8]) -> Outcome {
    let conf = Conf::load(cluster.conf()).at("conf")?;
    let fs = zerohop_client::FileSystem::connect(&conf, None).at("connect")?;
    let mut reader = fs.open("/ways").await.at("/ways")?;
    let whole = reader.read_bytes(want.len()).await.at("read")?;
    let part = reader.read_bytes_at(12_345, 4096).await.at("read_at")?;
    expect("async bytes", whole == want && part == want[12_345..][..4096], true)?;
    let statistics = reader.statistics();
    expect("async is local", statistics.local_bytes(), LEN + 4096)?;
    async_copy(&fs, want).await
}

/// By tokio's traits from one file into another, which is then read from its maps.
async fn async_copy(fs: &zerohop_client::FileSystem, want: &[u8]) -> Outcome {
    let mut from = fs.open("/ways").await.at("/ways")?;
    let mut to = fs.create("/ways-copy", shape(1, BLOCK)).await.at("create")?;
    expect("copied", tokio::io::copy(&mut from, &mut to).await.at("copy")?, LEN)?;
    to.hflush().await.at("hflush")?;
    expect("hflushed", fs.open("/ways-copy").await.at("/ways-copy")?.len(), LEN)?;
    to.shutdown().await.at("shutdown")?;
    // SAFETY: nobody writes to the files of this cluster meanwhile.
    let options = unsafe { OpenOptions::default().with_mapped_bytes() };
    let mut reader = fs.open_with("/ways-copy", options).await.at("/ways-copy")?;
    let mut kept = Vec::new();
    while reader.pos() < LEN {
        kept.push(reader.read_bytes(100_000).await.at("read_bytes")?);
    }
    let statistics = reader.statistics();
    drop(reader);
    expect("the copy", kept.concat() == want, true)?;
    expect("all is local", (statistics.local_bytes(), statistics.checked_bytes), (LEN, LEN))?;
    // The first piece of a block opens its replica, and a piece that two blocks share is copied.
    expect("most is mapped", statistics.zero_copy_bytes > LEN / 2, true)
}

/// The reader has hardly begun the first block of a file that is not in the page cache, and the next one
/// is opened already: the disk does not wait for the DataNode at the end of each block.
fn the_next_block_of_a_cold_file_is_opened_early(cluster: &Cluster, fs: &FileSystem) -> Outcome {
    put(fs, "/cold", 6, LEN, shape(1, BLOCK))?;
    for block in harm::blocks(fs, "/cold")? {
        for replica in harm::replicas_of(cluster, block.block.block.id.0) {
            wait::until("dropped from the page cache", SETTLE, || drop_from_cache(&replica.data))?;
        }
    }
    let other = client(&cluster.conf(), &[])?;
    let mut reader = other.open("/cold").at("/cold")?;
    let mut first = vec![0; 100_000];
    reader.read_exact(&mut first).at("the first bytes")?;
    wait::until("the next block is open", SETTLE, || Ok(other.cache_statistics().open == 2))?;
    expect("by the reader", reader.statistics().cache_misses, 1)?;
    check(&other, "/cold", 6, LEN)
}

/// Whether no page of a file is in the page cache any more; the kernel may hold some for a moment.
fn drop_from_cache(path: &Path) -> Outcome<bool> {
    let dropped = Command::new("dd")
        .arg(format!("of={}", path.display()))
        .args(["oflag=nocache", "conv=notrunc,fdatasync", "count=0", "status=none"])
        .status();
    expect("dropped", dropped.at("dd")?.success(), true)?;
    let left = Command::new("fincore").args(["-b", "-n", "-o", "RES"]).arg(path).output();
    Ok(String::from_utf8_lossy(&left.at("fincore")?.stdout).trim() == "0")
}

/// A file with one replica on each of two DataNodes of this machine, hurt on the one that is read.
fn hurt(cluster: &Cluster, fs: &FileSystem, path: &str, how: &str) -> Outcome {
    put(fs, path, 5, 700_000, shape(2, BLOCK))?;
    wait_same(cluster, fs, path, 2)?;
    let mut reader = fs.open(path).at(path)?;
    let mut byte = [0];
    reader.read_at(0, &mut byte).at(path)?;
    // The replica that this process has mapped.
    let maps = disk::read_to_string("/proc/self/maps").at("maps")?;
    let is_mapped = |replica: &harm::OnDisk| {
        let name = replica.data.canonicalize().map(|path| path.display().to_string());
        name.is_ok_and(|name| maps.lines().any(|line| line.ends_with(&name)))
    };
    let replica = on_disk(cluster, fs, path)?.into_iter().find(is_mapped);
    let replica = replica.ok_or("no replica is mapped")?;
    match how {
        "data" => flip(&replica.data, 300_000)?,
        "meta" => flip(&replica.meta, 7 + 4 * 300)?,
        _ => disk::File::options()
            .write(true)
            .open(&replica.data)
            .and_then(|f| f.set_len(1000))
            .at("truncating")?,
    }
    // The reader that has it mapped, and a new one.
    check_rest(&mut reader, 5).at(how)?;
    let mut again = fs.open(path).at(path)?;
    check_rest(&mut again, 5).at(how)?;
    let statistics = reader.statistics();
    expect(&format!("{how}: {statistics:?}"), statistics.failovers > 0, true)
}

fn hurt_replicas(cluster: &Cluster, fs: &FileSystem) -> Outcome {
    for how in ["data", "meta", "truncated"] {
        hurt(cluster, fs, &format!("/hurt-{how}"), how)?;
    }
    put(fs, "/lost", 6, 500_000, shape(1, BLOCK))?;
    wait_same(cluster, fs, "/lost", 1)?;
    flip(&on_disk(cluster, fs, "/lost")?[0].data, 1000)?;
    let impatient = client(&cluster.conf(), &[("dfs.client.retry.window.base", "10")])?;
    let error = impatient.open("/lost").at("/lost")?.read_at(0, &mut [0; 2000]).err();
    let error = error.ok_or("bad bytes were read")?;
    expect(&error.to_string(), error.kind(), ErrorKind::Corrupt)?;
    expect(&error.to_string(), error.to_string().contains("Checksum error at 512"), true)?;
    // Behind the bad chunk all is well, and a reader that does not verify gets the bytes as they are.
    let open = |verify| fs.open_with("/lost", OpenOptions::verifying(verify)).at("/lost");
    open(Verify::Full)?.read_at(1024, &mut [0; 2000]).at("behind it")?;
    open(Verify::None)?.read_at(0, &mut [0; 2000]).at("unverified")?;
    Ok(())
}

fn growing_files(fs: &FileSystem) -> Outcome {
    let mut writer = fs.create("/grows", shape(1, BLOCK)).at("/grows")?;
    write(&mut writer, 7, BLOCK + 1000).at("/grows")?;
    writer.hflush().at("hflush")?;
    let mut reader = fs.open("/grows").at("/grows")?;
    expect("visible", reader.len(), BLOCK + 1000)?;
    check_rest(&mut reader, 7)?;
    let written = (ReadPath::TcpLocal, ReadReason::UnderConstruction, 1000);
    expect("paths", bytes(&reader.statistics()), vec![(MAPPED.0, MAPPED.1, BLOCK), written])?;
    writer.close().at("close")?;
    read_all(fs, "/grows", 7, BLOCK + 1000, MAPPED)?;
    // Readers of before an append go on; those of after it see all, locally.
    let mut before = fs.open("/grows").at("/grows")?;
    before.read_at(BLOCK, &mut [0; 1000]).at("before")?;
    let mut writer = fs.append("/grows", AppendOptions::default()).at("append")?;
    write(&mut writer, 7, 300).at("append")?;
    writer.hflush().at("hflush")?;
    check_rest(&mut before, 7)?;
    write(&mut writer, 7, 300).at("append")?;
    writer.close().at("close")?;
    read_all(fs, "/grows", 7, BLOCK + 1600, MAPPED)?;
    let mut old = vec![0; 1000];
    expect("an old reader", before.read_at(BLOCK, &mut old).at("old")?, 1000)?;
    let mut want = vec![0; 1000];
    content::fill(7, BLOCK, &mut want);
    expect("its bytes", old, want)
}

/// What a DataNode deletes is not read from any more.
fn deletion(fs: &FileSystem) -> Outcome {
    put(fs, "/gone", 8, 400_000, shape(1, BLOCK))?;
    let reader = fs.open("/gone").at("/gone")?;
    reader.read_at(0, &mut [0; 1000]).at("/gone")?;
    fs.delete("/gone", false).at("delete")?;
    wait::until("the replica is taken back", SETTLE, || match reader.read_at(0, &mut [0; 1000]) {
        Ok(_) => Err("still read".to_owned()),
        Err(error) => expect(&error.to_string(), error.kind(), ErrorKind::NotFound).map(|()| true),
    })
}

fn other_ways(cluster: &Cluster) -> Outcome {
    let open = |extra: &[(&str, &str)]| client(&cluster.conf(), extra);
    let off = ("dfs.client.read.shortcircuit", "false");
    let traffic = ("dfs.client.domain.socket.data.traffic", "true");
    let read_file = open(&[("dfs.client.mmap.enabled", "false")])?;
    read_all(&read_file, "/ways", 1, LEN, (ReadPath::Local, ReadReason::None))?;
    read_all(&open(&[off])?, "/ways", 1, LEN, (ReadPath::TcpLocal, ReadReason::NotConfigured))?;
    let domain = (ReadPath::DomainSocket, ReadReason::NotConfigured);
    read_all(&open(&[off, traffic])?, "/ways", 1, LEN, domain)?;
    let absent = ("dfs.domain.socket.path", "/run/no-such-socket");
    read_all(&open(&[absent])?, "/ways", 1, LEN, (ReadPath::TcpLocal, ReadReason::SocketAbsent))?;
    let skip = open(&[("dfs.client.read.shortcircuit.skip.checksum", "true")])?;
    read_all(&skip, "/ways", 1, LEN, MAPPED)?;
    expect("unchecked", skip.read_statistics().checked_bytes, 0)?;
    // No cache: every open asks.
    let none = open(&[("dfs.client.read.shortcircuit.streams.cache.size", "0")])?;
    read_all(&none, "/ways", 1, LEN, MAPPED)?;
    read_all(&none, "/ways", 1, LEN, MAPPED)?;
    expect("no hits", none.read_statistics().cache_misses, 6)
}

/// The legacy way: files opened by the paths that the DataNode tells; for users that it names only.
fn by_paths(cluster: &Cluster) -> Outcome {
    let legacy = ("dfs.client.use.legacy.blockreader.local", "true");
    let settings = [legacy, ("dfs.domain.socket.path", "")];
    let fs = client(&cluster.conf(), &settings)?;
    read_all(&fs, "/ways", 1, LEN, (ReadPath::Local, ReadReason::None))?;
    let statistics = fs.read_statistics();
    expect("verified", statistics.checked_bytes, LEN)?;
    expect("one call a replica", statistics.cache_misses, 3)?;
    let note = statistics.detail.unwrap_or_default();
    expect(&note, note.contains("no permission is checked") && note.contains("HDFS-347"), true)?;
    // A changed byte is found; nobody takes the replica back, so that it is asked for again.
    put(&fs, "/by-path", 9, 300_000, shape(1, BLOCK))?;
    wait_same(cluster, &fs, "/by-path", 1)?;
    let data = &on_disk(cluster, &fs, "/by-path")?[0].data;
    read_all(&fs, "/by-path", 9, 300_000, (ReadPath::Local, ReadReason::None))?;
    flip(data, 5000)?;
    let impatient = client(
        &cluster.conf(),
        &[settings[0], settings[1], ("dfs.client.retry.window.base", "10")],
    )?;
    let error = impatient.open("/by-path").at("/by-path")?.read_at(0, &mut [0; 9000]).err();
    expect("corrupt", error.map(|error| error.kind()), Some(ErrorKind::Corrupt))?;
    flip(data, 5000)?;
    let stranger = harm::client_as(&cluster.conf(), &settings, User::new("stranger"))?;
    read_all(&stranger, "/ways", 1, LEN, (ReadPath::TcpLocal, ReadReason::Refused))?;
    let detail = stranger.read_statistics().detail.unwrap_or_default();
    expect(&detail, detail.contains("dfs.block.local-path-access.user"), true)
}

fn loosened_directory(cluster: &Cluster, sockets: &Path) -> Outcome {
    let mode =
        |mode| disk::set_permissions(sockets, disk::Permissions::from_mode(mode)).at("chmod");
    mode(0o777)?;
    let fs = client(&cluster.conf(), &[])?;
    let read = read_all(&fs, "/ways", 1, LEN, (ReadPath::TcpLocal, ReadReason::PathUnsafe));
    mode(0o755)?;
    read?;
    let detail = fs.read_statistics().detail.unwrap_or_default();
    expect(&detail, detail.contains("chmod o-w"), true)?;
    wait::until("local again", Duration::from_secs(20), || {
        read_all(&fs, "/ways", 1, LEN, MAPPED).map(|()| true)
    })
}

fn local_now(reader: &FileReader) -> Outcome<bool> {
    let before = reader.statistics().local_bytes();
    let mut out = [0; 4096];
    reader.read_at(4096, &mut out).at("read")?;
    let mut want = [0; 4096];
    content::fill(1, 4096, &mut want);
    expect("bytes", out == want, true)?;
    Ok(reader.statistics().local_bytes() > before)
}

/// A DataNode is killed under readers; as soon as it is back they read locally again: within a second
/// where nothing else runs.
fn restarted_datanode(cluster: &mut Cluster) -> Outcome {
    let fs = client(&cluster.conf(), &[])?;
    let reader = fs.open("/ways").at("/ways")?;
    expect("local", local_now(&reader)?, true)?;
    let node = harm::blocks(&fs, "/ways")?[0].replicas[0].node.transfer_addr(false);
    let node = cluster.datanode_at(&node)?;
    cluster.kill_datanode(node);
    cluster.start_datanode(node)?;
    cluster.wait_serving()?;
    let start = Instant::now();
    while !local_now(&reader)? {
        expect("local again soon", start.elapsed() < Duration::from_secs(10), true)?;
    }
    println!("local again after {} ms", start.elapsed().as_millis());
    let misses = fs.read_statistics().cache_misses;
    expect(&format!("{misses} requests"), misses >= 2, true)
}

fn all(namenode: Kind, datanodes: Kind) {
    let name = format!("scr-client-{datanodes:?}").to_lowercase();
    let sockets = SocketDirectory::make(&name).unwrap_or_else(|e| panic!("{e}"));
    let settings = settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &sockets.setting()),
        ("dfs.datanode.shared.file.descriptor.paths", "/dev/shm,/tmp"),
        ("dfs.block.local-path-access.user", &User::of_process().name),
    ]);
    harm::over(
        Cluster::start(&Spec { name: &name, namenode, datanodes, count: 2, settings }),
        |cluster| {
            let fs = client(&cluster.conf(), &[])?;
            every_way_of_reading(cluster, &fs).at("every way")?;
            the_next_block_of_a_cold_file_is_opened_early(cluster, &fs).at("a cold file")?;
            ranges::neighbours(cluster).at("neighbours")?;
            other_ways(cluster).at("other ways")?;
            by_paths(cluster).at("by paths")?;
            growing_files(&fs).at("growing files")?;
            loosened_directory(cluster, sockets.path()).at("a loosened directory")?;
            deletion(&fs).at("deletion")?;
            hurt_replicas(cluster, &fs).at("hurt replicas")?;
            hedged::a_frozen_datanode(cluster).at("a frozen DataNode")?;
            ranges::one_that_is_bad(cluster).at("one range that is bad")?;
            restarted_datanode(cluster).at("a restarted DataNode")?;
            check(&fs, "/ways", 1, LEN)
        },
    );
}

#[test]
fn our_client_on_apache_s_datanodes() {
    all(Kind::Apache, Kind::Apache);
}

#[test]
fn our_client_on_our_datanodes() {
    all(Kind::Ours, Kind::Ours);
}
