//! Faults: callers, DataNodes, NameNodes and gateways that go away in the middle of a request, disks that are full, and quotas.
//!
//! The tests share a cluster of three DataNodes. Each has it for itself, and leaves what it stopped running again.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::{ErrorKind, Write};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use zerohop_client::AppendOptions;
use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{
    Explain, SmallDisks, blocks, check, client, nodes, put, shape, wait_nodes,
};
use zerohop_interop::http::{Answer, Connection};
use zerohop_interop::process::Process;
use zerohop_interop::{Kind, Outcome, content, site, wait};

use crate::gateway::{Gateway, gateway};

const BLOCK: u64 = 4 << 20;
const LIMIT: Duration = Duration::from_secs(120);
const OCTETS: (&str, &str) = ("Content-Type", "application/octet-stream");

/// What the tests share.
struct Shared {
    cluster: Cluster,
    gateway: Gateway,
    fs: FileSystem,
}

impl Shared {
    fn start() -> Outcome<Self> {
        let settings = site::settings(&[("dfs.blocksize", "4194304"), ("dfs.replication", "2")]);
        let (namenode, datanodes) = (Kind::Ours, Kind::Ours);
        let spec = Spec { name: "rest-faults", namenode, datanodes, count: 3, settings };
        let cluster = Cluster::start(&spec)?;
        // A reader gives up when all DataNodes are gone, and not after a minute.
        let gateway = gateway(&cluster, &["dfs.client.retry.window.base=200"])?;
        let fs = client(&cluster.conf(), &[])?;
        Ok(Self { cluster, gateway, fs })
    }

    /// All runs.
    fn restore(&mut self, killed: &[usize]) -> Outcome {
        for i in killed {
            self.cluster.start_datanode(*i)?;
        }
        self.cluster.wait_serving()
    }

    /// The status of a path.
    fn status(&self, path: &str) -> Outcome<u16> {
        let target = format!("/webhdfs/v1{path}?op=GETFILESTATUS&user.name=root");
        Ok(self.gateway.ask("GET", &target, &[], b"")?.status)
    }

    /// Begins an upload of unknown length.
    fn begin(&self, method: &str, path: &str, query: &str) -> Outcome<Connection> {
        let mut connection = self.gateway.connect()?;
        let target = format!("/webhdfs/v1{path}?{query}&data=true&user.name=root");
        connection.begin(method, &target, &[OCTETS]).at(path)?;
        Ok(connection)
    }
}

/// Runs a test; its cluster's logs stay when it fails.
fn with_shared(test: impl FnOnce(&mut Shared) -> Outcome) {
    static SHARED: Mutex<Weak<Mutex<Shared>>> = Mutex::new(Weak::new());
    let shared = {
        let mut running = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        running.upgrade().unwrap_or_else(|| {
            let started = Arc::new(Mutex::new(Shared::start().unwrap()));
            *running = Arc::downgrade(&started);
            started
        })
    };
    let mut shared: MutexGuard<'_, Shared> = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let done = test(&mut shared);
    if let Err(failure) = done {
        shared.cluster.keep_logs = true;
        panic!("{failure}\n{}\n{}", shared.gateway.log(), shared.cluster.logs());
    }
}

/// Sends the bytes from `from` to `to` of the stream of `seed`, in chunks.
fn send(connection: &mut Connection, seed: u64, from: u64, to: u64) -> Outcome {
    let mut at = from;
    while at < to {
        let mut piece = vec![0; (to - at).min(1 << 16) as usize];
        content::fill(seed, at, &mut piece);
        connection.send_chunk(&piece).at("sending")?;
        at += piece.len() as u64;
    }
    Ok(())
}

/// Ends an upload.
fn end(connection: &mut Connection) -> Outcome<Answer> {
    connection.send_chunk(b"").at("ending")?;
    connection.answer(false).at("the answer")
}

fn is(answer: &Answer, status: u16) -> Outcome {
    match answer.status == status {
        true => Ok(()),
        false => Err(format!("not {status}: {} {}", answer.status, answer.text())),
    }
}

/// Whether bytes are those of the stream of `seed` from its beginning.
fn is_beginning(bytes: &[u8], seed: u64) -> bool {
    let mut expected = vec![0; bytes.len()];
    content::fill(seed, 0, &mut expected);
    bytes == expected
}

