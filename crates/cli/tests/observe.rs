//! `profile` and `heatmap`, and the pages behind them on every port of `up`, while files are written.
#![allow(clippy::disallowed_methods, reason = "this is a test")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::GzDecoder;
use serde_json::Value;
use support::{run, text, zerohop};

/// A cluster with its three kinds of ports.
struct Ports {
    child: Child,
    conf: String,
    namenode: String,
    datanode: String,
    gateway: String,
    /// Held open: a command whose reader is gone ends.
    _out: std::io::Lines<BufReader<ChildStdout>>,
}

impl Ports {
    fn start(data: &Path) -> Self {
        let mut command = zerohop(&["up", "--port", "0", "--http-port", "0", "--rest-port", "0"]);
        let mut child =
            command.arg("--data").arg(data).stdout(Stdio::piped()).spawn().expect("up starts");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (mut namenode, mut gateway, mut conf) = (String::new(), String::new(), None);
        while conf.is_none() {
            let line = lines.next().expect("up says where the configuration is").unwrap();
            let address =
                || line.split_once("http://").unwrap().1.split('/').next().unwrap().to_owned();
            match line.split_whitespace().next() {
                Some("web") => namenode = address(),
                Some("rest") => gateway = address(),
                _ => conf = line.split_once("HADOOP_CONF_DIR=").map(|(_, conf)| conf.to_owned()),
            }
        }
        let (conf, datanode) = (conf.unwrap(), datanode(&namenode));
        Self { child, conf, namenode, datanode, gateway, _out: lines }
    }

    fn fs(&self, args: &[&str]) -> Command {
        let mut command = zerohop(&["fs"]);
        command.args(args).env("HADOOP_CONF_DIR", &self.conf);
        command
    }
}

impl Drop for Ports {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body of a page, which must be there.
fn get(address: &str, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("the end of the head");
    let body = answer.split_off(end + 4);
    assert!(text(&answer).contains(" 200 "), "{path}: {}{}", text(&answer), text(&body));
    body
}

/// The HTTP address of the only DataNode.
fn datanode(namenode: &str) -> String {
    let page = get(namenode, "/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo");
    let page: Value = serde_json::from_slice(&page).unwrap();
    let live: Value =
        serde_json::from_str(page["beans"][0]["LiveNodes"].as_str().unwrap()).unwrap();
    let (_, node) = live.as_object().unwrap().iter().next().expect("a live DataNode");
    node["infoAddr"].as_str().unwrap().to_owned()
}

/// The roles in collapsed text; every line is one of a stack.
fn roles(collapsed: &str) -> BTreeSet<&str> {
    let role = |line| {
        let (stack, count): (&str, &str) = str::rsplit_once(line, ' ').expect("a count");
        assert!(count.parse::<u64>().is_ok_and(|count| count > 0), "{line}");
        stack.split(';').next().unwrap_or_default()
    };
    collapsed.lines().map(role).collect()
}

fn check_svg(picture: &str, has: &str) {
    let is_picture = picture.contains("<svg") && picture.trim_end().ends_with("</svg>");
    assert!(is_picture && picture.contains(has), "no {has} in {} bytes", picture.len());
}

/// Fields of a protobuf message: number, and bytes or number. Written from the format's description, not from our encoder.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>, u64)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let (number, kind) = (key >> 3, key & 7);
        match kind {
            0 => found.push((number, Vec::new(), varint(&mut bytes))),
            2 => {
                let len = varint(&mut bytes) as usize;
                let (value, rest) =
                    bytes.split_at_checked(len).expect("a field within its message");
                found.push((number, value.to_vec(), 0));
                bytes = rest;
            }
            other => panic!("wire type {other} of field {number}"),
        }
    }
    found
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("the end of a number");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return value;
        }
    }
    panic!("a number without an end");
}

/// The numbers of a packed field, or the one of a plain field.
fn numbers(field: &(u64, Vec<u8>, u64)) -> Vec<u64> {
    let (_, bytes, number) = field;
    let mut bytes = bytes.as_slice();
    if bytes.is_empty() {
        return vec![*number];
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        found.push(varint(&mut bytes));
    }
    found
}

