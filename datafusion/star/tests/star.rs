//! The experiment at a tiny scale: equal answers, which the program checks itself, and bytes by the paths they should take.

use serde_json::Value;
use std::process::Command;

fn star(words: &[&str]) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zerohop-star"));
    command.args(words).env_remove("HADOOP_CONF_DIR").env_remove("HADOOP_HOME");
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

fn report(words: &[&str]) -> Value {
    assert!(
        std::env::var_os("ZEROHOP").is_some(),
        "ZEROHOP names the program zerohop; `make star` builds it and sets this"
    );
    let (succeeded, output, errors) = star(words);
    assert!(succeeded, "{errors}");
    serde_json::from_str(&output).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// Every byte of each source took the way that its name says.
fn check(figures: &[Value], tcp: &str) {
    for figure in figures {
        for run in ["first", "second"].map(|name| &figure[name]) {
            let all = run["read"].as_array().unwrap();
            let paths: Vec<&str> = all.iter().map(|one| one["path"].as_str().unwrap()).collect();
            match figure["source"].as_str().unwrap() {
                "local_reads" => assert_eq!(paths, ["local-mapped"], "{figure}"),
                "tcp" => assert_eq!(paths, [tcp], "{figure}"),
                _ => assert!(all.is_empty(), "{figure}"),
            }
            assert!(run["seconds"][0].as_f64().unwrap() > 0.0, "{figure}");
        }
    }
}

#[test]
fn answers_are_equal_and_local_reads_are_local() {
    let report = report(&["--scale", "0.02", "--runs", "1", "--json"]);
    let figures = report["figures"].as_array().unwrap();
    assert_eq!((figures.len(), report["facts"].as_u64()), (6, Some(20_000)));
    check(figures, "tcp-local");
}

#[test]
fn a_busy_network_is_measured_or_the_reason_is_said() {
    let words = "--scale 0.02 --runs 1 --json --busy --link 400 --streams 2";
    let report = report(&words.split(' ').collect::<Vec<_>>());
    let figures = report["figures"].as_array().unwrap();
    let said = report["busy_network"].as_str().unwrap();
    match figures.len() {
        12 => {
            assert!(said.contains("400 Mbit/s"), "{said}");
            check(figures, "tcp-remote");
        }
        6 => {
            assert!(said.starts_with("not measured: "), "{said}");
            check(figures, "tcp-local");
        }
        _ => panic!("{figures:?}"),
    }
}

#[test]
fn tables_that_were_written_before_are_measured_and_stay() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap();
    let (succeeded, output, errors) = star(&["--scale", "0.02", "--generate", place]);
    assert!(succeeded && output.contains("20000 facts"), "{output}{errors}");
    let facts = directory.path().join("facts/part-0.parquet");
    let written = std::fs::read(&facts).unwrap();
    let report = report(&["--scale", "0.02", "--runs", "1", "--json", "--tables", place]);
    check(report["figures"].as_array().unwrap(), "tcp-local");
    assert_eq!(std::fs::read(&facts).unwrap(), written);
}

#[test]
fn mistakes_are_told_with_the_usage() {
    let (succeeded, _, errors) = star(&["--scale", "none"]);
    assert!(!succeeded && errors.contains("none is not a number above 0"), "{errors}");
    assert!(errors.contains("Usage: zerohop bench star"), "{errors}");
}
