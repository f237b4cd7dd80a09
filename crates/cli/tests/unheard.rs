//! Commands and daemons finish their work if standard error is full or has lost its reader.
//!
//! They used to panic at the first line that they could not write.
#![allow(clippy::disallowed_methods, reason = "this is a test")]

mod support;

use std::fs::{self, File};
use std::io::pipe;
use std::path::Path;
use std::process::Stdio;

use support::{text, zerohop};

/// Returns standard errors that cannot be written: a full one, and a pipe without a reader.
fn unheard() -> [Stdio; 2] {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    [full.into(), writer.into()]
}

/// Runs a command with each such standard error and returns exit codes and outputs.
fn outcomes(words: &[&str]) -> Vec<(i32, String)> {
    let run = |stderr| {
        let done = zerohop(words).stderr(stderr).output().unwrap();
        (done.status.code().unwrap_or(-1), text(&done.stdout))
    };
    unheard().into_iter().map(run).collect()
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

#[test]
fn a_command_goes_on_behind_what_it_cannot_report() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| uri(&root.path().join(name));
    fs::write(root.path().join("a"), "first\n").unwrap();
    fs::write(root.path().join("b"), "second\n").unwrap();
    let [a, b, missing, target] = ["a", "b", "missing", "target"].map(at);
    for (code, out) in outcomes(&["fs", "-cat", &a, &missing, &b]) {
        assert_eq!((code, out.as_str()), (1, "first\nsecond\n"));
    }
    for (number, stderr) in unheard().into_iter().enumerate() {
        let target = format!("{target}{number}");
        assert!(zerohop(&["fs", "-mkdir", &target]).status().unwrap().success());
        let mut command = zerohop(&["fs", "-cp", &a, &missing, &b, &target]);
        let done = command.stderr(stderr).status().unwrap();
        assert_eq!(done.code(), Some(1));
        let copied = root.path().join(format!("target{number}"));
        assert_eq!(fs::read_to_string(copied.join("b")).unwrap(), "second\n");
    }
}

/// Usage texts, questions and warnings go to standard error too.
#[test]
fn commands_end_with_their_own_code() {
    for (words, wanted) in [
        (&["fs", "-nothing"][..], 255),
        (&["fs", "-ls", "-nothing"], 255),
        (&["fs"], 255),
        (&["getconf", "-confKey", "no.such.key"], 255),
        (&["codec", "compress"], 2),
        (&["dfsadmin", "-nothing"], 255),
        (&["oiv", "-p", "nothing"], 2),
    ] {
        let heard = zerohop(words).output().unwrap().status.code();
        for (code, _) in outcomes(words) {
            assert_eq!(Some(code), heard, "{words:?}");
        }
        assert_ne!(heard, Some(101), "{words:?}, {wanted}");
    }
}

/// A daemon writes its log and its warnings to standard error.
#[test]
fn a_daemon_works_while_nobody_reads_its_log() {
    for stderr in unheard() {
        let root = tempfile::tempdir().unwrap();
        let names = format!("dfs.namenode.name.dir=file://{}/nn", root.path().display());
        let format = ["-D", &names, "-D", "fs.defaultFS=hdfs://127.0.0.1:0", "namenode", "-format"];
        let first = zerohop(&format).output().unwrap();
        assert!(first.status.success(), "{}", text(&first.stderr));
        let version = root.path().join("nn/current/VERSION");
        let before = fs::read_to_string(&version).unwrap();
        let mut again = zerohop(&format);
        again.arg("-force").env("ZEROHOP_LOG", "debug").stderr(stderr);
        assert_eq!(again.status().unwrap().code(), Some(0));
        assert_ne!(fs::read_to_string(&version).unwrap(), before, "it was formatted again");
    }
}
