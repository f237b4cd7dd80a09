//! The binary as a user has it: exit codes, output for programs, links, signals, data that stays.

mod support;

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use support::{BINARY, Signal, Up, run, send, until, wait, without_clusters, zerohop};

fn exec(command: &str) -> (i32, String, String) {
    run(&mut zerohop(&["up", "--port", "0", "--http-port", "0", "--exec", command]))
}

#[test]
fn exec_ends_with_the_exit_code_of_the_command() {
    assert_eq!(exec("exit 7"), (7, String::new(), String::new()));
    let (code, out, err) = exec("zerohop fs -mkdir /made && zerohop fs -ls /");
    assert!(code == 0 && out.contains(" /made"), "{code} {out} {err}");
    assert_eq!(err, "");
    assert_eq!(exec("zerohop fs -cat /none").0, 1);
    assert_eq!(exec("kill -TERM $$").0, 143);
}

#[test]
fn links_take_the_command_lines_of_hadoop() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["hdfs", "hadoop"] {
        symlink(BINARY, directory.path().join(name)).unwrap();
    }
    let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
    let command = "hdfs dfs -mkdir /x && hadoop fs -ls / && hdfs getconf -confKey dfs.replication";
    let mut up = zerohop(&["up", "--port", "0", "--http-port", "0", "--exec", command]);
    let (code, out, err) = run(up.env("PATH", path));
    assert!(code == 0 && out.contains(" /x\n") && out.ends_with("\n1\n"), "{code} {out} {err}");
    let (code, _, err) = run(Command::new(directory.path().join("hdfs")).arg("nonsense"));
    assert!(code == 1 && err.contains("nonsense is not a command"), "{code} {err}");
}

#[test]
fn every_command_has_a_help() {
    let verbs = [
        "up",
        "fs",
        "dfs",
        "dfsadmin",
        "fsck",
        "getconf",
        "doctor",
        "namenode",
        "datanode",
        "demo",
        "bench",
        "cacheadmin",
        "hdfs",
        "hadoop",
    ];
    for verb in verbs {
        let (code, out, err) = run(&mut zerohop(&[verb, "--help"]));
        assert!(code == 0 && out.to_lowercase().contains("usage: "), "{verb}: {code} {out} {err}");
    }
    let (code, out, _) = run(&mut zerohop(&["fs", "-ls", "--help"]));
    assert!(code == 0 && out.starts_with("-ls [-C]"), "{code} {out}");
}

#[test]
fn what_programs_read() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let local = directory.path().join("large");
    std::fs::write(&local, vec![7; 20 << 20]).unwrap();
    let local = local.to_str().unwrap();
    let silent = (0, String::new(), String::new());
    // No progress bar where nobody watches.
    assert_eq!(run(&mut up.fs(&["-put", local, "/large"])), silent);
    assert_eq!(run(&mut up.fs(&["-put", "-f", local, "/large"])), silent);
    assert_eq!(run(&mut up.fs(&["-get", "/large", &format!("{local}.copy")])), silent);
    assert_eq!(std::fs::read(format!("{local}.copy")).unwrap(), vec![7; 20 << 20]);
    let (code, out, _) = run(&mut up.fs(&["-ls", "--json", "/"]));
    let listed: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &listed[0]["length"]), (0, &json!(20 << 20)), "{out}");
    // A reader that goes away is no error of ours to tell about.
    let mut cat = up.fs(&["-cat", "/large"]);
    let mut cat = cat.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(cat.stdout.take());
    assert_eq!(wait(&mut cat), 141);
}

