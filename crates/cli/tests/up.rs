//! `up` and `demo` end in order, leave nothing behind, and are clusters of their own.
#![allow(clippy::disallowed_methods, reason = "this is a test")]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::{BINARY, Signal, has_ended, run, send, until, wait, zerohop};

const PORTS: [&str; 5] = ["up", "--port", "0", "--http-port", "0"];

/// `up --exec SCRIPT`, and the pid that the script writes to a file.
fn exec(directory: &Path, script: &str) -> (Child, String) {
    let file = directory.join("pid");
    let mut command = zerohop(&PORTS);
    let up = command.args(["--exec", script]).env("PID_FILE", &file).spawn().unwrap();
    let pid = until(|| fs::read_to_string(&file).ok().filter(|pid| pid.ends_with('\n')));
    (up, pid.trim().to_owned())
}

/// The gateway acts for whom the caller names.
#[test]
fn up_serves_rest_for_every_user() {
    let script = "zerohop fs -mkdir /d && zerohop fs -chmod 777 /d
        kind='Content-Type: application/octet-stream'
        curl -sf --data-binary text -H \"$kind\" \"$ZEROHOP_REST/d/f?op=create&user.name=alice\" > /dev/null
        curl -sf \"$ZEROHOP_REST/d/f?user.name=bob\"; zerohop fs -stat ' %u' /d/f";
    let (code, out, err) = run(zerohop(&PORTS).args(["--rest-port", "0", "--exec", script]));
    assert_eq!((code, out.as_str()), (0, "text alice\n"), "{err}");
}

/// `up` used to blame unreported blocks if the disk of an empty cluster was small.
#[test]
fn up_on_a_small_disk_says_that_space_lacks() {
    let small = ["-D", "dfs.namenode.resource.du.reserved=9000000000000000", "--exec", "true"];
    let (code, _, err) = run(zerohop(&PORTS).args(small));
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("(dfs.namenode.resource.du.reserved) is free on the disk of "), "{err}");
    assert!(!err.contains("reported"), "{err}");
}

/// SIGTERM went to the shell only, and what it had started lived on.
#[test]
fn what_exec_started_ends_with_the_cluster() {
    let directory = tempfile::tempdir().unwrap();
    let script = "sh -c 'sleep 90 & echo $! > $PID_FILE.new; mv $PID_FILE.new $PID_FILE; wait'; :";
    let (mut up, sleep) = exec(directory.path(), script);
    send(&up, Signal::TERM);
    assert_eq!(wait(&mut up), 143);
    until(|| has_ended(&sleep).then_some(()));
}

/// A command that does not want to end: the second signal ends it and the cluster at once.
#[test]
fn a_second_signal_waits_for_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; sleep 90 & echo $! > $PID_FILE; wait; sleep 90";
    let (mut up, sleep) = exec(directory.path(), script);
    let begin = Instant::now();
    let code = until(|| {
        send(&up, Signal::TERM);
        up.try_wait().unwrap()
    });
    assert_eq!(code.code(), Some(143));
    assert!(begin.elapsed() < Duration::from_secs(6), "{:?}", begin.elapsed());
    until(|| has_ended(&sleep).then_some(()));
}