/// What `go tool pprof` needs of a file: references that lead somewhere. Returns the values of the label `thread`.
fn check_pprof(file: &[u8]) -> BTreeSet<String> {
    let mut profile = Vec::new();
    GzDecoder::new(file).read_to_end(&mut profile).expect("gzip");
    let profile = fields(&profile);
    let of = |number| profile.iter().filter(move |field| field.0 == number);
    let strings: Vec<String> = of(6).map(|field| text(&field.1)).collect();
    assert_eq!(strings[0], "");
    let first = |message: &[u8], number| {
        fields(message).iter().find(|field| field.0 == number).map_or(0, |field| field.2)
    };
    let functions: BTreeMap<u64, &str> = of(5)
        .map(|field| (first(&field.1, 1), strings[first(&field.1, 2) as usize].as_str()))
        .collect();
    let mut locations = BTreeSet::new();
    for location in of(4) {
        locations.insert(first(&location.1, 1));
        let lines: Vec<_> = fields(&location.1).into_iter().filter(|field| field.0 == 4).collect();
        assert!(lines.iter().all(|line| functions.contains_key(&first(&line.1, 1))));
    }
    assert!(functions.values().any(|name| name.contains("zerohop")), "{functions:?}");
    let kinds: Vec<&str> = of(1).map(|kind| strings[first(&kind.1, 1) as usize].as_str()).collect();
    assert_eq!(kinds.first(), Some(&"samples"));
    let mut threads = BTreeSet::new();
    for sample in of(2) {
        let parts = fields(&sample.1);
        let all = |number| parts.iter().filter(move |part| part.0 == number);
        assert!(all(1).flat_map(numbers).all(|id| locations.contains(&id)));
        assert_eq!(all(2).flat_map(numbers).count(), kinds.len());
        for label in all(3) {
            assert_eq!(strings[first(&label.1, 1) as usize], "thread");
            threads.insert(strings[first(&label.1, 2) as usize].clone());
        }
    }
    threads
}

/// Writes a file again and again until it is told to stop: blocks, calls and edits without an end.
fn write_until(ports: &Ports, local: &Path, is_enough: &AtomicBool) {
    while !is_enough.load(Ordering::Relaxed) {
        let (code, _, err) = run(&mut ports.fs(&["-put", "-f", local.to_str().unwrap(), "/f"]));
        assert_eq!(code, 0, "{err}");
    }
}

#[test]
fn every_port_shows_what_the_process_does_while_files_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let ports = Ports::start(&directory.path().join("data"));
    let local = directory.path().join("local");
    fs::write(&local, vec![7; 32 << 20]).unwrap();
    let is_enough = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write_until(&ports, &local, &is_enough));
        let looked = scope.spawn(|| look(&ports, directory.path()));
        let looked = looked.join();
        is_enough.store(true, Ordering::Relaxed);
        writer.join().unwrap();
        looked.unwrap();
    });
    heat_maps(&ports, directory.path());
}

