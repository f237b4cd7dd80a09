//! Runs a client against a cluster that is up: `probe URI [SECTION] [-D key=value]`.
#![allow(clippy::disallowed_methods, reason = "this measures")]
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use std::io::{Read, Seek, SeekFrom, Write};
use std::time::Instant;
use zerohop_client::blocking::FileSystem;
use zerohop_client::*;
use zerohop_conf::Conf;

type Outcome = std::result::Result<(), Box<dyn std::error::Error>>;

fn bytes(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let mut out = Vec::with_capacity(len + 8);
    while out.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.extend_from_slice(&state.to_le_bytes());
    }
    out.truncate(len);
    out
}

fn basics(fs: &FileSystem) -> Outcome {
    fs.delete("/probe", true)?;
    assert!(fs.mkdirs("/probe/a/b")?);
    let data = bytes(3_500_001, 7);
    let options = CreateOptions::default().block_size(1 << 20);
    let mut out = fs.create("/probe/f", options.clone())?;
    for piece in data.chunks(77_777) {
        out.write_all(piece)?;
    }
    out.close()?;
    let status = fs.status("/probe/f")?;
    assert_eq!((status.len, status.block_size), (data.len() as u64, 1 << 20));
    let mut back = Vec::new();
    fs.open("/probe/f")?.read_to_end(&mut back)?;
    assert!(back == data);
    let mut reader = fs.open("/probe/f")?;
    for (offset, len) in [
        (0, 1),
        (511, 2),
        (1 << 20, 100),
        ((1 << 20) - 5, 10),
        (3_400_000, 200_000),
        (700, 2_000_000),
    ] {
        let mut buffer = vec![0; len];
        let read = reader.read_at(offset as u64, &mut buffer)?;
        let end = data.len().min(offset + len);
        assert_eq!(&buffer[..read], &data[offset..end], "{offset} {len}");
        reader.seek(SeekFrom::Start(offset as u64))?;
        let read = reader.read(&mut buffer)?;
        assert_eq!(&buffer[..read], &data[offset..end], "seek {offset} {len}");
    }
    println!("{:?}", reader.statistics());
    println!("checksum {:?}", fs.checksum("/probe/f")?);
    let list: Vec<String> = fs.list("/probe")?.into_iter().map(|s| s.path).collect();
    assert_eq!(list, ["/probe/a", "/probe/f"]);
    assert!(matches!(fs.status("/probe/none"), Err(e) if e.kind() == ErrorKind::NotFound));
    assert!(
        matches!(fs.create("/probe/f", CreateOptions::default()), Err(e) if e.kind() == ErrorKind::Exists)
    );
    Ok(())
}

