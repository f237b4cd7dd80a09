//! Why a read was not local: reasons that seldom come by themselves, each seen in the statistics, and
//! right bytes all the same. And what goes well without slots.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use prost::Message;
use zerohop_client::blocking::FileSystem;
use zerohop_client::{ReadPath, ReadReason};
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SETTLE, client, footprint, over, put, shape};
use zerohop_interop::process::Process;
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, content, site, tools, wait};
use zerohop_proto::hdfs::{BlockOpResponseProto, ShortCircuitShmResponseProto, Status};
use zerohop_wire::transfer::op::OpCode;

use crate::client::{BLOCK, LEN, MAPPED, expect, read_all};
use crate::java::listing;
use crate::misfortune::{datanode, socket};

/// Somebody at a path who speaks as a DataNode does, and refuses: segments, as one that has none, and
/// every replica with `status`.
fn refuser(path: &Path, status: Status) -> Outcome {
    let listener = UnixListener::bind(path).at("a stranger's socket")?;
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || refuse(stream, status));
        }
    });
    Ok(())
}

fn refuse(mut stream: UnixStream, status: Status) {
    let mut request = [0; 4096];
    while let Ok(1..) = stream.read(&mut request) {
        let answer = if request[2] == OpCode::RequestShortCircuitShm as u8 {
            let status = Status::ErrorUnsupported as i32;
            let answer = ShortCircuitShmResponseProto { status, ..Default::default() };
            answer.encode_length_delimited_to_vec()
        } else {
            let (status, message) = (status as i32, Some("as the test wants".to_owned()));
            let answer = BlockOpResponseProto { status, message, ..Default::default() };
            answer.encode_length_delimited_to_vec()
        };
        if stream.write_all(&answer).is_err() {
            return;
        }
    }
}

fn over_tcp(fs: &FileSystem, reason: ReadReason) -> Outcome<String> {
    read_all(fs, "/ways", 1, LEN, (ReadPath::TcpLocal, reason))?;
    Ok(fs.read_statistics().detail.unwrap_or_default())
}

fn token_and_disabled(cluster: &Cluster, directory: &SocketDirectory) -> Outcome {
    let at = |name: &str, status| -> Outcome<FileSystem> {
        let path = directory.path().join(name);
        refuser(&path, status)?;
        client(&cluster.conf(), &[("dfs.domain.socket.path", &path.display().to_string())])
    };
    let no_token = at("no-token", Status::ErrorAccessToken)?;
    let said = over_tcp(&no_token, ReadReason::Token)?;
    expect(&said, said.contains("as the test wants"), true)?;
    let refusing = at("refusing", Status::Error)?;
    // Three blocks, three refusals: then there is a rest.
    let said = over_tcp(&refusing, ReadReason::Refused)?;
    expect(&said, said.contains("as the test wants"), true)?;
    let said = over_tcp(&refusing, ReadReason::Disabled)?;
    let rest = said.starts_with("disabled until ") && said.contains("UTC after 3 failures");
    expect(&said, rest, true)
}

/// With ever fewer descriptors to be had, bytes come or the process says why; somewhere in between
/// local reads are given up for want of descriptors.
fn few_descriptors(cluster: &Cluster) -> Outcome {
    let mut want = vec![0; LEN as usize];
    content::fill(1, 0, &mut want);
    let (mut local, mut limited) = (false, false);
    for limit in 10..30 {
        let line = format!(
            "ulimit -n {limit}; exec \"$0\" --config \"$1\" fs -Ddfs.client.retry.window.base=10 -cat -v /ways"
        );
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line]).arg(tools::zerohop()?).arg(cluster.conf());
        let output = command.output().at("sh")?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            expect(&format!("the bytes with {limit} descriptors"), output.stdout == want, true)?;
            limited |= said.contains("tcp-local") && said.contains("descriptor-limit (");
            local |= said.contains("local-mapped 3000000");
        } else {
            let tells = said.contains("Too many open files") || said.contains("os error 24");
            expect(&format!("with {limit} descriptors: {said}"), tells, true)?;
        }
    }
    expect("local, and limited", (local, limited), (true, true))
}

/// A kept connection carries a long answer, then a short one: the mark that a reader sets for the
/// long one must not make it wait for more than the short one has.
fn short_behind_long(cluster: &Cluster) -> Outcome {
    let fs = client(&cluster.conf(), &[("dfs.client.read.shortcircuit", "false")])?;
    let reader = fs.open("/ways").at("/ways")?;
    let start = Instant::now();
    for round in 0..100 {
        for (at, len) in [(0, 128 << 10), (200_000 + round, 4096), (300_000, 1), (0, 300_000)] {
            let (mut out, mut want) = (vec![0; len], vec![0; len]);
            reader.read_exact_at(at, &mut out).at("read")?;
            content::fill(1, at, &mut want);
            expect("bytes", out == want, true)?;
        }
    }
    let took = start.elapsed();
    expect(&format!("400 reads took {took:?}"), took < Duration::from_secs(10), true)?;
    // One connection, kept all the time.
    let port = format!("0100007F:{:04X}", cluster.site.data_ports[0]);
    let table = fs::read_to_string("/proc/net/tcp").at("/proc/net/tcp")?;
    let of_clients = |line: &&str| {
        let mut fields = line.split_whitespace().skip(2);
        fields.next() == Some(&port) && fields.next() == Some("01")
    };
    let connections: Vec<&str> = table.lines().filter(of_clients).collect();
    expect(&format!("{connections:?}"), connections.len(), 1)
}