fn look(ports: &Ports, directory: &Path) {
    // Threads that wait are in it, too, so that those that need little time are found.
    let page = get(&ports.namenode, "/profile?seconds=1&hz=200&wait&format=collapsed");
    let page = text(&page);
    let found = roles(&page);
    for role in ["block receiver", "RPC reader", "edit-log syncer"] {
        assert!(found.contains(role), "no {role} in {found:?}");
    }
    let picture = text(&get(&ports.datanode, "/profile?seconds=0.5&hz=500"));
    check_svg(&picture, "block receiver");
    let threads = check_pprof(&get(&ports.gateway, "/profile?seconds=0.5&hz=500&format=pprof"));
    assert!(threads.contains("block receiver"), "{threads:?}");
    // The command finds the port by the process id.
    let pid = ports.child.id().to_string();
    let record = |name: &str, extra: &[&str]| {
        let file = directory.join(name);
        let mut command = zerohop(&["profile", "--pid", &pid, "--seconds", "0.5", "--hz", "500"]);
        let (code, _, err) = run(command.args(extra).arg("-o").arg(&file));
        assert_eq!(code, 0, "{name}: {err}");
        fs::read(file).unwrap()
    };
    let before = text(&record("before.txt", &[]));
    assert!(roles(&before).contains("block receiver"), "{before}");
    assert!(roles(&text(&record("after.txt", &["--wait"]))).contains("RPC reader"));
    check_svg(&text(&record("picture.svg", &[])), "block receiver");
    check_pprof(&record("file.pb.gz", &[]));
    let [from, to] = ["before.txt", "after.txt"].map(|name| directory.join(name));
    let mut command = zerohop(&["profile", "--diff"]);
    let (code, out, err) = run(command.args([&from, &to]));
    assert_eq!(code, 0, "{err}");
    check_svg(&out, "block receiver");
}

/// The volumes of all DataNodes of the process, with calls in them.
fn heat_maps(ports: &Ports, directory: &Path) {
    check_svg(&text(&get(&ports.namenode, "/heatmap")), " calls of ");
    check_svg(&text(&get(&ports.datanode, "/heatmap?minutes=5")), " calls of ");
    let file = directory.join("disks.json");
    let (code, _, err) = run(zerohop(&["heatmap", &ports.namenode, "-o"]).arg(&file));
    assert_eq!(code, 0, "{err}");
    let page: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let maps = page["maps"].as_array().unwrap();
    let writes = maps.iter().filter(|map| map["kind"] == "write");
    let count: u64 = writes.filter_map(|map| map["summary"]["count"].as_u64()).sum();
    assert!(count > 0, "{page}");
    let pid = ports.child.id().to_string();
    let (code, out, err) = run(&mut zerohop(&["heatmap", "--pid", &pid]));
    assert_eq!(code, 0, "{err}");
    check_svg(&out, " calls of ");
}

/// A corrupt replica left no line in a log, no count and no row of a page.
#[test]
fn a_corrupt_replica_is_logged_counted_and_listed() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let ports = Ports::start(&data);
    let local = directory.path().join("file");
    fs::write(&local, vec![7; 300_000]).unwrap();
    let (code, _, err) = run(ports.fs(&["-put"]).arg(&local).arg("/file"));
    assert_eq!(code, 0, "{err}");
    let replica = support::only_replica(&data.join("data1"));
    let mut bytes = fs::read(&replica).unwrap();
    bytes[150_000] ^= 1;
    fs::write(&replica, bytes).unwrap();
    // A reader over TCP tells the DataNode, whose scanner verifies the replica then.
    let remote = "dfs.client.read.shortcircuit=false";
    let window = "dfs.client.retry.window.base=10";
    let (code, ..) = run(&mut ports.fs(&["-D", remote, "-D", window, "-cat", "/file"]));
    assert_eq!(code, 1);
    let shown = replica.display().to_string();
    let page = support::until(|| {
        let page = text(&get(&ports.datanode, "/events"));
        page.contains("corrupt replica").then_some(page)
    });
    assert!(page.contains(&shown) && page.contains("found by the block scanner"), "{page}");
    let beans = get(&ports.datanode, "/jmx?qry=Hadoop:service=DataNode,name=Events");
    let beans: Value = serde_json::from_slice(&beans).unwrap();
    assert_eq!(beans["beans"][0]["CorruptReplicasFound"], 1, "{beans}");
    let log = fs::read_to_string(data.join("zerohop.log")).unwrap();
    let lines: Vec<&str> =
        log.lines().filter(|line| line.contains("corrupt replica: block ")).collect();
    assert!(
        lines.len() == 1 && lines[0].contains("WARN") && lines[0].contains(&shown),
        "{lines:?}"
    );
    // The NameNode names the file.
    let page = text(&get(&ports.namenode, "/events"));
    assert!(page.contains("corrupt replica") && page.contains("/file"), "{page}");
}