#[test]
fn a_caller_that_disappears_in_mid_upload_leaves_no_half_file_and_no_lease() {
    with_shared(|shared| {
        // A new file, and one in place of another. More than a block was sent.
        put(&shared.fs, "/gone/old", 1, 1000, shape(2, BLOCK))?;
        for path in ["/gone/new", "/gone/old"] {
            let mut upload = shared.begin("PUT", path, "op=CREATE&overwrite=true")?;
            send(&mut upload, 2, 0, BLOCK + 100_000)?;
            let list = |fs: &FileSystem| fs.list("/gone").at("a list");
            wait::until("the upload has a block", LIMIT, || {
                Ok(list(&shared.fs)?.iter().any(|file| {
                    !matches!(file.path.as_str(), "/gone/old")
                        && blocks(&shared.fs, &file.path).is_ok_and(|b| !b.is_empty())
                }))
            })?;
            check(&shared.fs, "/gone/old", 1, 1000)?;
            drop(upload);
            wait::until("nothing of it is left", LIMIT, || Ok(list(&shared.fs)?.len() == 1))?;
            check(&shared.fs, "/gone/old", 1, 1000)?;
        }
        // Nobody holds the paths: another client takes them at once.
        put(&shared.fs, "/gone/new", 3, 1000, shape(2, BLOCK).overwrite(false))?;
        put(&shared.fs, "/gone/old", 3, 1000, shape(2, BLOCK))?;
        check(&shared.fs, "/gone/old", 3, 1000)
    });
}

#[test]
fn a_gateway_that_is_stopped_answers_what_is_under_way_and_closes_what_is_open() {
    with_shared(|shared| {
        let mut gateway = gateway(&shared.cluster, &["zerohop.gateway.append.idle.ms=600000"])?;
        let (file, log) = ("/stopped/file", "/stopped/log");
        let append =
            format!("/webhdfs/v1{log}?op=APPEND&createflag=CREATE&data=true&user.name=root");
        is(&gateway.ask("POST", &append, &[OCTETS], b"before\n")?, 200)?;
        let (mut upload, mut line) = (gateway.connect()?, gateway.connect()?);
        let create = format!("/webhdfs/v1{file}?op=CREATE&data=true&user.name=root");
        upload.begin("PUT", &create, &[OCTETS]).at(file)?;
        send(&mut upload, 7, 0, BLOCK / 2)?;
        line.begin("POST", &append, &[OCTETS]).at(log)?;
        line.send_chunk(b"dur").at(log)?;
        wait::until("the upload has a block", LIMIT, || {
            Ok(blocks(&shared.fs, file).is_ok_and(|blocks| !blocks.is_empty()))
        })?;
        let port = gateway.port;
        std::thread::scope(|scope| {
            let stopping = scope.spawn(|| gateway.stop());
            wait::until("the port is closed", LIMIT, || Ok(Connection::open(port).is_err()))?;
            send(&mut upload, 7, BLOCK / 2, 2 * BLOCK)?;
            is(&end(&mut upload)?, 201)?;
            line.send_chunk(b"ing\n").at(log)?;
            is(&end(&mut line)?, 200)?;
            stopping.join().unwrap()
        })?;
        check(&shared.fs, file, 7, 2 * BLOCK)?;
        // Nobody holds the log: another client appends at once.
        let mut more = shared.fs.append(log, AppendOptions::default()).at("append")?;
        more.write_all(b"after\n").at("append")?;
        more.close().at("append")?;
        let read = shared.gateway.ask("GET", &format!("{log}?user.name=root"), &[], b"")?.text();
        match read == "before\nduring\nafter\n" {
            true => Ok(()),
            false => Err(format!("{read:?}")),
        }
    });
}

#[test]
fn a_gateway_limits_the_requests_and_connections_of_one_caller() {
    with_shared(|shared| {
        let limits = [
            "zerohop.gateway.requests.per.second=1",
            "zerohop.gateway.connections.per.address.max=2",
        ];
        let gateway = gateway(&shared.cluster, &limits)?;
        let target = "/webhdfs/v1/?op=GETFILESTATUS&user.name=root";
        let mut first = gateway.connect()?;
        is(&first.ask("GET", target, &[], b"").at(target)?, 200)?;
        let mut refused = None;
        wait::until("a request is one too many", LIMIT, || {
            let answer = first.ask("GET", target, &[], b"").at(target)?;
            refused = Some(answer).filter(|answer| answer.status == 429);
            Ok(refused.is_some())
        })?;
        if refused.is_none_or(|answer| answer.header("retry-after").is_none()) {
            return Err("it is not said when to ask again".to_owned());
        }
        // Those that are refused are answered; a third connection is not.
        let mut second = gateway.connect()?;
        second.ask("GET", target, &[], b"").at(target)?;
        if gateway.connect()?.ask("GET", target, &[], b"").is_ok() {
            return Err("a third connection was served".to_owned());
        }
        drop(second);
        wait::until("there is room for another connection", LIMIT, || {
            Ok(gateway.connect()?.ask("GET", target, &[], b"").is_ok())
        })
    });
}