/// Files and maps of a cluster's DataNodes that this process holds.
fn held(cluster: &Cluster) -> usize {
    let directory = cluster.directory().canonicalize().unwrap_or_default().display().to_string();
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let links = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let links = links.filter_map(|entry| fs::read_link(entry.path()).ok());
    let of_cluster = |name: &str| name.contains(&directory) && name.contains("/blk_");
    maps.lines().filter(|line| of_cluster(line)).count()
        + links.filter(|link| of_cluster(&link.display().to_string())).count()
}

/// Descriptors without a slot, because there is no segment to be had: reads are local, and neither end
/// keeps anything.
pub fn without_slots(cluster: &Cluster, datanode: u32) -> Outcome {
    let none = ("dfs.client.read.shortcircuit.streams.cache.size", "0");
    let fs = client(&cluster.conf(), &[none])?;
    read_all(&fs, "/ways", 1, LEN, MAPPED)?;
    let before = (held(cluster), footprint(datanode)?.1);
    for _ in 0..20 {
        read_all(&fs, "/ways", 1, LEN, MAPPED)?;
    }
    expect("replicas were asked for", fs.read_statistics().cache_misses, 63)?;
    // A DataNode that just started opens files of its own for a moment.
    wait::until("files, maps and the DataNode's descriptors are as before", SETTLE, || {
        let after = (held(cluster), footprint(datanode)?.1);
        match after.0 <= before.0 && after.1 < before.1 + 4 {
            true => Ok(true),
            false => Err(format!("{before:?} -> {after:?}")),
        }
    })?;
    drop(fs);
    wait::until("nothing is held", SETTLE, || Ok(held(cluster) == 0))
}

fn no_segments(cluster: &mut Cluster) -> Outcome {
    cluster.stop_datanode(0)?;
    let one = "-Dzerohop.datanode.shortcircuit.segments.max=1";
    let log = cluster.site.log("dn0");
    let mut other = Process::daemon("DataNode 0", datanode(cluster, &[one])?, &log)?;
    // Whoever comes first has the only segment.
    let mut first = cluster.client_with(Kind::Ours, &["dfs.client.retry.window.base=10"])?;
    wait::until("the DataNode serves", SETTLE, || {
        first.ok(&["open", "r", "/ways"])?;
        first.ok(&["pread", "r", "0", "1000"]).map(|_| true)
    })?;
    wait::until("the only segment is given", SETTLE, || {
        first.ok(&["pread", "r", "0", "1000"])?;
        let segments = listing(cluster, 0)?["segments"].as_array().map_or(0, Vec::len);
        if segments == 1 { Ok(true) } else { Err(format!("{segments} segments")) }
    })?;
    without_slots(cluster, other.id())?;
    drop(first);
    other.stop(SETTLE)?;
    drop(other);
    cluster.start_datanode(0)?;
    cluster.wait_serving()
}

/// A second DataNode with the first one's socket path is not started.
fn one_path_for_two(cluster: &Cluster, directory: &SocketDirectory) -> Outcome {
    let data = format!("-Ddfs.datanode.data.dir={}", cluster.directory().join("twin").display());
    let path = socket(directory, cluster, 0);
    let path = format!("-Ddfs.domain.socket.path={}", path.display());
    let ports = ["address", "ipc.address", "http.address"];
    let ports = ports.map(|name| format!("-Ddfs.datanode.{name}=127.0.0.1:0"));
    let words: Vec<&str> = [&data, &path].into_iter().chain(&ports).map(String::as_str).collect();
    let log = cluster.site.log("twin");
    let status = Process::daemon("a twin", datanode(cluster, &words)?, &log)?.finish(SETTLE)?;
    let said = fs::read_to_string(&log).unwrap_or_default();
    let pid = format!("pid {}", cluster.process_ids().1[0]);
    expect(&format!("{status}, {pid}:\n{said}"), !status.success() && said.contains(&pid), true)
}

#[test]
fn every_reason_is_told() {
    let directory = SocketDirectory::make("reasons").unwrap();
    let settings = site::settings(&[
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &directory.setting()),
    ]);
    let (name, ours) = ("shortcircuit-reasons", Kind::Ours);
    let spec = Spec { name, namenode: ours, datanodes: ours, count: 1, settings };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        put(&fs, "/ways", 1, LEN, shape(1, BLOCK))?;
        drop(fs);
        short_behind_long(cluster).at("a short answer behind a long one")?;
        token_and_disabled(cluster, &directory).at("refusals")?;
        few_descriptors(cluster).at("few descriptors")?;
        one_path_for_two(cluster, &directory).at("one path for two")?;
        no_segments(cluster).at("no segments")
    });
}
