//! Apache's clients of REST (`WebHdfsFileSystem`, `HttpFSFileSystem`), beside its client of the RPC protocol, and the contract tests
//! over them.

use std::collections::HashMap;
use std::time::Duration;

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::process::{Process, tail};
use zerohop_interop::tools::Java;
use zerohop_interop::{Kind, contract, site};

use crate::gateway::{Shared, gateway};

const LIMIT: Duration = Duration::from_secs(240);
const WEBHDFS_CLIENT: &str = "org.apache.hadoop.hdfs.web.WebHdfsFileSystem";
const HTTPFS_CLIENT: &str = "org.apache.hadoop.fs.http.client.HttpFSFileSystem";

/// What the clients do not do as the one of the RPC protocol does, whatever the server answers.
const CLIENTS_OWN: [(&str, &str); 5] = [
    ("webhdfs", "seek behind the end"),
    ("gateway", "seek behind the end"),
    // Its streams have no seek.
    ("httpfs", "seek"),
    ("httpfs", "seek behind the end"),
    ("httpfs", "createNonRecursive below nothing"),
];

#[test]
fn apaches_clients_see_no_difference_between_rest_and_rpc() {
    let shared = Shared::get().unwrap();
    let gateway = format!("webhdfs://127.0.0.1:{}", shared.gateway.port);
    let mut command = Java::get().unwrap().command(512);
    command.arg("zerohop.RestClients").arg(&shared.conf).args([
        format!("hdfs={}", shared.uri),
        format!("webhdfs=webhdfs://127.0.0.1:{}", shared.http_port),
        format!("gateway={gateway}"),
        format!("httpfs={gateway}"),
    ]);
    let log = shared.directory.join("rest-clients.log");
    let status = Process::daemon("Apache's clients", command, &log).unwrap().finish(LIMIT).unwrap();
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(status.success(), "{}", tail(&log, 40));
    let mut answers: HashMap<(&str, &str), &str> = HashMap::new();
    for line in said.lines() {
        let mut fields = line.splitn(3, '\t');
        if let (Some(client), Some(what), Some(answer)) =
            (fields.next(), fields.next(), fields.next())
            && ["hdfs", "webhdfs", "gateway", "httpfs"].contains(&client)
        {
            answers.insert((client, what), answer);
        }
    }
    let by_rpc: Vec<_> = answers.iter().filter(|((client, _), _)| *client == "hdfs").collect();
    assert!(by_rpc.len() > 60, "{said}");
    let mut differ = Vec::new();
    for ((_, what), expected) in by_rpc {
        for client in ["webhdfs", "gateway", "httpfs"] {
            let answer = answers.get(&(client, *what));
            // HttpFS's client cannot send most of the strange names.
            let is_left_out =
                answer.is_none() && client == "httpfs" && what.starts_with("the name ");
            if answer != Some(expected) && !is_left_out && !CLIENTS_OWN.contains(&(client, what)) {
                differ.push(format!("{what}: {client} {answer:?}\n{what}: hdfs {expected:?}"));
            }
        }
    }
    assert!(differ.is_empty(), "{}\n{}", differ.join("\n"), shared.gateway.log());
}

const CLASSES: [&str; 11] = [
    "Append",
    "Concat",
    "ContentSummary",
    "Create",
    "Delete",
    "GetFileStatus",
    "Mkdir",
    "Open",
    "Rename",
    "RootDirectory",
    "SetTimes",
];

/// What Apache's WebHDFS fails as well.
const FAILS_BY_WEBHDFS: [&str; 9] = [
    "Append#testRenameFileBeingAppended",
    // The client does not wait for an answer before it asks for the file: whichever request is read first.
    "Create#testCreatedFileIsImmediatelyVisible",
    "Create#testSyncable",
    "Seek#testNegativeSeek",
    "Seek#testReadFullyPastEOF",
    "Seek#testSeekPastEndOfFileThenReseekAndRead",
    "Seek#testSeekReadClosedFile",
    // Directories are refused at the first read; the gateway refuses them at once.
    "Open#testOpenReadDir",
    "Open#testOpenReadDirWithChild",
];

/// What HttpFS's client cannot do: its streams send all when they are closed and know no position, and createNonRecursive is
/// missing.
const FAILS_BY_HTTPFS_CLIENT: [&str; 11] = [
    "Append#testRenameFileBeingAppended",
    "Create#testCreateFileOverExistingFileNoOverwrite",
    "Create#testCreateNewFile",
    "Create#testCreatedFileIsImmediatelyVisible",
    "Create#testCreatedFileIsVisibleOnFlush",
    "Create#testOverwriteEmptyDirectory",
    "Create#testOverwriteExistingFile",
    "Create#testOverwriteNonEmptyDirectory",
    "Create#testSyncable",
    "Open#testOpenFileReadZeroByte",
    "Open#testOpenReadZeroByteFile",
];

#[test]
fn apaches_contract_tests_pass_over_webhdfs_and_httpfs() {
    let settings = site::settings(&[("dfs.blocksize", "1024"), ("dfs.replication", "1")]);
    let (namenode, datanodes) = (Kind::Ours, Kind::Ours);
    let spec = Spec { name: "rest-contract", namenode, datanodes, count: 1, settings };
    let mut cluster = Cluster::start(&spec).unwrap();
    let gateway = gateway(&cluster, &[]).unwrap();
    let doors = [
        ("namenode/", cluster.site.http_port, WEBHDFS_CLIENT),
        ("gateway/", gateway.port, WEBHDFS_CLIENT),
        ("httpfs/", gateway.port, HTTPFS_CLIENT),
    ];
    let mut args = Vec::new();
    for (door, port, client) in doors {
        args.push(format!("zerohop.door={door}"));
        args.push(format!("zerohop.uri=webhdfs://127.0.0.1:{port}"));
        args.push(format!("zerohop.impl={client}"));
        args.extend(CLASSES.map(str::to_owned));
        args.extend((client == WEBHDFS_CLIENT).then(|| "Seek".to_owned()));
    }
    let cases = contract::run_over(&mut cluster, &args).unwrap();
    let mut failed = Vec::new();
    for (door, _, client) in doors {
        let expected: &[&str] = match client {
            WEBHDFS_CLIENT => &FAILS_BY_WEBHDFS,
            _ => &FAILS_BY_HTTPFS_CLIENT,
        };
        let mut passed = 0;
        for case in &cases {
            let Some(name) = case.name.strip_prefix(door) else { continue };
            passed += usize::from(case.verdict == "pass");
            if case.verdict == "fail" && !expected.contains(&name) {
                failed.push(format!("{}: {}", case.name, case.reason));
            }
        }
        println!("{door} {passed} passed");
        assert!(passed > 80, "{door}: only {passed} passed");
    }
    assert!(failed.is_empty(), "{}\n{}", failed.join("\n"), gateway.log());
    cluster.keep_logs = false;
}