/// The first upload's file was deleted by its name, which the second one's had by then.
#[test]
fn an_upload_that_fails_leaves_the_file_of_a_later_one() {
    with_shared(|shared| {
        let path = "/later/file";
        let mut first = shared.begin("PUT", path, "op=CREATE&overwrite=true")?;
        send(&mut first, 2, 0, BLOCK / 2)?;
        wait::until("the first upload has a block", LIMIT, || {
            Ok(blocks(&shared.fs, path).is_ok_and(|blocks| !blocks.is_empty()))
        })?;
        let target = format!("/webhdfs/v1{path}?op=CREATE&data=true&user.name=root");
        is(&shared.gateway.ask("PUT", &target, &[OCTETS], b"the later one")?, 201)?;
        is(&end(&mut first)?, 404)?;
        let read = shared.gateway.ask("GET", &format!("{path}?user.name=root"), &[], b"")?;
        match read.text() == "the later one" {
            true => Ok(()),
            false => Err(format!("{} {}", read.status, read.text())),
        }
    });
}

#[test]
fn a_datanode_killed_during_an_upload_leaves_the_pipeline() {
    with_shared(|shared| {
        let (path, len) = ("/killed/upload", 2 * BLOCK + 100_000);
        let mut upload = shared.begin("PUT", path, "op=CREATE")?;
        send(&mut upload, 4, 0, BLOCK / 2)?;
        wait::until("the block has a pipeline", LIMIT, || {
            Ok(nodes(&shared.cluster, &shared.fs, path).is_ok_and(|nodes| nodes.len() == 2))
        })?;
        let victim = nodes(&shared.cluster, &shared.fs, path)?[0];
        shared.cluster.kill_datanode(victim);
        send(&mut upload, 4, BLOCK / 2, len)?;
        is(&end(&mut upload)?, 201)?;
        check(&shared.fs, path, 4, len)?;
        shared.restore(&[victim])
    });
}

#[test]
fn a_datanode_killed_during_a_download_is_replaced_and_without_any_the_answer_is_short() {
    with_shared(|shared| {
        let (path, len) = ("/killed/download", 8 * BLOCK);
        put(&shared.fs, path, 5, len, shape(2, BLOCK))?;
        let target = format!("/webhdfs/v1{path}?op=OPEN&user.name=root");
        let begin = |shared: &Shared| -> Outcome<(Connection, Answer)> {
            let mut connection = shared.gateway.connect()?;
            let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            connection.send(request.as_bytes()).at("asking")?;
            let mut answer = connection.answer_head().at("the head")?;
            is(&answer, 200)?;
            if !connection.take(BLOCK / 4, &mut answer.body) {
                return Err("the beginning did not come".to_owned());
            }
            Ok((connection, answer))
        };
        // Each of them holds some of the blocks, and the gateway reads from some of those.
        for victim in 0..3 {
            let (mut connection, mut answer) = begin(shared)?;
            shared.cluster.kill_datanode(victim);
            let is_whole = connection.take(len - BLOCK / 4, &mut answer.body);
            if !is_whole || !is_beginning(&answer.body, 5) {
                return Err(format!("without DataNode {victim}: {} bytes", answer.body.len()));
            }
            shared.restore(&[victim])?;
        }
        let (mut connection, mut answer) = begin(shared)?;
        (0..3).for_each(|i| shared.cluster.kill_datanode(i));
        let is_whole = connection.take(len - BLOCK / 4, &mut answer.body);
        let is_short = !is_whole && connection.is_closed() && is_beginning(&answer.body, 5);
        shared.restore(&[0, 1, 2])?;
        match is_short {
            true => Ok(()),
            false => Err(format!("{} bytes without a DataNode", answer.body.len())),
        }
    });
}