#[test]
fn exit_codes_of_the_shell() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let code = |args: &[&str]| run(&mut up.fs(args)).0;
    assert_eq!(code(&["-ls", "/"]), 0);
    assert_eq!(code(&["-ls", "/none"]), 1);
    assert_eq!(code(&["-test", "-d", "/"]), 0);
    assert_eq!(code(&["-test", "-e", "/none"]), 1);
    assert_eq!(code(&["-nonsense"]), 255);
    assert_eq!(code(&["-cat"]), 255);
    // As Hadoop, a name without a scheme is a NameNode's.
    let authority = authority(&up);
    let (code, out, err) = run(&mut zerohop(&["-fs", &authority, "fs", "-df", "/"]));
    assert!(code == 0 && out.contains(&format!("hdfs://{authority}")), "{code} {out} {err}");
    let admin = |args: &[&str]| up.admin(args);
    assert_eq!(admin(&["-safemode", "get"]), (0, "Safe mode is OFF\n".to_owned(), String::new()));
    assert_eq!(admin(&["-nonsense"]).0, 255);
    let (code, _, err) = admin(&["-reconfig", "datanode", "x:1", "start"]);
    assert!(code == 1 && err.starts_with("Node [x:1] reconfiguring: "), "{err}");
    let (code, _, err) = admin(&["-getDatanodeInfo", "x"]);
    assert!(code == 255 && err.contains("host:port"), "{err}");
    let once = "ipc.client.connect.max.retries=0";
    let (code, _, err) = admin(&["-D", once, "-getDatanodeInfo", "127.0.0.1:1"]);
    assert!(code == 255 && err.contains("Datanode unreachable"), "{err}");
}

/// `host:port` of the NameNode.
fn authority(up: &Up) -> String {
    let mut getconf = zerohop(&["getconf", "-nnRpcAddresses"]);
    run(getconf.env("HADOOP_CONF_DIR", &up.conf)).1.trim().to_owned()
}

/// What is told to administer is where the path says, and every path that a pattern means.
#[test]
fn quotas_and_snapshots_go_where_the_path_says() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let at = |path: &str| format!("hdfs://{}{path}", authority(&up));
    assert_eq!(run(&mut up.fs(&["-mkdir", "/q1", "/q2"])).0, 0);
    let quotas = || {
        let (_, out, _) = run(&mut up.fs(&["-count", "-q", "/q1", "/q2"]));
        let first = |line: &str| line.split_whitespace().next().unwrap().to_owned();
        out.lines().map(first).collect::<Vec<_>>()
    };
    let silent = (0, String::new(), String::new());
    assert_eq!(up.admin(&["-setQuota", "2k", "/q*"]), silent);
    assert_eq!(quotas(), ["2048", "2048"]);
    let local = ["-D", "fs.defaultFS=file:///"];
    assert_eq!(up.admin(&[&local[..], &["-setQuota", "9", &at("/q2")]].concat()), silent);
    assert_eq!(quotas(), ["2048", "9"]);
    for number in ["18446744073709551615", "9223372036854775807", "0"] {
        let (code, _, err) = up.admin(&["-setQuota", number, "/q1"]);
        assert!(code == 255 && err.contains("not a valid value for a quota"), "{code} {err}");
    }
    let (code, _, err) = up.admin(&["-setQuota", "7", "/none1", "/q1", "/none*"]);
    assert!(code == 255 && err.contains("/none1") && err.contains("/none*"), "{code} {err}");
    assert_eq!(quotas(), ["7", "9"]);
    // Refused, but by the NameNode that was named.
    let (code, _, err) = up.admin(&[&local[..], &["-allowSnapshot", &at("/q1")]].concat());
    assert!(code == 255 && err.contains("not supported by this NameNode"), "{code} {err}");
    let (code, out, err) = up.admin(&[&local[..], &["-listOpenFiles", "-path", &at("/")]].concat());
    assert!(code == 0 && out.starts_with("Client Host"), "{code} {out} {err}");
    let (code, _, err) = up.admin(&["-clrQuota", "file:///tmp"]);
    assert!(code == 255 && err.contains("is not an HDFS file system"), "{code} {err}");
}

