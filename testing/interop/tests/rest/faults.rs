//! Faults: callers, DataNodes, NameNodes and gateways that go away in the middle of a request, disks that are full, and quotas.
//!
//! The tests share a cluster of three DataNodes. Each has it for itself, and leaves what it stopped running again.

use std::io::Write;
use std::process::Command;

use zerohop_client::AppendOptions;
use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SmallDisks, blocks, check, nodes, put, shape};
use zerohop_interop::http::{Answer, Connection};
use zerohop_interop::process::Process;
use zerohop_interop::{Kind, Outcome, site, wait};

use crate::fault_cluster::{
    BLOCK, LIMIT, OCTETS, Shared, end, is, is_beginning, send, with_shared,
};
use crate::gateway::gateway;

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