/// Writers at work did not end before their directory was removed, and made files in it.
#[test]
fn a_cluster_that_is_written_to_leaves_no_directory() {
    let directory = tempfile::tempdir().unwrap();
    let script = "for i in 1 2 3 4; do yes | zerohop fs -put - /f$i 2> /dev/null & done
        for try in $(seq 600); do zerohop dfsadmin -listOpenFiles | grep -q f4 && break; done
        echo $$ > $PID_FILE; wait";
    let temporary = directory.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let pid = directory.path().join("pid");
    let mut command = zerohop(&PORTS);
    command.args(["--datanodes", "3", "--exec", script]);
    let mut up = command.env("TMPDIR", &temporary).env("PID_FILE", &pid).spawn().unwrap();
    until(|| pid.exists().then_some(()));
    send(&up, Signal::TERM);
    assert_eq!(wait(&mut up), 143);
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

/// What the edit log has lost was served on until the command had ended.
#[test]
fn a_namenode_that_lost_edits_serves_no_more() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let script = "trap '' TERM; zerohop fs -ls / || exit 2
        rm -r $HADOOP_CONF_DIR/../name/current; zerohop dfsadmin -rollEdits
        while zerohop fs -D ipc.client.connect.max.retries=0 -ls /; do :; done; echo silent > $SAID";
    let said = directory.path().join("said");
    let mut up = zerohop(&PORTS);
    up.args(["--data", data.to_str().unwrap(), "--exec", script]).env("SAID", &said);
    let (code, _, err) = run(&mut up);
    assert!(code == 1 && err.contains("the NameNode failed"), "{code} {err}");
    assert_eq!(fs::read_to_string(&said).unwrap_or_default(), "silent\n", "{err}");
}

/// `up` with these options and a limit: it waited for ever for DataNodes that had gone elsewhere.
fn tried(config: Option<&Path>, words: &[&str]) -> (i32, String, String) {
    let mut command = Command::new("timeout");
    command.args(["-k", "1", "50", BINARY]);
    if let Some(config) = config {
        command.arg("--config").arg(config);
    }
    let command_of_it =
        "zerohop fs -mkdir -p /made && zerohop fs -ls / && zerohop getconf -namenodes";
    command.args(words).args(PORTS).args(["--exec", command_of_it]);
    run(command.env_remove("HADOOP_CONF_DIR").stdin(Stdio::null()))
}

/// The configuration of another cluster gives its settings and neither its name nor its directories.
#[test]
fn the_configuration_of_another_cluster_does_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    let (conf, theirs) = (directory.path().join("conf"), directory.path().join("theirs"));
    fs::create_dir(&conf).unwrap();
    let theirs_text = theirs.to_str().unwrap();
    let site = zerohop_conf::site_xml([
        ("fs.defaultFS", "hdfs://c"),
        ("dfs.nameservices", "c"),
        ("dfs.ha.namenodes.c", "a,b"),
        ("dfs.namenode.rpc-address.c.a", "127.0.0.1:1"),
        ("dfs.namenode.rpc-address.c.b", "127.0.0.1:2"),
        ("dfs.namenode.servicerpc-address", "127.0.0.1:3"),
        ("dfs.namenode.name.dir", theirs_text),
        ("dfs.datanode.data.dir", theirs_text),
        ("dfs.hosts", theirs_text),
        ("dfs.umaskmode", "077"),
    ]);
    fs::write(conf.join("hdfs-site.xml"), site).unwrap();
    let (code, out, err) = tried(Some(&conf), &[]);
    assert!(code == 0 && out.contains("drwx------"), "{code} {out} {err}");
    assert!(out.ends_with("127.0.0.1\n"), "{out}");
    assert!(!theirs.exists());
}

/// What -D says counts, and a port 0 of it is not what DataNodes connect to.
#[test]
fn ports_and_directories_of_the_command_line_count() {
    let directory = tempfile::tempdir().unwrap();
    let name = directory.path().join("name");
    let name_dir = format!("-Ddfs.namenode.name.dir=file://{}", name.display());
    let words = ["-Ddfs.namenode.rpc-address=127.0.0.1:0", &name_dir];
    let (code, out, err) = tried(None, &words);
    assert!(code == 0 && out.contains("/made"), "{code} {out} {err}");
    assert!(name.join("current/VERSION").exists());
    // The directory is formatted by now, although that of the cluster is new.
    let (code, out, err) = tried(None, &words);
    assert!(code == 0 && out.contains("/made"), "{code} {out} {err}");
}

fn demo(directory: &Path, size: &str) -> Command {
    let mut command = zerohop(&["demo", "--size", size, "--directory"]);
    command.arg(directory);
    command
}

