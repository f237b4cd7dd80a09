//! Files and directories that change while a client reads them, on servers of either kind. Apache's client is the control.

mod gone;

use std::fs as disk;
use std::path::Path;

use zerohop_client::blocking::FileSystem;
use zerohop_client::{AppendOptions, CreateOptions, ErrorKind, FileStatus, User};
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, SETTLE, blocks, check_rest, client, over, put, shape, write, zerohop,
};
use zerohop_interop::site::settings;
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, content, wait};

const BLOCK: u64 = 1 << 20;
/// Names per page of a listing.
const PAGE: usize = 100;
/// Names in a test directory: one and a half pages.
const NAMES: usize = 150;

fn make_directory(fs: &FileSystem, path: &str) -> Outcome {
    for at in 0..NAMES {
        let mut file =
            fs.create(&format!("{path}/{at:04}"), CreateOptions::overwriting()).at(path)?;
        file.close().at(path)?;
    }
    Ok(())
}

/// Describes a page, to compare it.
fn page(listed: Option<zerohop_client::Result<Vec<FileStatus>>>) -> String {
    match listed {
        Some(Ok(page)) => page.len().to_string(),
        Some(Err(error)) => format!("{:?}: {error}", error.kind()),
        None => "the end".to_owned(),
    }
}

/// A directory that was renamed, deleted or replaced between two pages used to end after the first page.
fn a_directory_goes_between_two_pages(cluster: &mut Cluster, fs: &FileSystem) -> Outcome {
    for change in ["rename", "delete", "file"] {
        let path = format!("/{change}");
        make_directory(fs, &path)?;
        let mut ours = fs.list_pages(&path).at(&path)?;
        let mut entries = fs.entries(&path);
        let first = page(ours.next());
        let one = entries.next().map(|entry| entry.map(|entry| entry.name().to_owned()));
        cluster.judge()?.ok(&["iterate", "i", &path])?;
        cluster.judge()?.gives(&["entries", "i", "1"], &["1"])?;
        match change {
            "rename" => fs.rename(&path, "/elsewhere").at("rename")?,
            _ => fs.delete(&path, true).at("delete")?,
        };
        if change == "file" {
            put(fs, &path, 1, 10, shape(1, BLOCK))?;
        }
        let got = (first, page(ours.next()), page(ours.next()));
        let gone = format!("NotFound: File {path} does not exist.");
        if got != (PAGE.to_string(), gone, "the end".to_owned()) {
            return Err(format!("{change}: {got:?}"));
        }
        let (mut count, mut failed) = (usize::from(matches!(one, Some(Ok(_)))), None);
        for entry in entries {
            match entry {
                Ok(_) => count += 1,
                Err(error) => failed = Some(error.kind()),
            }
        }
        if (count, failed) != (PAGE, Some(ErrorKind::NotFound)) {
            return Err(format!("{change}: {count} entries, then {failed:?}"));
        }
        // Apache's client fails too, except that it takes a file for the last page.
        match change {
            "file" => cluster.judge()?.gives(&["entries", "i", "999"], &["100"])?,
            _ => {
                let fails = &["entries", "i", "999"];
                let text = cluster.judge()?.fails("", fails, "FileNotFoundException")?;
                if !text.contains("does not exist") {
                    return Err(text);
                }
            }
        }
        _ = fs.delete("/elsewhere", true);
    }
    Ok(())
}

/// Length of `/s/f` in the snapshot: one and a half blocks.
const LEN: u64 = BLOCK + BLOCK / 2;