/// A file had the name of a directory when it was thrown away.
/// A merge used to empty its target first, and to leave what it had written before it failed.
#[test]
fn a_merge_that_fails_keeps_the_old_target() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(path("d")).unwrap();
    std::fs::write(path("d/a"), "first").unwrap();
    std::fs::write(path("d/b"), vec![b'2'; 5000]).unwrap();
    std::fs::write(path("target"), "old").unwrap();
    let words = |target: &str| ["-fs", "file:///", "fs", "-getmerge", &path("d"), target].join(" ");
    let merge = |target: &str| run(&mut zerohop(&words(target).split(' ').collect::<Vec<_>>()));
    // The second file is larger than a file may be.
    let limited = format!("trap '' XFSZ; ulimit -f 1; exec {BINARY} {}", words(&path("target")));
    let (code, _, err) = run(Command::new("sh").args(["-c", &limited]));
    assert!(code == 1 && err.contains("File too large"), "{code} {err}");
    assert_eq!(std::fs::read_to_string(path("target")).unwrap(), "old");
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        2,
        "nothing is left beside it"
    );
    std::fs::write(path("d/b"), "second").unwrap();
    std::os::unix::fs::symlink(path("target"), path("link")).unwrap();
    for target in ["target", "link"] {
        assert_eq!(merge(&path(target)).0, 0);
        assert_eq!(std::fs::read_to_string(path("target")).unwrap(), "firstsecond");
    }
    assert!(std::fs::symlink_metadata(path("link")).unwrap().is_symlink());
    assert_eq!(merge("/dev/null").0, 0);
    assert!(!std::fs::symlink_metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_file_in_the_trash_is_in_orphan_way() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let rm = |path: &str| {
        let (code, _, err) = run(&mut up.fs(&["-D", "fs.trash.interval=60", "-rm", "-r", path]));
        assert_eq!(code, 0, "{err}");
        err.split(".Trash/Current").nth(1).unwrap().trim().to_owned()
    };
    assert_eq!(run(&mut up.fs(&["-touchz", "/a"])).0, 0);
    assert_eq!(rm("/a"), "/a");
    assert_eq!(run(&mut up.fs(&["-mkdir", "-p", "/a/b/c"])).0, 0);
    let moved = rm("/a/b/c");
    assert!(moved.starts_with("/a1") && moved.ends_with("/b/c"), "{moved}");
}

/// The blocks of one file are fetched side by side, each to its place.
#[test]
fn a_file_of_many_blocks_comes_back_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    let up = Up::start(&home.path().join("data"));
    let (from, to) = (home.path().join("from"), home.path().join("to"));
    let bytes: Vec<u8> = (0..5_500_000_u32).map(|n| (n ^ (n >> 9)) as u8).collect();
    std::fs::write(&from, &bytes).unwrap();
    let put = ["-D", "dfs.blocksize=1m", "-put", from.to_str().unwrap(), "/many"];
    assert_eq!(run(&mut up.fs(&put)).0, 0);
    assert_eq!(run(&mut up.fs(&["-stat", "%o", "/many"])).1, "1048576\n");
    for threads in ["1", "3"] {
        let (code, out, err) =
            run(&mut up.fs(&["-get", "-f", "-t", threads, "/many", to.to_str().unwrap()]));
        assert_eq!((code, out.as_str(), err.as_str()), (0, "", ""));
        assert!(std::fs::read(&to).unwrap() == bytes, "{threads} threads");
    }
    assert_eq!(up.stop(Signal::TERM), 0);
}

/// One line that says what to do, and an exit code that is not 0.
#[test]
fn what_cannot_work_says_so_in_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let file = file.to_str().unwrap();
    let empty = directory.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let define = |key: &str, value: &str| format!("-D{key}={value}");
    let name_dir = |value: &str| define("dfs.namenode.name.dir", value);
    let any = define("dfs.namenode.rpc-address", "127.0.0.1:0");
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("hdfs://{}", listener.local_addr().unwrap())
    };
    let bad = directory.path().join("bad");
    std::fs::create_dir(&bad).unwrap();
    std::fs::write(bad.join("core-site.xml"), "<configuration><property>").unwrap();
    let missing = directory.path().join("missing");
    let cases: &[(&[&str], &str)] = &[
        (&[&any, &name_dir(empty.to_str().unwrap()), "namenode"], "format"),
        (&[&any, &name_dir(missing.to_str().unwrap()), "namenode"], "-format"),
        (&["up", "--port", "0", "--data", file], "name a directory of yours"),
        (&["up", "--port", "0", "--http-port", "0", "--bind", "203.0.113.9"], "no such address"),
        (
            &[&any, "-fs", "hdfs://no-such-host.invalid:1", "fs", "-ls", "/"],
            "no-such-host.invalid: unknown host",
        ),
        (
            &["-fs", "//nn:8020", "fs", "-ls", "/"],
            "fs.defaultFS: `//nn:8020' from the command line",
        ),
        (
            &["-fs", "file:///", "fs", "-ls", "/[a"],
            "error parsing regexp: Unclosed character class at pos 2: `[a`",
        ),
        (&["-fs", "hdfs:///", "fs", "-ls", "/"], "Incomplete HDFS URI, no host: hdfs:///;"),
        (&["--config", bad.to_str().unwrap(), "fs", "-ls", "/"], "cut off"),
        (&["--config", missing.to_str().unwrap(), "fs", "-ls", "/"], "cannot read configuration"),
        (
            &["-D", "ipc.client.connect.max.retries=0", "-fs", &closed, "fs", "-ls", "/"],
            ": Connection refused; is the NameNode running there? fs.defaultFS names it",
        ),
        (&["-D", "dfs.replication=x", "-fs", &closed, "fs", "-put", file, "/y"], "dfs.replication"),
        (&["demo", "--size", "lots"], "--size"),
    ];
    for (args, part) in cases {
        let (code, out, err) = run(&mut zerohop(args));
        assert!(code > 0 && out.is_empty(), "{args:?}: {code} {out}");
        assert!(err.contains(part) && err.lines().count() == 1, "{args:?}: {err}");
    }
}