fn left_in(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

#[test]
fn an_interrupted_demo_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let home = || fs::read_dir(directory.path()).unwrap().next().map(|entry| entry.unwrap().path());
    // While the file is made, and while it is read and written.
    for sign in ["source", "data1/current"] {
        let mut child = demo(directory.path(), "96m").stdout(Stdio::null()).spawn().unwrap();
        until(|| home().is_some_and(|home| home.join(sign).exists()).then_some(()));
        send(&child, Signal::INT);
        assert_eq!(wait(&mut child), 130, "{sign}");
        assert_eq!(left_in(directory.path()), 0, "{sign}");
    }
}

#[test]
fn a_demo_that_nobody_reads_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut child = demo(directory.path(), "8m").stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(wait(&mut child), 141);
    assert_eq!(left_in(directory.path()), 0);
}

/// `zerohop fs -rm -r /tmp/x` in a second terminal deleted local files: without HADOOP_CONF_DIR the
/// local disk was meant.
#[test]
fn fs_without_a_configuration_means_the_running_cluster_and_never_the_local_disk() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("x");
    fs::write(&file, "kept").unwrap();
    let local = file.to_str().unwrap();
    let in_runtime = |args: &[&str]| {
        let mut command = zerohop(args);
        command.env("ZEROHOP_RUNTIME_DIR", directory.path().join("run"));
        command
    };
    let (code, _, err) = run(&mut in_runtime(&["fs", "-rm", "-r", local]));
    assert!(code != 0 && err.contains("no cluster is named"), "{code} {err}");
    let (code, out, err) = run(&mut in_runtime(&["fs", "-fs", "file:///", "-cat", local]));
    assert_eq!((code, out.as_str()), (0, "kept"), "{err}");

    let start = |name: &str| {
        let data = directory.path().join(name);
        let mut command = in_runtime(&PORTS);
        command.arg("--data").arg(&data).stdout(Stdio::piped());
        let mut up = command.spawn().unwrap();
        let out = std::io::BufReader::new(up.stdout.take().unwrap());
        let mut lines = std::io::BufRead::lines(out);
        let mut said = Vec::new();
        while !said.last().is_some_and(|line: &String| line.contains("HADOOP_CONF_DIR")) {
            said.push(lines.next().unwrap().unwrap());
        }
        (up, lines, said)
    };
    let (mut up, _lines, said) = start("one");
    // What it prints for REST works as it is.
    let curl = said.iter().find(|line| line.trim_start().starts_with("curl ")).unwrap();
    let (code, out, err) = run(Command::new("sh").args(["-c", &format!("{} -s", curl.trim())]));
    assert!(code == 0 && out.contains("{\"FileStatuses\":{"), "{curl}: {out} {err}");
    // A relative path lies in the home directory, which is there.
    let (code, _, err) = run(&mut in_runtime(&["fs", "-put", local, "copy"]));
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = run(&mut in_runtime(&["fs", "-rm", "-r", "-skipTrash", local]));
    assert!(code == 1 && err.contains("No such file"), "{err}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    let (code, out, err) = run(&mut in_runtime(&["dfsadmin", "-safemode", "get"]));
    assert!(code == 0 && out.contains("OFF"), "{out} {err}");

    // Every command finds it, not only those for files.
    let (code, uri, err) = run(&mut in_runtime(&["getconf", "-confKey", "fs.defaultFS"]));
    assert!(code == 0 && uri.starts_with("hdfs://127.0.0.1:"), "{uri} {err}");
    let (code, _, err) = run(&mut in_runtime(&["haadmin", "-getAllServiceState"]));
    assert!(code == 255 && err.starts_with("Failed to get service IDs"), "{code} {err}");
    let words = ["bench", "dfsio", "-write", "-nrFiles", "1", "-size", "1MB", "-resFile"];
    let mut bench = in_runtime(&words);
    let (code, _, err) = run(bench.arg(directory.path().join("results")));
    assert!(code == 0 && err.contains(&format!("measuring {}", uri.trim())), "{err}");
    let (code, out, _) = run(&mut in_runtime(&["fs", "-ls", "/benchmarks/TestDFSIO/io_data"]));
    assert!(code == 0 && out.contains("test_io_0"), "{out}");

    let (mut second, _second_lines, _) = start("two");
    for words in [
        &["fs", "-ls", "/"][..],
        &["getconf", "-confKey", "fs.defaultFS"],
        &["haadmin", "-getAllServiceState"],
        &["bench", "dfsio", "-write"],
        &["balancer"],
        &["mover"],
    ] {
        let (code, _, err) = run(&mut in_runtime(words));
        assert!(code != 0 && err.contains("2 clusters"), "{words:?}: {err}");
        let line = format!("zerohop --config {}/conf ...", directory.path().join("two").display());
        assert!(err.contains(&line), "{words:?}: {err}");
    }
    // It works where people append it, too.
    let two = directory.path().join("two/conf");
    let words = ["fs", "-ls", "-d", "/", "--config", two.to_str().unwrap()];
    let (code, out, err) = run(&mut in_runtime(&words));
    assert!(code == 0 && out.ends_with(" /\n"), "{out} {err}");
    for up in [&mut up, &mut second] {
        send(up, Signal::TERM);
        assert_eq!(wait(up), 0);
    }
    for words in
        [&["fs", "-ls", "/"][..], &["haadmin", "-getAllServiceState"], &["balancer"], &["mover"]]
    {
        let (code, _, err) = run(&mut in_runtime(words));
        assert!(code != 0 && err.contains("no cluster is named"), "{words:?}: {err}");
    }
    let (code, out, err) = run(&mut in_runtime(&["getconf", "-confKey", "fs.defaultFS"]));
    assert_eq!((code, out.as_str()), (0, "file:///\n"), "{err}");
}

