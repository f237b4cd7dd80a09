//! Shell commands in a directory that is deleted while they list it, beside Apache's shell. A NameNode that the test plays
//! deletes it after the first page, which no cluster does reliably.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use zerohop_conf::Conf;
use zerohop_interop::Outcome;
use zerohop_interop::harm::{Explain, zerohop};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::site::{settings, write_conf};
use zerohop_interop::tools::{self, Java};
use zerohop_proto::hdfs::hdfs_file_status_proto::FileType;
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::{CallContext, Reply, RpcServer, RpcService, ServerOptions};

/// A NameNode with the directory `/d`. The first page of its list has a file `a` and a directory `b`, which is deleted before its
/// own list begins; `/d` is deleted before its second page.
struct NameNode;

fn status(name: &str, kind: FileType) -> HdfsFileStatusProto {
    HdfsFileStatusProto {
        file_type: kind.into(),
        path: name.as_bytes().to_vec().into(),
        permission: FsPermissionProto { perm: 0o755 },
        owner: "ann".to_owned(),
        group: "ann".to_owned(),
        ..HdfsFileStatusProto::default()
    }
}

fn listing(asked: &GetListingRequestProto) -> Option<DirectoryListingProto> {
    let entries = vec![status("a", FileType::IsFile), status("b", FileType::IsDir)];
    let page = match asked.src.as_str() {
        "/" => DirectoryListingProto {
            partial_listing: vec![status("d", FileType::IsDir)],
            remaining_entries: 0,
        },
        _ => DirectoryListingProto { partial_listing: entries, remaining_entries: 5 },
    };
    let is_there = asked.src == "/" || asked.src == "/d" && asked.start_after.is_empty();
    is_there.then_some(page)
}

impl RpcService for NameNode {
    fn protocol(&self) -> &'static str {
        "org.apache.hadoop.hdfs.protocol.ClientProtocol"
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, _: CallContext, method: &str, param: Bytes) -> Reply {
        match method {
            "getFileInfo" => {
                let asked = GetFileInfoRequestProto::decode(param).expect("a request");
                let name = ["/", "/d", "/d/b"].contains(&asked.src.as_str());
                let fs = name.then(|| status("", FileType::IsDir));
                Reply::message(&GetFileInfoResponseProto { fs })
            }
            "getListing" => {
                let asked = GetListingRequestProto::decode(param).expect("a request");
                Reply::message(&GetListingResponseProto { dir_list: listing(&asked) })
            }
            "setPermission" => Reply::message(&SetPermissionResponseProto {}),
            other => panic!("{other} is not played"),
        }
    }
}

/// Exit code and names of missing paths of each command.
type Answers = BTreeMap<&'static str, (i32, Vec<String>)>;

const COMMANDS: [&str; 4] = ["-ls /d", "-ls -R /d", "-chmod -R 700 /d", "-ls /d/*"];

/// The names of the paths that messages call missing.
fn missing(output: &str) -> Vec<String> {
    let lines = output.lines().filter(|line| {
        line.ends_with("does not exist.") || line.ends_with("No such file or directory")
    });
    let name = |line: &str| {
        let at = line.find("/d")?;
        Some(line[at..].split([' ', '\'']).next()?.to_owned())
    };
    lines.filter_map(name).collect()
}

fn play() -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().at("runtime")?;
    let _inside = runtime.enter();
    let options = ServerOptions::from_conf(&Conf::new(), 0, 1).at("options")?;
    let server = RpcServer::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options).at("bind")?;
    server.register(Arc::new(NameNode));
    server.start().at("start")?;

    let directory = tools::clusters().join("reading-gone");
    _ = fs::remove_dir_all(&directory);
    let conf = directory.join("conf");
    let uri = format!("hdfs://{}", server.local_addr());
    write_conf(&conf, &settings(&[("fs.defaultFS", &uri)]), &[])?;
    let ours: Outcome<Answers> = COMMANDS
        .iter()
        .map(|command| {
            let words: Vec<&str> = ["fs"].into_iter().chain(command.split(' ')).collect();
            let (code, output) = zerohop(&conf, &words)?;
            Ok((*command, (code, missing(&output))))
        })
        .collect();
    let ours = ours?;

    let list = directory.join("commands");
    let lines: String =
        COMMANDS.iter().map(|line| format!("\t{}\n", line.replace(' ', "\t"))).collect();
    fs::write(&list, lines).at("commands")?;
    let mut command = Java::get()?.command(512);
    command.arg("zerohop.Shell").arg(&conf).arg(&list);
    let log = directory.join("apache.out");
    Process::daemon("zerohop.Shell", command, &log)?.finish(Duration::from_secs(240))?;
    let text = fs::read_to_string(&log).at("Apache's answers")?;
    let mut apaches = Answers::new();
    let mut output = String::new();
    let mut commands = COMMANDS.iter();
    for line in text.lines() {
        match line.strip_prefix("=> ") {
            Some(code) => {
                let command = commands.next().ok_or("too many answers")?;
                let code = code.parse().at(line)?;
                apaches.insert(*command, (code, missing(&std::mem::take(&mut output))));
            }
            None => output += &format!("{line}\n"),
        }
    }
    // Apache's `-ls -R` shows nothing of a group of names that is not complete; a pattern matches nothing in its list.
    let last = |all: &Answers| -> Vec<(i32, String)> {
        let last = |(code, missing): &(i32, Vec<String>)| {
            (*code, missing.last().map(|path| path.replace("/*", "")).unwrap_or_default())
        };
        all.values().map(last).collect()
    };
    let expected = vec![(1, "/d".to_owned()); COMMANDS.len()];
    if last(&ours) != expected || last(&apaches) != expected {
        return Err(format!("ours: {ours:?}\nApache's: {apaches:?}\n{}", tail(&log, 30)));
    }
    let subdirectory = "/d/b".to_owned();
    for command in ["-ls -R /d", "-chmod -R 700 /d"] {
        if !ours.get(command).is_some_and(|(_, missing)| missing.contains(&subdirectory)) {
            return Err(format!("{command}: {ours:?}"));
        }
    }
    // The error of the list, not that no name matched.
    match ours.get("-ls /d/*") {
        Some((_, missing)) if *missing == ["/d"] => {}
        other => return Err(format!("the pattern: {other:?}")),
    }
    _ = fs::remove_dir_all(&directory);
    Ok(())
}

#[test]
fn a_directory_that_goes_while_the_shell_lists_it_is_an_error() {
    play().unwrap_or_else(|e| panic!("{e}"));
}