fn crc_of(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

/// Checks that every way to read returns the content at the time of the snapshot.
fn the_snapshot_is_as_long_as_it_was(cluster: &mut Cluster, fs: &FileSystem) -> Outcome {
    let path = "/s/.snapshot/s1/f";
    let (len, crc) = (LEN.to_string(), content::crc(7, 0, LEN));
    cluster.judge()?.gives(&["read", path, "0", "-1"], &[&len, &crc]).at("Apache's client")?;
    let mut reader = fs.open(path).at(path)?;
    check_rest(&mut reader, 7)?;
    let from = BLOCK + 1000;
    let mut out = vec![0; BLOCK as usize];
    let read = reader.read_at(from, &mut out).at("read_at")? as u64;
    let mut want = vec![0; (LEN - from) as usize];
    content::fill(7, from, &mut want);
    if (reader.pos(), reader.len(), read) != (LEN, LEN, LEN - from) || out[..want.len()] != want {
        return Err(format!("{} of {} bytes, {read} at {from}", reader.pos(), reader.len()));
    }
    for mode in ["MD5MD5CRC", "COMPOSITE_CRC"] {
        let fs = client(&cluster.conf(), &[("dfs.checksum.combine.mode", mode)])?;
        let ours = fs.checksum(path).at("checksum")?.ok_or("no checksum")?;
        let hex: String = ours.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut apache =
            cluster.client_with(Kind::Apache, &[&format!("dfs.checksum.combine.mode={mode}")])?;
        apache.gives(&["checksum", path], &[&ours.algorithm, &hex])?;
    }
    let local = cluster.directory().join("got");
    let shell = |words: &[&str]| {
        let (code, output) = zerohop(&cluster.site.conf(), words)?;
        if code == 0 { Ok(output) } else { Err(format!("{words:?}: {output}")) }
    };
    _ = disk::remove_file(&local);
    shell(&["fs", "-get", path, &local.display().to_string()])?;
    let got = crc_of(&disk::read(&local).at("-get")?);
    let catted = zerohop_bytes(&cluster.conf(), &["fs", "-cat", path])?;
    shell(&["fs", "-cp", "-f", path, "/copied"])?;
    let uri = cluster.uri();
    shell(&["distcp", "-overwrite", &format!("{uri}{path}"), &format!("{uri}/distcp")])?;
    let all = (got, crc_of(&catted));
    if all != (crc.clone(), crc.clone()) {
        return Err(format!("-get, -cat: {all:?}, not {crc}"));
    }
    for copy in ["/copied", "/distcp"] {
        cluster.judge()?.gives(&["read", copy, "0", "-1"], &[&len, &crc]).at(copy)?;
    }
    Ok(())
}

fn zerohop_bytes(conf: &Path, words: &[&str]) -> Outcome<Vec<u8>> {
    let mut command = std::process::Command::new(zerohop_interop::tools::zerohop()?);
    let output = command.arg("--config").arg(conf).args(words).output().at("zerohop")?;
    Ok(output.stdout)
}

/// Reads of a snapshot used to continue into bytes that were appended later.
fn a_snapshot_s_file_grows_outside_of_it(cluster: &mut Cluster, fs: &FileSystem) -> Outcome {
    let local = client(&cluster.conf(), &[("dfs.client.read.shortcircuit", "true")])?;
    put(fs, "/s/f", 7, LEN, shape(1, BLOCK))?;
    fs.allow_snapshot("/s", true).at("allow")?;
    fs.create_snapshot("/s", Some("s1")).at("snapshot")?;
    let mut writer = fs.append("/s/f", AppendOptions::default()).at("append")?;
    // First an append within the last block of the snapshot, read while the file is open.
    write(&mut writer, 7, 100_000).and_then(|()| writer.hflush()).at("write")?;
    the_snapshot_is_as_long_as_it_was(cluster, fs).at("while it is written")?;
    the_snapshot_is_as_long_as_it_was(cluster, &local).at("local, while it is written")?;
    write(&mut writer, 7, BLOCK).and_then(|()| writer.close()).at("write")?;
    the_snapshot_is_as_long_as_it_was(cluster, fs).at("when it was written")?;
    the_snapshot_is_as_long_as_it_was(cluster, &local).at("local, when it was written")?;
    let mut reader = fs.open("/s/f").at("open")?;
    check_rest(&mut reader, 7)?;
    match reader.pos() == LEN + 100_000 + BLOCK {
        true => Ok(()),
        false => Err(format!("the file itself: {} bytes", reader.pos())),
    }
}

/// A reader used to continue in another file that replaced the open one, as Apache's client does.
fn a_path_is_replaced_under_an_open_reader(cluster: &mut Cluster) -> Outcome {
    let prefetch = BLOCK.to_string();
    let fs = client(&cluster.conf(), &[("dfs.client.read.prefetch.size", &prefetch)])?;
    let setting = format!("dfs.client.read.prefetch.size={prefetch}");
    let mut apache = cluster.client_with(Kind::Apache, &[&setting])?;
    put(&fs, "/r", 21, 4 * BLOCK, shape(1, BLOCK))?;
    let mut readers = Vec::new();
    for _ in 0..2 {
        let reader = fs.open("/r").at("open")?;
        reader.read_exact_at(0, &mut [0; 10]).at("its first bytes")?;
        readers.push(reader);
    }
    apache.ok(&["open", "r", "/r"])?;
    // After an append, the readers continue.
    let mut writer = fs.append("/r", AppendOptions::default()).at("append")?;
    write(&mut writer, 21, BLOCK).and_then(|()| writer.close()).at("append")?;
    let (mut got, mut want) = ([0; 1000], [0; 1000]);
    let appended = fs.open("/r").at("open")?;
    readers[0].read_exact_at(2 * BLOCK, &mut got).at("after an append")?;
    content::fill(21, 2 * BLOCK, &mut want);
    if got != want {
        return Err("wrong bytes after an append".to_owned());
    }
    put(&fs, "/r", 22, 5 * BLOCK, shape(1, BLOCK))?;
    for reader in readers.iter().chain([&appended]) {
        match reader.read_at(3 * BLOCK + 10, &mut got) {
            Err(error) if error.to_string().starts_with("Blocklist for /r has changed!") => {}
            other => return Err(format!("after the replacement: {other:?}")),
        }
    }
    let at = (3 * BLOCK + 10).to_string();
    let other = content::crc(22, 3 * BLOCK + 10, 1000);
    apache.gives(&["pread", "r", &at, "1000"], &["1000", &other])
}

/// After a restart of its DataNode, a replica under construction waits for recovery and has the visible length -1. The length of
/// the other replica counts.
fn a_replica_waits_for_its_recovery(cluster: &mut Cluster, fs: &FileSystem) -> Outcome {
    let mut writer = cluster.client(Kind::Apache)?;
    writer.ok(&["create", "w", "/waits", "2", &BLOCK.to_string(), "true"])?;
    writer.ok(&["write", "w", "700000", "31"])?;
    writer.ok(&["hflush", "w"])?;
    writer.kill();
    cluster.kill_datanode(0);
    cluster.start_datanode(0)?;
    cluster.wait_serving()?;
    wait::until("both replicas are reported", SETTLE, || {
        let count = blocks(fs, "/waits")?.last().map_or(0, |block| block.replicas.len());
        if count == 2 { Ok(true) } else { Err(format!("{count} of 2")) }
    })?;
    // The NameNode shuffles the DataNodes, so that each of them comes first in some answers.
    for _ in 0..20 {
        let mut reader = fs.open("/waits").at("open")?;
        if reader.len() != 700_000 {
            return Err(format!("{} bytes", reader.len()));
        }
        check_rest(&mut reader, 31)?;
    }
    cluster
        .judge()?
        .gives(&["read", "/waits", "0", "-1"], &["700000", &content::crc(31, 0, 700_000)])
}

/// Negative numbers, which the protocol declares unsigned, used to be taken for large ones.
fn negative_numbers_are_refused(cluster: &mut Cluster) -> Outcome {
    for (words, what) in [
        (&["locations", "/r", "-5", "10"][..], "offset"),
        (&["locations", "/r", "5", "-10"], "length"),
    ] {
        let text = cluster.judge()?.fails("", words, "IllegalArgumentException")?;
        if text != format!("Negative {what} is not supported. File: /r") {
            return Err(text);
        }
    }
    let words = &["create", "w", "/negative", "1", "-512", "true"];
    let text = cluster.judge()?.fails("", words, "IOException|RemoteException")?;
    match text.contains("is less than configured minimum value") {
        true => Ok(()),
        false => Err(text),
    }
}

fn all(namenode: Kind, datanodes: Kind) {
    let name = format!("reading-{namenode:?}-{datanodes:?}").to_lowercase();
    let sockets = SocketDirectory::make(&name).unwrap_or_else(|e| panic!("{e}"));
    let settings = settings(&[
        ("dfs.ls.limit", &PAGE.to_string()),
        ("dfs.namenode.fs-limits.min-block-size", "1"),
        ("dfs.domain.socket.path", &sockets.setting()),
        ("dfs.datanode.shared.file.descriptor.paths", "/dev/shm,/tmp"),
        ("dfs.block.local-path-access.user", &User::of_process().name),
    ]);
    let spec = Spec { name: &name, namenode, datanodes, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        let remote = client(&cluster.conf(), &[])?;
        let outcomes = [
            a_directory_goes_between_two_pages(cluster, &remote).at("a directory"),
            a_path_is_replaced_under_an_open_reader(cluster).at("a path"),
            // Our NameNode has no snapshots.
            match namenode {
                Kind::Apache => a_snapshot_s_file_grows_outside_of_it(cluster, &remote),
                Kind::Ours => Ok(()),
            }
            .at("a snapshot"),
            negative_numbers_are_refused(cluster).at("negative numbers"),
            a_replica_waits_for_its_recovery(cluster, &remote).at("a replica"),
        ];
        let failed: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
        if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
    });
}

#[test]
fn what_changes_while_it_is_read_on_our_servers() {
    all(Kind::Ours, Kind::Ours);
}

#[test]
fn what_changes_while_it_is_read_on_apache_servers() {
    all(Kind::Apache, Kind::Apache);
}

#[test]
fn what_changes_while_it_is_read_on_our_datanodes() {
    all(Kind::Apache, Kind::Ours);
}
