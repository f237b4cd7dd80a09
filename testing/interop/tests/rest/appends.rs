//! Appends: writers of one file, repetitions, and files that lose their name.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::{ErrorKind, Write};
use std::time::Duration;

use zerohop_client::AppendOptions;
use zerohop_interop::harm::{Explain, over, put, shape, wait_nodes};
use zerohop_interop::http::{Answer, Connection};
use zerohop_interop::{Kind, Outcome, content, wait};

use crate::fault_cluster::{BLOCK, LIMIT, OCTETS, is, is_beginning, send, with_shared};
use crate::gateway::{cluster, gateway};

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

/// The stream was lost with its only DataNode between two appends, and the second one was refused for that. Hadoop's HttpFS
/// opens the file again for each append.
#[test]
fn an_append_outlives_the_restart_of_a_datanode_before_it() {
    for kind in [Kind::Ours, Kind::Apache] {
        let name = format!("rest-idle-{kind:?}").to_lowercase();
        over(cluster(&name, kind), |cluster| {
            let gateway = gateway(cluster, &["zerohop.gateway.append.idle.ms=600000"])?;
            let target = "/webhdfs/v1/log?op=APPEND&createflag=CREATE&data=true&user.name=root";
            let append = |line: &str| {
                let answer = gateway.ask("POST", target, &[OCTETS], line.as_bytes())?;
                is(&answer, 200).map_err(|error| format!("{line}: {error}\n{}", gateway.log()))
            };
            append("before\n")?;
            cluster.kill_datanode(0);
            cluster.start_datanode(0)?;
            cluster.wait_serving()?;
            wait::until("the gateway has noticed", LIMIT, || {
                Ok(gateway.log().contains("/log: the pipeline is lost"))
            })?;
            append("after\n")?;
            let read = gateway.ask("GET", "/webhdfs/v1/log?op=OPEN&user.name=root", &[], b"")?;
            match read.text() == "before\nafter\n" {
                true => Ok(()),
                false => Err(format!("{:?}", read.text())),
            }
        });
    }
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
