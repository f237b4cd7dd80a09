//! `zerohop bench rest` as a user has it: with a gateway of its own, and against a server that redirects uploads.

use std::process::{Command, Stdio};

use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_zerohop");

/// The rows of a report by name.
fn rows(report: &str) -> Vec<(String, Value)> {
    let report: Value = serde_json::from_str(report).unwrap();
    let rows = report["rows"].as_array().unwrap().iter();
    rows.map(|row| (row["name"].as_str().unwrap().to_owned(), row.clone())).collect()
}

#[test]
fn every_part_has_its_figures_and_no_failures() {
    let directory = tempfile::tempdir().unwrap();
    let same = "--json --size 8m --runs 1 --seconds 1 --writers 2 --connections 20 --active 5";
    let script = format!(
        "set -e
        zerohop bench rest {same} >own
        node=$(zerohop getconf -confKey dfs.namenode.http-address)
        zerohop bench rest --url http://$node {same} files append lines >redirected
        test -z \"$(zerohop fs -ls /)\""
    );
    let mut command = Command::new(BINARY);
    // Uploads are redirected to several DataNodes, appends to a file to one of them.
    command.args(["up", "--datanodes", "3", "--port", "0", "--http-port", "0", "--rest-port", "0"]);
    command.args(["--exec", &script]);
    command.current_dir(directory.path()).env_remove("HADOOP_CONF_DIR").stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| rows(&std::fs::read_to_string(directory.path().join(name)).unwrap());
    let (own, redirected) = (read("own"), read("redirected"));
    assert_eq!((own.len(), redirected.len()), (17, 10), "{own:?}\n{redirected:?}");
    for (name, row) in own.iter().chain(&redirected) {
        assert!(row["value"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["failures"].as_u64().is_none_or(|failures| failures == 0), "{row}");
        // The client is seen, and where one was started the gateway beside it.
        let is_rest = name.starts_with("PUT") || name.starts_with("append");
        assert!(!is_rest || !row["costs"].as_array().unwrap().is_empty(), "{row}");
    }
    let put = &own.iter().find(|(name, _)| name.starts_with("PUT")).unwrap().1;
    assert_eq!(put["costs"][1]["name"], "gateway", "{put}");
    assert!(put["limit"]["name"].as_str().unwrap().starts_with("fs -put"), "{put}");
}
