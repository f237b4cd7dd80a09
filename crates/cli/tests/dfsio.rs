//! `zerohop bench dfsio` as a user has it: TestDFSIO's sequence on one cluster, and its results file.

use std::path::Path;
use std::process::{Command, Stdio};

const BINARY: &str = env!("CARGO_BIN_EXE_zerohop");

/// Exit code, standard output, standard error.
fn zerohop(args: &[&str], directory: &Path) -> (i32, String, String) {
    let mut command = Command::new(BINARY);
    command.args(args).current_dir(directory).env_remove("HADOOP_CONF_DIR").stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// The numbers behind a label, one a test.
fn numbers(results: &str, label: &str) -> Vec<f64> {
    let value = |line: &str| line.rsplit_once(": ").map(|(_, value)| value.parse().unwrap());
    results.lines().filter(|line| line.contains(label)).filter_map(value).collect()
}

#[test]
fn the_whole_sequence_leaves_its_results() {
    let directory = tempfile::tempdir().unwrap();
    let same = "-nrFiles 2 -bufferSize 65536 -resFile results";
    let script = format!(
        "set -e
        zerohop bench dfsio -write -size 3MB {same}
        zerohop bench dfsio -read -size 3MB {same}
        zerohop bench dfsio -read -random -size 1MB {same}
        zerohop bench dfsio -read -backward -size 3MB {same}
        zerohop bench dfsio -read -skip -size 3MB {same}
        zerohop bench dfsio -append -size 2MB {same}
        zerohop fs -stat %b /benchmarks/TestDFSIO/io_data/test_io_1 >appended
        zerohop bench dfsio -truncate -size 1500000B {same}
        zerohop fs -stat %b /benchmarks/TestDFSIO/io_data/test_io_1 >truncated
        zerohop bench dfsio -clean
        ! zerohop fs -test -e /benchmarks/TestDFSIO"
    );
    let up = ["up", "--port", "0", "--http-port", "0", "--exec", &script];
    let (code, out, err) = zerohop(&up, directory.path());
    assert_eq!(code, 0, "{out}\n{err}");
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let results = read("results");
    assert_eq!(results, out, "what is printed is what is kept");
    let tests: Vec<&str> =
        results.lines().filter_map(|line| line.strip_prefix("----- TestDFSIO ----- : ")).collect();
    let expected =
        ["write", "read", "random read", "backward read", "skip read", "append", "truncate"];
    assert_eq!(tests, expected);
    assert_eq!(numbers(&results, "Number of files"), [2.0; 7]);
    let megabytes = numbers(&results, "Total MBytes processed");
    assert_eq!((megabytes[0], megabytes[1], megabytes[5]), (6.0, 6.0, 4.0));
    // Random reads near the end are short, and go on until there is enough.
    assert!((2.0..2.5).contains(&megabytes[2]), "{megabytes:?}");
    // Every second buffer is left out, so that the end comes first.
    assert_eq!((megabytes[3], megabytes[4]), (6.0, 3.0));
    // 5 MB were there, 1.5 million bytes stay.
    assert_eq!(megabytes[6], 7.14);
    for label in ["Throughput mb/sec", "Average IO rate mb/sec", "Test exec time sec"] {
        assert!(numbers(&results, label).iter().take(6).all(|n| *n > 0.0), "{results}");
    }
    assert_eq!((read("appended").trim(), read("truncated").trim()), ("5242880", "1500000"));
}

#[test]
fn without_a_cluster_one_is_started_for_the_test() {
    let directory = tempfile::tempdir().unwrap();
    let (code, out, err) = zerohop(
        &["bench", "dfsio", "-Ddfs.blocksize=1048576", "-read", "-size", "3MB"],
        directory.path(),
    );
    assert!(code == 0 && out.contains("Total MBytes processed: 3\n"), "{code} {out} {err}");
    assert!(err.contains("read 3145728 bytes by "), "{err}");
    let kept = std::fs::read_to_string(directory.path().join("TestDFSIO_results.log")).unwrap();
    assert_eq!(kept, out);
}

#[test]
fn mistakes_say_how_it_is_used() {
    let directory = tempfile::tempdir().unwrap();
    for args in [&["bench", "dfsio"][..], &["bench", "dfsio", "-write", "-size", "x"]] {
        let (code, out, err) = zerohop(args, directory.path());
        assert!(code == 255 && out.is_empty() && err.contains("Usage:"), "{code} {out} {err}");
    }
}

#[test]
fn the_matrix_reports_every_row() {
    let directory = tempfile::tempdir().unwrap();
    let words = "bench dfsio --matrix -size 2MB -bufferSize 262144 --runs 2 --time 3 \
        --json=rows.json --csv=rows.csv --html=page.html";
    let words: Vec<&str> = words.split_whitespace().collect();
    let (code, out, err) = zerohop(&words, directory.path());
    assert_eq!(code, 0, "{out}\n{err}");
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("rows.json")).unwrap();
    let rows = json.as_array().unwrap();
    // Sequential by one and two, warm and dropped; random 4 and 64 KiB by one and four, and dropped;
    // vectored; scans of what is mapped.
    assert_eq!(rows.len(), (4 + 5 + 1) * 4 * 2 + 2);
    for row in rows {
        let number = |name: &str| row[name].as_f64().filter(|value| *value > 0.0);
        let figures = ["mb_s", "ops_s", "limit_mb_s", "limit_ops_s", "ratio"].map(number);
        match row["not_available"].as_str() {
            Some(why) => assert!(!why.is_empty() && figures == [None; 5], "{row}"),
            None => {
                assert!(figures.iter().all(Option::is_some), "{row}");
                assert!(number("client_cpu_s_per_gb").is_some(), "{row}");
                assert!(row["datanode_cpu_s_per_gb"].is_number(), "{row}");
                assert_eq!(row["runs"], 2, "{row}");
                let is_local = row["path"].as_str().unwrap().starts_with("local");
                assert_eq!(row["local_bytes"].as_u64().unwrap() > 0, is_local, "{row}");
                let is_random = row["op"] == "random-read";
                assert_eq!(number("p50_us").is_some(), is_random, "{row}");
                assert_eq!(number("p99_us").is_some(), is_random, "{row}");
            }
        }
        // Memory file systems, where temporary files may lie, have nothing to drop.
        if row["cache"] == "warm" {
            assert!(row["not_available"].is_null(), "{row}");
        }
    }
    assert_eq!(read("rows.csv").lines().count(), rows.len() + 1);
    assert!(read("page.html").ends_with("</html>\n"));
    assert!(out.contains("eight published rows") && out.contains("610.7"), "{out}");
    let one = ["--matrix", "--paths", "tcp", "--ops", "read", "-nrFiles", "1", "-size", "1MB"];
    let (code, out, err) = zerohop(
        &[&["bench", "dfsio"], &one[..], &["--runs", "1", "--json"]].concat(),
        directory.path(),
    );
    let json: serde_json::Value =
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e} {err}"));
    assert_eq!((code, json.as_array().map(Vec::len)), (0, Some(4)), "{out}");
}