#[test]
fn a_namenode_that_is_restarted_is_waited_for() {
    with_shared(|shared| {
        let (path, log) = ("/restarted/upload", "/restarted/log");
        let mut upload = shared.begin("PUT", path, "op=CREATE")?;
        send(&mut upload, 6, 0, BLOCK / 2)?;
        let append = |shared: &Shared, line: &str, offset: usize| {
            let query =
                format!("op=APPEND&createflag=CREATE&offset={offset}&data=true&user.name=root");
            let target = format!("/webhdfs/v1{log}?{query}");
            shared.gateway.ask("POST", &target, &[OCTETS], line.as_bytes())
        };
        is(&append(shared, "before\n", 0)?, 200)?;
        shared.cluster.kill_namenode();
        shared.cluster.start_namenode()?;
        // Sent while the NameNode starts.
        let status = shared.status("/restarted")?;
        shared.cluster.wait_serving()?;
        wait::until("the log is appended to again", LIMIT, || {
            let answer = append(shared, "after\n", 7)?;
            if answer.status == 200 { Ok(true) } else { Err(answer.text()) }
        })?;
        send(&mut upload, 6, BLOCK / 2, 2 * BLOCK)?;
        is(&end(&mut upload)?, 201)?;
        check(&shared.fs, path, 6, 2 * BLOCK)?;
        let read = shared.gateway.ask("GET", &format!("{log}?user.name=root"), &[], b"")?;
        match (status, read.text().as_str()) {
            (200, "before\nafter\n") => Ok(()),
            found => Err(format!("{found:?}")),
        }
    });
}

#[test]
fn a_quota_refuses_an_upload_and_leaves_what_was_there() {
    with_shared(|shared| {
        let ask = |shared: &Shared, method: &str, target: &str, body: &[u8]| {
            shared.gateway.ask(
                method,
                &format!("/webhdfs/v1{target}&user.name=root"),
                &[OCTETS],
                body,
            )
        };
        let create = "?op=CREATE&data=true&replication=1&blocksize=1048576";
        is(&ask(shared, "PUT", &format!("/quota/old{create}"), b"as it was")?, 201)?;
        let limit = "?op=SETQUOTA&namespacequota=4&storagespacequota=4194304";
        is(&ask(shared, "PUT", &format!("/quota{limit}"), b"")?, 200)?;
        let large = vec![7; 6 << 20];
        for (path, kind) in
            [("/quota/old", "DSQuotaExceededException"), ("/quota/new", "DSQuotaExceededException")]
        {
            let answer = ask(shared, "PUT", &format!("{path}{create}"), &large)?;
            is(&answer, 500)?;
            if !answer.text().contains(kind) {
                return Err(answer.text());
            }
        }
        let grown = ask(shared, "POST", "/quota/old?op=APPEND&data=true", &large)?;
        is(&grown, 500)?;
        wait::until("what was not finished is gone", LIMIT, || {
            Ok(shared.fs.list("/quota").at("a list")?.len() == 1)
        })?;
        // The append may have written a beginning of its body, which takes the room.
        let more = "?op=SETQUOTA&namespacequota=4&storagespacequota=-1";
        is(&ask(shared, "PUT", &format!("/quota{more}"), b"")?, 200)?;
        for name in ["a", "b"] {
            is(&ask(shared, "PUT", &format!("/quota/{name}{create}"), b"x")?, 201)?;
        }
        let answer = ask(shared, "PUT", &format!("/quota/c{create}"), b"x")?;
        is(&answer, 500)?;
        if !answer.text().contains("NSQuotaExceededException") {
            return Err(answer.text());
        }
        let read = ask(shared, "GET", "/quota/old?op=OPEN", b"")?;
        let rest = read.body.strip_prefix(b"as it was").ok_or("the old bytes are gone")?;
        match read.is_whole && rest.iter().all(|byte| *byte == 7) && rest.len() < large.len() {
            true => Ok(()),
            false => Err(format!("{} bytes", read.body.len())),
        }
    });
}

#[test]
fn two_gateways_append_to_one_path_in_turns() {
    const LINES: usize = 8;
    with_shared(|shared| {
        let brief = "zerohop.gateway.append.idle.ms=50";
        let gateways = [gateway(&shared.cluster, &[brief])?, gateway(&shared.cluster, &[brief])?];
        let write = |number: usize| -> Outcome {
            let mut connection = gateways[number].connect()?;
            for line in 0..LINES {
                let body = format!("{number} {line}\n");
                let target =
                    "/webhdfs/v1/turns/log?op=APPEND&createflag=CREATE&data=true&user.name=root";
                wait::until("the other one is done", LIMIT, || {
                    let answer =
                        connection.ask("POST", target, &[OCTETS], body.as_bytes()).at(target)?;
                    match answer.status {
                        200 => Ok(true),
                        // Nothing of it was written.
                        409 => Ok(false),
                        _ => Err(answer.text()),
                    }
                })?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(|| write(1));
            write(0).and(other.join().unwrap())
        })?;
        let read = shared.gateway.ask("GET", "/turns/log?user.name=root", &[], b"")?.text();
        for number in 0..2 {
            let prefix = format!("{number} ");
            let lines: Vec<_> = read.lines().filter(|line| line.starts_with(&prefix)).collect();
            let expected: Vec<_> = (0..LINES).map(|line| format!("{number} {line}")).collect();
            if lines != expected {
                return Err(format!("{read:?}"));
            }
        }
        match read.lines().count() == 2 * LINES {
            true => Ok(()),
            false => Err(format!("{read:?}")),
        }
    });
}