/// `up --ha` on the directory of `up` waited for a minute, then served without a DataNode, and `up` on that of `up --ha` formatted
/// a second namespace beside the first.
#[test]
fn a_directory_of_the_other_kind_of_cluster_is_refused_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    for (made, words, advice) in [
        ("one/name/current", &["--ha"][..], "one NameNode: start it without --ha"),
        ("pair/nn1/current", &[], "two NameNodes: start it with --ha"),
    ] {
        let made = directory.path().join(made);
        fs::create_dir_all(&made).unwrap();
        let data = made.ancestors().nth(2).unwrap();
        let mut command = zerohop(&PORTS);
        let (code, _, err) = run(command.args(words).arg("--data").arg(data));
        assert!(code == 1 && err.contains(advice) && err.contains("--data"), "{code} {err}");
        assert_eq!(left_in(data), 1, "{err}");
    }
}

/// The error of a second `up` named keys of the configuration, and not the options that take other ports.
#[test]
fn a_port_in_use_is_refused_with_the_options_that_take_another() {
    let directory = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut command = zerohop(&["up", "--port", &port, "--http-port", "0", "--exec", "true"]);
    let (code, _, err) = run(command.arg("--data").arg(directory.path()));
    assert!(code == 1 && err.contains("--port and --http-port take others"), "{code} {err}");
}

/// `up --ha` waited for a minute for a DataNode that had ended at once, named the log of a NameNode, and served without it.
#[test]
fn a_pair_whose_datanode_ends_does_not_start_and_says_why() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("data1/current/left")).unwrap();
    let begun = Instant::now();
    let mut command = zerohop(&PORTS);
    let command = command.args(["--ha", "--exec", "true", "--data"]).arg(directory.path());
    let (code, _, err) = run(command);
    assert!(code == 1 && err.contains("the start failed for dn1"), "{code} {err}");
    assert!(err.contains("no VERSION") && err.contains("logs/dn1.log"), "{err}");
    assert!(begun.elapsed() < Duration::from_secs(50), "{:?}", begun.elapsed());
}
