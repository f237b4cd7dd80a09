//! Commands and clusters that a signal ends, or does not.
#![allow(clippy::disallowed_methods, reason = "this is a test")]

mod support;

use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use support::{BINARY, Signal, Up, run, send, until, wait, zerohop};

/// A command that reads what the test gives it.
fn fed(command: &mut Command) -> (Child, ChildStdin) {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let input = child.stdin.take().unwrap();
    (child, input)
}

/// Clients that hold a file open, by its path.
fn open_files(up: &Up) -> String {
    up.admin(&["-listOpenFiles"]).1.lines().skip(1).collect::<Vec<_>>().join("\n")
}

fn len(up: &Up, path: &str) -> usize {
    let (code, out, err) = run(&mut up.fs(&["-cat", path]));
    assert_eq!((code, err.as_str()), (0, ""));
    out.len()
}

#[test]
fn data_stays_and_signals_end_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let up = Up::start(&data);
    let mut put = up.fs(&["-put", "-", "/kept"]).stdin(Stdio::piped()).spawn().unwrap();
    put.stdin.take().unwrap().write_all(b"still here\n").unwrap();
    assert_eq!(wait(&mut put), 0);
    assert_eq!(up.stop(Signal::TERM), 0);

    let up = Up::start(&data);
    assert_eq!(run(&mut up.fs(&["-cat", "/kept"])), (0, "still here\n".to_owned(), String::new()));
    let second = ["up", "--port", "0", "--http-port", "0", "--data", data.to_str().unwrap()];
    let (code, _, err) = run(&mut zerohop(&second));
    assert!(code == 1 && err.contains("already locked") && err.lines().count() == 1, "{err}");
    assert_eq!(up.stop(Signal::INT), 0);
    // A terminal that was closed.
    assert_eq!(Up::start(&data).stop(Signal::HUP), 0);

    // What is left of a namespace is not formatted away.
    std::fs::remove_file(data.join("name/current/VERSION")).unwrap();
    let (code, _, err) = run(&mut zerohop(&second));
    assert!(code == 1 && err.contains("put that file back") && err.lines().count() == 1, "{err}");
}

#[test]
fn nohup_keeps_a_cluster_when_its_terminal_goes() {
    let script = "trap '' HUP; exec \"$0\" up --port 0 --http-port 0 --exec 'kill -HUP $PPID; zerohop fs -ls /'";
    let mut shell = Command::new("/bin/sh");
    let (code, _, err) = run(shell.args(["-c", script, BINARY]).env_remove("HADOOP_CONF_DIR"));
    assert_eq!((code, err.as_str()), (0, ""));
}

/// `nohup zerohop fs -put ...`, and its terminal goes.
#[test]
fn nohup_keeps_a_copy_when_its_terminal_goes() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let script = "trap '' HUP; exec \"$0\" fs -put - /kept";
    let mut shell = Command::new("/bin/sh");
    let (mut put, mut input) =
        fed(shell.args(["-c", script, BINARY]).env("HADOOP_CONF_DIR", &up.conf));
    input.write_all(&vec![1; 1 << 20]).unwrap();
    until(|| open_files(&up).contains("/kept._COPYING_").then_some(()));
    send(&put, Signal::HUP);
    input.write_all(b"more").unwrap();
    drop(input);
    assert_eq!(wait(&mut put), 0);
    assert_eq!(len(&up, "/kept"), (1 << 20) + 4);
}

#[test]
fn an_interrupted_put_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let names = || {
        let (_, out, _) = run(&mut up.fs(&["-ls", "-C", "/"]));
        out
    };
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut put = up.fs(&["-put", "-", "/stopped"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut input = put.stdin.take().unwrap();
        input.write_all(&vec![1; 1 << 20]).unwrap();
        until(|| names().contains("/stopped._COPYING_").then_some(()));
        send(&put, signal);
        assert_eq!(wait(&mut put), code);
        assert!(!names().contains("stopped"), "{}", names());
    }
}

/// Returns when no thread of it runs any more: where processors are busy, that takes a moment, in which it answers.
fn freeze(up: &Up) {
    up.signal(Signal::STOP);
    let is_stopped = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('T'))
    };
    let threads = format!("/proc/{}/task", up.child.id());
    until(|| {
        let mut threads = std::fs::read_dir(&threads).unwrap();
        threads.all(|thread| is_stopped(thread.unwrap())).then_some(())
    });
}

/// The NameNode says nothing, so that the unfinished file cannot be removed: the command ends anyhow,
/// and at a second signal it ends at once.
#[test]
fn a_put_ends_though_nobody_answers() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let start = |path: &str| {
        let (put, mut input) = fed(up.fs(&["-put", "-", path]).stderr(Stdio::piped()));
        input.write_all(&vec![1; 1 << 20]).unwrap();
        until(|| open_files(&up).contains(path).then_some(()));
        (put, input)
    };
    let (mut patient, _patients) = start("/patient");
    let (mut hurried, _hurrieds) = start("/hurried");
    freeze(&up);
    send(&patient, Signal::INT);
    let begin = Instant::now();
    let code = until(|| {
        send(&hurried, Signal::INT);
        hurried.try_wait().unwrap()
    });
    assert_eq!(code.code(), Some(130));
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert_eq!(wait(&mut patient), 130);
    let mut said = String::new();
    std::io::Read::read_to_string(&mut patient.stderr.take().unwrap(), &mut said).unwrap();
    assert!(said.contains("may be left unfinished"), "{said}");
    up.signal(Signal::CONT);
}

/// What goes straight into a file is there after a signal, and the file is nobody's any more.
#[test]
fn an_interrupted_append_is_closed_with_what_it_has() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    for (args, path) in
        [(["-appendToFile", "-", "/a"].as_slice(), "/a"), (&["-put", "-d", "-", "/d"], "/d")]
    {
        let (mut command, mut input) = fed(&mut up.fs(args));
        input.write_all(&vec![b'x'; 1 << 20]).unwrap();
        until(|| open_files(&up).contains(path).then_some(()));
        send(&command, Signal::TERM);
        assert_eq!(wait(&mut command), 143);
        assert_eq!(open_files(&up), "");
        // A pipe holds 64 KiB, and as much may be on its way.
        assert!(len(&up, path) >= (1 << 20) - (128 << 10), "{path}");
    }
}

/// A source that cannot be read to its end: what went before it is there, as with Hadoop.
#[test]
fn a_failed_append_is_closed_with_what_it_has() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let good = directory.path().join("good");
    std::fs::write(&good, "good\n").unwrap();
    // It opens and fails at the first byte.
    let (code, _, err) =
        run(&mut up.fs(&["-appendToFile", good.to_str().unwrap(), "/proc/self/mem", "/a"]));
    assert!(code == 1 && err.contains("Input/output error"), "{code} {err}");
    assert_eq!(open_files(&up), "");
    assert_eq!(len(&up, "/a"), 5);
}