/// A stream in use was never closed, and nobody looked whether its path still named its file: what was appended went into a file
/// that had been renamed or deleted.
#[test]
fn an_append_goes_to_the_file_that_has_the_name() {
    with_shared(|shared| {
        let keeps = "zerohop.gateway.append.idle.ms=600000";
        let gateway = gateway(&shared.cluster, &[keeps])?;
        let ask = |method: &str, target: &str, body: &str| -> Outcome<Answer> {
            let target = format!("/webhdfs/v1/name{target}&user.name=root");
            let answer = gateway.ask(method, &target, &[OCTETS], body.as_bytes())?;
            is(&answer, 200).map(|()| answer)
        };
        let append = |name: &str| {
            ask("POST", &format!("/{name}?op=APPEND&createflag=CREATE&data=true"), "+")
        };
        let content =
            |name: &str| ask("GET", &format!("/{name}?op=OPEN"), "").map(|answer| answer.body);
        let file = |path: &str| put(&shared.fs, path, 1, 1000, shape(2, BLOCK));

        // What another client does is seen within a second of a stream in use.
        let soon = Duration::from_secs(30);
        append("log")?;
        shared.fs.rename("/name/log", "/name/old").at("rename")?;
        wait::until("an append is not to the renamed file", soon, || {
            append("log")?;
            shared.fs.exists("/name/log").at("exists")
        })?;
        shared.fs.delete("/name/log", false).at("delete")?;
        wait::until("an append is not to the deleted file", soon, || {
            append("log")?;
            shared.fs.exists("/name/log").at("exists")
        })?;

        // What this gateway does is seen at once: the file at the destination, sources, and the file browser.
        file("/name/other")?;
        ask("PUT", "/other?op=RENAME&destination=/name/log&renameoptions=OVERWRITE", "")?;
        append("log")?;
        let replaced = content("log")?;
        if replaced.len() != 1001 || !is_beginning(&replaced[..1000], 1) {
            return Err(format!("an append to a file that was replaced: {} bytes", replaced.len()));
        }
        file("/name/whole")?;
        append("part")?;
        ask("POST", "/whole?op=CONCAT&sources=/name/part", "")?;
        if content("whole")?.len() != 1001 {
            return Err("a source was not closed".to_owned());
        }
        for form in ["do=rename&name=renamed", "do=delete&sure=1"] {
            append("shown")?;
            let target = "/explorer?path=/name/shown&user.name=root";
            let kind = ("Content-Type", "application/x-www-form-urlencoded");
            is(&gateway.ask("POST", target, &[kind], form.as_bytes())?, 303)?;
            append("shown")?;
            let files = shared.fs.list("/name").at("a list")?.len();
            // old, log, whole, renamed, shown.
            if content("shown")? != b"+" || files != 5 {
                return Err(format!("{form}: {files} files"));
            }
        }
        Ok(())
    });
}

/// The answer belonged to a path, and was repeated for a new file there, which lacked the bytes.
#[test]
fn a_key_does_not_count_for_a_new_file_of_the_same_name() {
    with_shared(|shared| {
        let ask = |method: &str, target: &str| -> Outcome<Answer> {
            let target = format!("/webhdfs/v1/keys{target}&user.name=root");
            let key = ("Idempotency-Key", "day 1");
            let answer = shared.gateway.ask(method, &target, &[OCTETS, key], b"line\n")?;
            is(&answer, 200).map(|()| answer)
        };
        let append = "/log?op=APPEND&createflag=CREATE&data=true";
        for again in ["/log?op=RENAME&destination=/keys/old", "/log?op=DELETE"] {
            for _ in 0..2 {
                ask("POST", append)?;
            }
            let content = ask("GET", "/log?op=OPEN")?.text();
            if content != "line\n" {
                return Err(format!("before {again}: {content:?}"));
            }
            ask(if again.contains("DELETE") { "DELETE" } else { "PUT" }, again)?;
        }
        ask("POST", append)?;
        match ask("GET", "/log?op=OPEN")?.text() == "line\n" {
            true => Ok(()),
            false => Err("the line is missing".to_owned()),
        }
    });
}