fn appends(fs: &FileSystem) -> Outcome {
    fs.delete("/probe/app", false)?;
    let data = bytes(300_000, 3);
    let options = CreateOptions::overwriting().block_size(64 << 10);
    let mut out = fs.create("/probe/app", options)?;
    let mut at = 0;
    out.write_all(&data[..1000])?;
    at += 1000;
    out.close()?;
    for len in [1, 23, 512, 100, 5000, 65536, 70000, 3] {
        let mut out = fs.append("/probe/app", AppendOptions::default())?;
        for piece in data[at..at + len].chunks(97) {
            out.write_all(piece)?;
        }
        out.hflush()?;
        out.hsync()?;
        at += len;
        out.write_all(&data[at..at + 77])?;
        at += 77;
        out.close()?;
        let mut back = Vec::new();
        fs.open("/probe/app")?.read_to_end(&mut back)?;
        assert_eq!(back.len(), at);
        assert!(back == data[..at], "after {len}");
    }
    let mut out =
        fs.append("/probe/app", AppendOptions::default().new_block(true).sync_block(true))?;
    out.write_all(&data[at..at + 100])?;
    out.close()?;
    at += 100;
    let mut back = Vec::new();
    fs.open("/probe/app")?.read_to_end(&mut back)?;
    assert!(back == data[..at]);
    let cut = at - 40;
    let is_cut = fs.truncate("/probe/app", cut as u64)?;
    while !is_cut && !fs.is_file_closed("/probe/app")? {
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let mut back = Vec::new();
    fs.open("/probe/app")?.read_to_end(&mut back)?;
    assert!(back == data[..cut]);
    Ok(())
}

fn flushes(fs: &FileSystem) -> Outcome {
    let data = bytes(200_000, 5);
    let mut out = fs.create("/probe/flush", CreateOptions::overwriting())?;
    let mut at = 0;
    for len in [10, 500, 3, 512, 4096, 100_000, 7] {
        out.write_all(&data[at..at + len])?;
        at += len;
        out.hflush()?;
        let mut reader = fs.open("/probe/flush")?;
        assert_eq!(reader.len(), at as u64);
        let mut back = Vec::new();
        reader.read_to_end(&mut back)?;
        assert!(back == data[..at]);
        out.hflush()?;
        out.hsync()?;
    }
    out.hsync_with(SyncOptions::default().update_length(true))?;
    assert_eq!(fs.status("/probe/flush")?.len, at as u64);
    out.hsync_with(SyncOptions::default().update_length(true).end_block(true))?;
    out.write_all(&data[at..])?;
    out.close()?;
    let mut back = Vec::new();
    fs.open("/probe/flush")?.read_to_end(&mut back)?;
    assert!(back == data);
    assert_eq!(fs.block_locations("/probe/flush", 0, 1 << 30)?.blocks.len(), 2);
    Ok(())
}

fn names(fs: &FileSystem) -> Outcome {
    fs.set_permission("/probe/f", 0o640)?;
    assert_eq!(fs.status("/probe/f")?.permission, 0o640);
    fs.set_times("/probe/f", Some(1_000_000), None)?;
    assert_eq!(fs.status("/probe/f")?.modified_ms, 1_000_000);
    fs.set_xattr("/probe/f", "user.color", b"red", XAttrFlags::default())?;
    assert_eq!(fs.xattr("/probe/f", "user.color")?.as_deref(), Some(&b"red"[..]));
    assert_eq!(fs.list_xattrs("/probe/f")?, ["user.color"]);
    fs.rename2("/probe/f", "/probe/g", RenameOptions::default())?;
    assert!(fs.rename("/probe/g", "/probe/f")?);
    println!("{:?}", fs.content_summary("/probe")?);
    println!("{:?}", fs.quota_usage("/probe")?);
    println!("{:?}", fs.fs_stats()?);
    println!("{:?}", fs.server_defaults()?);
    println!("{:?}", fs.datanode_report(DatanodeReportType::Live)?);
    println!("{:?}", fs.acl_status("/probe/f")?);
    println!("{:?}", fs.storage_policies()?.len());
    println!("safe mode {}", fs.safe_mode(SafeModeAction::SafemodeGet)?);
    Ok(())
}

fn speed(fs: &FileSystem, replication: u16) -> Outcome {
    let piece = bytes(1 << 20, 9);
    let total = 1usize << 30;
    for round in 0..3 {
        let options = CreateOptions::overwriting().replication(replication);
        let start = Instant::now();
        let mut out = fs.create("/probe/big", options)?;
        for _ in 0..total >> 20 {
            out.write_all(&piece)?;
        }
        out.close()?;
        let wrote = start.elapsed();
        let mut reader = fs.open("/probe/big")?;
        let mut buffer = vec![0; 1 << 20];
        let start = Instant::now();
        let mut sum = 0;
        loop {
            let read = reader.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            sum += read;
        }
        assert_eq!(sum, total);
        let rate = |time: std::time::Duration| (total as f64 / 1e6 / time.as_secs_f64()) as u64;
        println!("round {round}: write {} MB/s, read {} MB/s", rate(wrote), rate(start.elapsed()));
    }
    Ok(())
}

fn latency(fs: &FileSystem) -> Outcome {
    let piece = bytes(4096, 11);
    let mut out = fs.create("/probe/log", CreateOptions::overwriting())?;
    for what in ["hflush", "hsync"] {
        let mut times = Vec::new();
        for _ in 0..500 {
            let start = Instant::now();
            out.write_all(&piece)?;
            if what == "hflush" {
                out.hflush()?
            } else {
                out.hsync()?
            }
            times.push(start.elapsed());
        }
        times.sort();
        println!("{what} 4 KB: p50 {:?} p99 {:?}", times[250], times[495]);
    }
    out.close()?;
    let start = Instant::now();
    for _ in 0..2000 {
        fs.status("/probe/log")?;
    }
    println!("status: {:?} each", start.elapsed() / 2000);
    let start = Instant::now();
    for at in 0..100 {
        let mut out = fs.create(&format!("/probe/small{at}"), CreateOptions::overwriting())?;
        out.write_all(&piece[..1024])?;
        out.close()?;
    }
    println!("small file: {:?} each", start.elapsed() / 100);
    Ok(())
}

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut conf = Conf::new();
    for pair in args.iter().filter_map(|a| a.split_once('=')) {
        conf.set(pair.0, pair.1);
    }
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let fs = FileSystem::connect(&conf, args.first().map(String::as_str))?;
    let section = args.get(1).map_or("all", String::as_str);
    let run = |name: &str| section == "all" || section == name;
    if run("basics") || run("names") {
        basics(&fs)?;
        println!("basics ok");
    }
    if run("names") {
        names(&fs)?;
        println!("names ok");
    }
    if run("appends") {
        appends(&fs)?;
        println!("appends ok");
    }
    if run("flushes") {
        flushes(&fs)?;
        println!("flushes ok");
    }
    if section == "speed" {
        speed(&fs, 1)?;
    }
    if section == "speed3" {
        speed(&fs, 3)?;
    }
    if section == "latency" {
        latency(&fs)?;
    }
    Ok(())
}