#[test]
fn getconf_knows_all_of_hadoops_defaults() {
    let value = |key: &str| run(&mut without_clusters(&["getconf", "-confKey", key]));
    assert_eq!(value("dfs.blocksize").1, "134217728\n");
    assert_eq!(value("dfs.block.size").1, "134217728\n");
    assert_eq!(value("hadoop.security.group.mapping.ldap.ssl").1, "false\n");
    assert_eq!(value("dfs.namenode.shared.edits.dir").1, "\n");
    let (code, out, err) = value("no.such.key");
    assert!(code == 255 && out.is_empty() && err.contains("missing"), "{code} {out} {err}");
}

/// The lists of `getconf` for programs: what the lists for people say, and nothing to take apart.
#[test]
fn lists_of_getconf_for_programs() {
    let directory = tempfile::tempdir().unwrap();
    let site = zerohop_conf::site_xml([
        ("dfs.nameservices", "a,b"),
        ("dfs.ha.namenodes.a", "n1,n2"),
        ("dfs.namenode.rpc-address.a.n1", "x:1"),
        ("dfs.namenode.rpc-address.a.n2", "y:2"),
        ("dfs.namenode.rpc-address.b", "z"),
        ("dfs.namenode.secondary.http-address", "s:9868"),
        ("dfs.namenode.shared.edits.dir", "qjournal://j1:8485;j2:8485/a"),
    ]);
    let path = directory.path().join("hdfs-site.xml");
    std::fs::write(&path, site).unwrap();
    let getconf = |words: &[&str]| {
        let mut command = zerohop(&["--config", directory.path().to_str().unwrap(), "getconf"]);
        let (code, out, err) = run(command.args(words));
        assert_eq!((code, err.as_str()), (0, ""), "{words:?}");
        out
    };
    let json = |words: &[&str]| -> Value {
        let out = getconf(&[words, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{words:?}: {error}: {out}"))
    };
    let nodes = json!([
        {"nameservice": "a", "id": "n1", "host": "x", "port": 1},
        {"nameservice": "a", "id": "n2", "host": "y", "port": 2},
        {"nameservice": "b", "id": null, "host": "z", "port": 8020},
    ]);
    assert_eq!(json(&["-namenodes"]), nodes);
    assert_eq!(json(&["-nnRpcAddresses"]), nodes);
    assert_eq!(getconf(&["-namenodes"]), "x y z\n");
    assert_eq!(json(&["-journalNodes"]), json!(["j1", "j2"]));
    // As Apache's: a name service has them under its own keys only.
    for word in ["-secondaryNameNodes", "-backupNodes"] {
        let mut command =
            zerohop(&["--config", directory.path().to_str().unwrap(), "getconf", word]);
        let (code, out, err) = run(&mut command);
        let refused = code == 255 && out.is_empty() && err.starts_with("Incorrect configuration");
        assert!(refused, "{word}: {code} {out} {err}");
    }
    let list = json(&["-list"]);
    assert_eq!(list.as_array().unwrap().len(), 7, "{list}");
    let source = format!("{}:4", path.display());
    assert_eq!(list[0], json!({"key": "dfs.ha.namenodes.a", "value": "n1,n2", "source": source}));
    let value = json(&["-confKey", "dfs.nameservices"]);
    let (key, source) = ("dfs.nameservices", path.to_str().unwrap());
    assert_eq!(
        value,
        json!({"key": key, "value": "a,b", "source": source, "line": 3, "final": false, "deprecated": false})
    );
}

#[test]
fn the_topology_for_programs() {
    let directory = tempfile::tempdir().unwrap();
    let up = Up::start(&directory.path().join("data"));
    let (code, out, err) = up.admin(&["-printTopology", "--json"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let racks: Value = serde_json::from_str(&out).unwrap();
    let node = &racks[0]["datanodes"][0];
    let (name, uuid) = (node["name"].as_str().unwrap(), node["uuid"].as_str().unwrap());
    let expected = json!([{"rack": "/default-rack", "datanodes": [
        {"name": name, "hostname": node["hostname"], "uuid": uuid, "adminState": "In Service"},
    ]}]);
    assert_eq!(racks, expected);
    assert!(!uuid.is_empty() && node["hostname"].is_string(), "{out}");
    let (_, text, _) = up.admin(&["-printTopology"]);
    assert!(text.starts_with(&format!("Rack: /default-rack\n   {name} ")), "{text} {out}");
}

#[test]
fn the_demo_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let (code, out, err) = run(&mut zerohop(&["demo", "--size", "8m", "--directory", path]));
    assert!(code == 0 && out.contains("compare") && err.is_empty(), "{code} {out} {err}");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// Options of the configuration may stand before or behind those of a daemon.
#[test]
fn a_namenode_is_formatted_with_the_options_in_any_order() {
    let directory = tempfile::tempdir().unwrap();
    for (name, order) in [("before", [1, 2, 0]), ("behind", [0, 1, 2])] {
        let name_dir = directory.path().join(name);
        let conf = directory.path().join(format!("{name}-conf"));
        std::fs::create_dir(&conf).unwrap();
        let site = format!(
            "<configuration><property><name>dfs.namenode.name.dir</name><value>{}</value></property></configuration>",
            name_dir.display()
        );
        std::fs::write(conf.join("hdfs-site.xml"), site).unwrap();
        let words = ["--format", "--config", conf.to_str().unwrap()];
        let words: Vec<&str> = order.iter().map(|i| words[*i]).collect();
        let (code, _, err) = run(zerohop(&["namenode"]).args(&words));
        assert_eq!(code, 0, "{words:?}: {err}");
        assert!(name_dir.join("current/VERSION").exists(), "{words:?}");
    }
}

/// `zerohop up | head -1`: the cluster goes on when nobody reads what it says.
#[test]
fn up_does_not_need_a_reader() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let mut command =
        zerohop(&["up", "--port", "0", "--http-port", "0", "--data", data.to_str().unwrap()]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let conf = data.join("conf");
    // The configuration is written just before the first line is printed.
    until(|| conf.join("hdfs-site.xml").exists().then_some(()));
    let list = |_: usize| run(zerohop(&["fs", "-ls", "/"]).env("HADOOP_CONF_DIR", &conf)).0;
    assert_eq!((0..3).map(list).collect::<Vec<_>>(), [0, 0, 0]);
    assert!(child.try_wait().unwrap().is_none());
    send(&child, Signal::TERM);
    assert_eq!(wait(&mut child), 0);
}

/// The cluster of `up` reads locally as it is: the doctor finds nothing, of its own file or another.
#[test]
fn the_doctor_finds_up_well() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let command = "zerohop fs -put /etc/passwd / && zerohop doctor && zerohop doctor --json /passwd && ! zerohop doctor /none > /dev/null";
    let (code, out, err) = run(zerohop(&["up", "--port", "0", "--http-port", "0"]).args([
        "--data",
        data.to_str().unwrap(),
        "--exec",
        command,
    ]));
    assert!(code == 0 && err.is_empty(), "{code} {out} {err}");
    assert!(out.contains("local reads work") && out.contains("HDFS-5182"), "{out}");
    let (_, json) = out.split_once("\n{").unwrap();
    let json: serde_json::Value = serde_json::from_str(&format!("{{{json}")).unwrap();
    assert_eq!((&json["localReads"], &json["faults"]), (&true.into(), &0.into()), "{out}");
}