/// The ports that redirect took no notice of these headers, and the file was replaced.
#[test]
fn preconditions_hold_behind_a_redirect() {
    with_shared(|shared| {
        let base = format!("http://127.0.0.1:{}/webhdfs/v1", shared.cluster.site.http_port);
        let curl = |method: &str, query: &str, header: &str| -> Outcome<String> {
            let mut command = Command::new("curl");
            command.args(["-s", "-i", "-L", "--max-time", "60", "-X", method, "-H", header]);
            if method != "GET" {
                command.args(["-H", "Content-Type: application/octet-stream"]);
                command.args(["--data-binary", "new"]);
            }
            command.arg(format!("{base}/guarded/file?{query}&user.name=root"));
            Ok(String::from_utf8_lossy(&command.output().at("curl")?.stdout).replace('\r', ""))
        };
        put(&shared.fs, "/guarded/file", 1, 1000, shape(2, BLOCK))?;
        let create = "op=CREATE&overwrite=true";
        for (method, query, header) in [
            ("PUT", create, "If-Match: \"1-2-3\""),
            ("PUT", create, "If-None-Match: *"),
            ("POST", "op=APPEND", "If-Match: \"1-2-3\""),
        ] {
            let answer = curl(method, query, header)?;
            if !answer.contains("HTTP/1.1 412") {
                return Err(format!("{method} {query} {header}: {answer}"));
            }
            check(&shared.fs, "/guarded/file", 1, 1000)?;
        }
        for (method, query, status) in [("POST", "op=APPEND", "200"), ("PUT", create, "201")] {
            let read = curl("GET", "op=OPEN", "Accept: */*")?;
            let tag = read.lines().find_map(|line| line.strip_prefix("etag: ")).ok_or("no tag")?;
            let answer = curl(method, query, &format!("If-Match: {tag}"))?;
            if !answer.contains(&format!("HTTP/1.1 {status}")) {
                return Err(format!("{method} {query} of {tag}: {answer}"));
            }
        }
        match curl("GET", "op=OPEN", "Accept: */*")?.ends_with("\n\nnew") {
            true => Ok(()),
            false => Err("it was not replaced".to_owned()),
        }
    });
}

/// A beginning of the append was in the file, its key was not known, and the repetition wrote all of it again.
#[test]
fn an_append_that_broke_off_is_continued_under_its_key() {
    const LEN: u64 = 3 << 20;
    with_shared(|shared| {
        let read = |path: &str| -> Outcome<Vec<u8>> {
            let answer = shared.gateway.ask("GET", &format!("{path}?user.name=root"), &[], b"")?;
            Ok(if answer.status == 200 { answer.body } else { Vec::new() })
        };
        let append = |path: &str, key: &str, body: &[u8]| -> Outcome<Answer> {
            let target =
                format!("/webhdfs/v1{path}?op=APPEND&createflag=CREATE&data=true&user.name=root");
            let key = ("Idempotency-Key", key);
            let answer = shared.gateway.ask("POST", &target, &[OCTETS, key], body)?;
            is(&answer, 200).map(|()| answer)
        };
        let mut body = vec![0; LEN as usize];
        content::fill(9, 0, &mut body);
        for (path, is_followed) in [("/broken/last", false), ("/broken/followed", true)] {
            let target =
                format!("/webhdfs/v1{path}?op=APPEND&createflag=CREATE&data=true&user.name=root");
            let mut cut = shared.gateway.connect()?;
            cut.begin("POST", &target, &[OCTETS, ("Idempotency-Key", "k")]).at(path)?;
            send(&mut cut, 9, 0, LEN / 2)?;
            wait::until("some of it is in the file", LIMIT, || Ok(!read(path)?.is_empty()))?;
            drop(cut);
            if is_followed {
                append(path, "other", b"of another writer")?;
            }
            let answer = append(path, "k", &body)?;
            let all = read(path)?;
            let begun = answer.header("zerohop-append-offset").and_then(|at| at.parse().ok());
            let begun: usize = begun.ok_or("no offset")?;
            let is_right = match is_followed {
                false => begun == 0,
                true => {
                    let rest = all.get(..begun).unwrap_or_default();
                    is_beginning(rest.strip_suffix(b"of another writer").unwrap_or(b"?"), 9)
                }
            };
            if !is_right || all.get(begun..) != Some(&body) {
                return Err(format!("{path}: {} bytes, begun at {begun}", all.len()));
            }
            // From here on it is answered as it was.
            if append(path, "k", &body)?.header("zerohop-append-offset")
                != answer.header("zerohop-append-offset")
                || read(path)?.len() != all.len()
            {
                return Err(format!("{path}: repeated after its answer"));
            }
        }
        Ok(())
    });
}

/// An append used to go to any DataNode while the file was empty, and then to one that held its last block: writers refused each
/// other for the lease, at the first block and at every new one.
#[test]
fn appends_to_one_path_are_sent_to_one_datanode_wherever_its_blocks_are() {
    const FILES: usize = 8;
    with_shared(|shared| {
        let mut connection = Connection::open(shared.cluster.site.http_port).at("the NameNode")?;
        let mut chosen = HashSet::new();
        for number in 0..FILES {
            let path = format!("/one-datanode/{number}");
            put(&shared.fs, &path, 1, 0, shape(1, BLOCK))?;
            let first = append_location(&mut connection, &path)?;
            let mut file = shared.fs.append(&path, AppendOptions::default()).at("append")?;
            file.write_all(b"a line").at("append")?;
            file.close().at("append")?;
            wait_nodes(&shared.cluster, &shared.fs, &path, 1)?;
            let then = append_location(&mut connection, &path)?;
            if first.0 != then.0 {
                return Err(format!("{path}: {}, then {}", first.0, then.0));
            }
            chosen.insert(first.0);
        }
        match chosen.len() {
            0 | 1 => Err(format!("all files go to one DataNode: {chosen:?}")),
            _ => Ok(()),
        }
    });
}

/// The port that a NameNode sends an append to, and what is to be asked for there.
fn append_location(namenode: &mut Connection, path: &str) -> Outcome<(u16, String)> {
    let target = format!("/webhdfs/v1{path}?op=APPEND&user.name=root");
    let answer = namenode.ask("POST", &target, &[], b"").at(path)?;
    is(&answer, 307)?;
    let location = answer.header("location").ok_or("no Location")?;
    let (_, rest) = location.split_once("://").ok_or("no URL")?;
    let (authority, target) = rest.split_once('/').ok_or("no path")?;
    let port = authority.rsplit(':').next().and_then(|port| port.parse().ok());
    Ok((port.ok_or("no port")?, format!("/{target}")))
}

#[test]
fn writers_of_one_file_by_the_namenodes_port_wait_for_each_other() {
    const WRITERS: usize = 8;
    const LINES: usize = 50;
    with_shared(|shared| {
        let path = "/writers/log";
        put(&shared.fs, path, 1, 0, shape(1, BLOCK))?;
        let http_port = shared.cluster.site.http_port;
        let write = &|writer: usize| -> Outcome {
            let mut namenode = Connection::open(http_port).at("the NameNode")?;
            let mut datanodes: HashMap<u16, Connection> = HashMap::new();
            for line in 0..LINES {
                let (port, target) = append_location(&mut namenode, path)?;
                // A caller who was sent to another one a moment ago, or by another NameNode.
                let is_elsewhere = line % 10 == writer;
                let port = match is_elsewhere {
                    true => shared.cluster.site.info_ports[line % 3],
                    false => port,
                };
                let datanode = match datanodes.entry(port) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(Connection::open(port).at("a DataNode")?),
                };
                let body = format!("{writer} {line}\n");
                is(&datanode.ask("POST", &target, &[OCTETS], body.as_bytes()).at(path)?, 200)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS).map(|n| scope.spawn(move || write(n))).collect();
            writers.into_iter().try_for_each(|writer| writer.join().unwrap())
        })?;
        let read = shared.gateway.ask("GET", &format!("{path}?user.name=root"), &[], b"")?.text();
        for writer in 0..WRITERS {
            let prefix = format!("{writer} ");
            let lines = read.lines().filter_map(|line| line.strip_prefix(&prefix));
            if !lines.eq((0..LINES).map(|line| line.to_string())) {
                return Err(format!("writer {writer}: {read:?}"));
            }
        }
        match read.lines().count() == WRITERS * LINES {
            true => Ok(()),
            false => Err(format!("{read:?}")),
        }
    });
}

#[test]
fn a_gateway_killed_in_an_append_session_loses_and_doubles_nothing() {
    with_shared(|shared| {
        let mut gateway = gateway(&shared.cluster, &["zerohop.gateway.append.idle.ms=600000"])?;
        let mut expected = Vec::new();
        let mut connection = gateway.connect()?;
        for number in 0..120u64 {
            let mut piece = vec![0; 1 + (number as usize * 7919) % 30_000];
            content::fill(number, 0, &mut piece);
            let query = format!(
                "op=APPEND&createflag=CREATE&offset={}&data=true&user.name=root",
                expected.len()
            );
            let target = format!("/webhdfs/v1/session/log?{query}");
            // In the middle of a body, behind a body whose answer nobody reads, and between two appends.
            if number % 40 == 20 {
                let mut cut = gateway.connect()?;
                cut.begin("POST", &target, &[OCTETS]).at("a body")?;
                cut.send_chunk(&piece[..piece.len() / 2]).at("half of it")?;
                gateway.kill();
                gateway.start()?;
            } else if number % 40 == 30 {
                let head = format!(
                    "Content-Type: application/octet-stream\r\nContent-Length: {}\r\n",
                    piece.len()
                );
                let request = format!("POST {target} HTTP/1.1\r\nHost: localhost\r\n{head}\r\n");
                connection.send(&[request.as_bytes(), &piece].concat()).at("all of it")?;
                gateway.kill();
                gateway.start()?;
            } else if number % 40 == 39 {
                gateway.kill();
                gateway.start()?;
            }
            let mut conflict = None;
            wait::until("the append is answered", LIMIT, || {
                let answer = match connection.ask("POST", &target, &[OCTETS], &piece) {
                    Ok(answer) => answer,
                    Err(error) if error.kind() != ErrorKind::WouldBlock => {
                        connection = gateway.connect()?;
                        return Err(error.to_string());
                    }
                    Err(error) => return Err(error.to_string()),
                };
                match answer.status {
                    200 => Ok(true),
                    // The file was the gateway's before this one: it is closed first, and the append waits for that.
                    409 => {
                        conflict = Some(answer.text());
                        Ok(true)
                    }
                    _ => Err(answer.text()),
                }
            })
            .map_err(|error| format!("{error}\n{}", gateway.log()))?;
            if let Some(conflict) = conflict {
                return Err(format!("append {number}: {conflict}\n{}", gateway.log()));
            }
            expected.extend_from_slice(&piece);
        }
        let read = gateway.ask("GET", "/session/log?user.name=root", &[], b"")?;
        match read.is_whole && read.body == expected {
            true => Ok(()),
            false => Err(format!("{} bytes of {}", read.body.len(), expected.len())),
        }
    });
}

#[test]
fn a_full_disk_refuses_an_upload_and_leaves_what_was_there() {
    let settings = site::settings(&[("dfs.blocksize", "1048576"), ("dfs.replication", "1")]);
    let (namenode, datanodes) = (Kind::Ours, Kind::Ours);
    let spec = Spec { name: "rest-full", namenode, datanodes, count: 1, settings };
    let mut cluster = Cluster::start(&spec).unwrap();
    cluster.keep_logs = true;
    cluster.stop_datanode(0).unwrap();
    let directory = cluster.directory().canonicalize().unwrap().join("dn0");
    let volumes = [directory.join("disk0"), directory.join("disk1")];
    let sized: Vec<_> = volumes.iter().map(|volume| (volume.as_path(), "10m")).collect();
    let Some(disks) = SmallDisks::mount(&sized, &cluster.site.log("disks")).unwrap() else {
        return;
    };
    let command = disks.zerohop(&cluster.site.datanode_conf(0), &["datanode"]).unwrap();
    let _small = Process::daemon("DataNode 0", command, &cluster.site.log("dn0")).unwrap();
    let gateway = gateway(&cluster, &[]).unwrap();
    let ask = |method: &str, target: &str, body: &[u8]| {
        gateway
            .ask(method, &format!("/webhdfs/v1{target}&user.name=root"), &[OCTETS], body)
            .unwrap()
    };
    wait::until("a first file", LIMIT, || {
        let answer = ask("PUT", "/full/old?op=CREATE&data=true", b"as it was");
        if answer.status == 201 { Ok(true) } else { Err(answer.text()) }
    })
    .unwrap();
    let large = vec![7; 40 << 20];
    for path in ["/full/old", "/full/new"] {
        let answer = ask("PUT", &format!("{path}?op=CREATE&data=true"), &large);
        assert_eq!(answer.status, 500, "{path}: {}", answer.text());
        assert!(answer.text().contains("{\"RemoteException\":{"), "{}", answer.text());
        let list = ask("GET", "/full?op=LISTSTATUS", b"").text();
        assert_eq!(list.matches("pathSuffix").count(), 1, "{list}");
        assert_eq!(ask("GET", "/full/old?op=OPEN", b"").text(), "as it was");
    }
    // What was not finished takes no room.
    wait::until("there is room again", LIMIT, || {
        let answer = ask("PUT", "/full/new?op=CREATE&data=true", &large[..4 << 20]);
        if answer.status == 201 { Ok(true) } else { Err(answer.text()) }
    })
    .unwrap();
    cluster.keep_logs = false;
}
