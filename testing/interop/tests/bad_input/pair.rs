//! Pairs of NameNodes whose configuration or directories cannot work: the program that meets it says in one line which key or
//! directory it is, and what to do.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use zerohop_interop::harm::Explain;
use zerohop_interop::pair::LIMIT;
use zerohop_interop::process::{Process, tail};
use zerohop_interop::site::{Setting, settings, write_conf};
use zerohop_interop::tools::{self, Java};
use zerohop_interop::{Outcome, ports, wait};

const RPC: &str = "dfs.namenode.rpc-address.ns.nn1";
const SHARED: &str = "dfs.namenode.shared.edits.dir";

/// A name service `ns` with the NameNodes `nn0` and `nn1` and three JournalNodes.
struct Site {
    directory: PathBuf,
    rpc: [u16; 2],
    http: [u16; 2],
    journal_rpc: [u16; 3],
    journal_http: [u16; 3],
    running: Vec<(String, Process)>,
}

impl Site {
    /// JournalNodes that run, directories of both NameNodes, and a configuration of each.
    fn formatted() -> Outcome<Self> {
        let directory = tools::clusters().join("bad-pair");
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).at("a directory")?;
        let port = |_| ports::free();
        let mut site = Self {
            directory,
            rpc: [0; 2].map(port),
            http: [0; 2].map(port),
            journal_rpc: [0; 3].map(port),
            journal_http: [0; 3].map(port),
            running: Vec::new(),
        };
        for i in 0..3 {
            site.write(&format!("jn{i}"), &site.of_journal_node(i), &[])?;
            site.start(&format!("jn{i}"), &["journalnode"], site.journal_rpc[i])?;
        }
        for i in 0..2 {
            site.write(&format!("nn{i}"), &site.of_namenode(i), &[])?;
        }
        site.succeeds("nn0", &["namenode", "-format", "-nonInteractive"])?;
        site.start("nn0", &["namenode"], site.rpc[0])?;
        site.succeeds("nn1", &["namenode", "-bootstrapStandby", "-nonInteractive"])?;
        site.succeeds("nn0", &["haadmin", "-transitionToActive", "--forceactive", "nn0"])?;
        site.succeeds("nn0", &["fs", "-mkdir", "/a"])?;
        Ok(site)
    }

    fn at(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }

    fn shared(&self, journal: &str) -> String {
        let hosts = self.journal_rpc.map(|port| format!("127.0.0.1:{port}")).join(";");
        format!("qjournal://{hosts}/{journal}")
    }

    fn of_journal_node(&self, i: usize) -> Vec<Setting> {
        settings(&[
            ("dfs.journalnode.edits.dir", &self.at(&format!("jn{i}/data"))),
            ("dfs.journalnode.rpc-address", &format!("127.0.0.1:{}", self.journal_rpc[i])),
            ("dfs.journalnode.http-address", &format!("127.0.0.1:{}", self.journal_http[i])),
            // The NameNodes that may call.
            ("dfs.namenode.rpc-address", "127.0.0.1:8020"),
        ])
    }

    fn of_namenode(&self, own: usize) -> Vec<Setting> {
        let mut all = settings(&[
            ("dfs.nameservices", "ns"),
            ("dfs.ha.namenodes.ns", "nn0,nn1"),
            ("dfs.ha.namenode.id", &format!("nn{own}")),
            ("dfs.namenode.name.dir", &self.at(&format!("nn{own}/data"))),
            (SHARED, &self.shared("ns")),
            ("dfs.ha.fencing.methods", "shell(/bin/true)"),
            ("dfs.ha.tail-edits.period", "100ms"),
            ("ipc.client.connect.max.retries", "1"),
            ("dfs.client.failover.max.attempts", "3"),
            (
                "dfs.client.failover.proxy.provider.ns",
                "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider",
            ),
        ]);
        for i in 0..2 {
            let mut set = |key: &str, port: u16| {
                all.push((format!("dfs.namenode.{key}.ns.nn{i}"), format!("127.0.0.1:{port}")));
            };
            set("rpc-address", self.rpc[i]);
            set("http-address", self.http[i]);
        }
        all
    }

    /// A configuration of settings, without those that `lacks` names.
    fn write(&self, name: &str, settings: &[Setting], lacks: &[&str]) -> Outcome {
        let core = zerohop_interop::site::settings(&[
            ("fs.defaultFS", "hdfs://ns"),
            ("hadoop.tmp.dir", &self.at("tmp")),
        ]);
        let mut kept = settings.to_vec();
        kept.retain(|(key, _)| !lacks.contains(&key.as_str()));
        write_conf(&self.conf(name), &core, &[&kept])
    }

    fn conf(&self, name: &str) -> PathBuf {
        self.directory.join(name).join("conf")
    }

    fn start(&mut self, name: &str, words: &[&str], port: u16) -> Outcome {
        let mut command = Command::new(tools::zerohop()?);
        command.arg("--config").arg(self.conf(name)).args(words);
        self.start_command(name, command, port)
    }

    fn start_command(&mut self, name: &str, command: Command, port: u16) -> Outcome {
        let log = self.directory.join(name).join("log");
        self.running.push((name.to_owned(), Process::daemon(name, command, &log)?));
        let reached = || Ok(TcpStream::connect(("127.0.0.1", port)).is_ok());
        wait::until(&format!("{name} listens"), LIMIT, reached)
            .map_err(|error| format!("{error}\n{}", tail(&log, 20)))
    }

    fn stop(&mut self, name: &str) {
        self.running.retain(|(known, _)| known != name);
    }

    /// Exit code, and all that is said; a program that has not ended after a while is stopped, with 124.
    fn run(&self, conf: &str, words: &[&str]) -> Outcome<(i32, String)> {
        let mut command = Command::new("timeout");
        command.arg("60").arg(tools::zerohop()?).arg("--config").arg(self.conf(conf)).args(words);
        let output = command.output().at("a command")?;
        let said = [output.stdout, output.stderr].concat();
        let code = output.status.code().unwrap_or(-1);
        Ok((code, String::from_utf8_lossy(&said).into_owned()))
    }

    fn succeeds(&self, conf: &str, words: &[&str]) -> Outcome {
        match self.run(conf, words)? {
            (0, _) => Ok(()),
            (code, said) => Err(format!("{words:?}: {code}\n{said}")),
        }
    }

    /// The program ends with an error, and one line has all of `parts`.
    fn refuses(&self, conf: &str, words: &[&str], parts: &[&str]) -> Outcome {
        let (code, said) = self.run(conf, words)?;
        let is_said = said.lines().any(|line| parts.iter().all(|part| line.contains(part)));
        match is_said && code != 0 && code != 124 {
            true => Ok(()),
            false => Err(format!("{words:?}: {code}, no line with {parts:?} in\n{said}")),
        }
    }

    /// Changes the layout in a VERSION file.
    fn set_layout(&self, directory: &str, from: i32, to: i32) -> Outcome {
        let path = self.directory.join(directory).join("current/VERSION");
        let text = std::fs::read_to_string(&path).at(directory)?;
        let (old, new) = (format!("layoutVersion={from}"), format!("layoutVersion={to}"));
        match text.contains(&old) {
            true => std::fs::write(&path, text.replace(&old, &new)).at(directory),
            false => Err(format!("{}: no {old} in\n{text}", path.display())),
        }
    }
}

/// Words that set keys for one command.
fn with(settings: &[(&str, String)]) -> Vec<String> {
    settings.iter().flat_map(|(key, value)| ["-D".to_owned(), format!("{key}={value}")]).collect()
}

fn words<'a>(first: &[&'a str], more: &'a [String]) -> Vec<&'a str> {
    first.iter().copied().chain(more.iter().map(String::as_str)).collect()
}

fn started_twice(site: &mut Site) -> Outcome {
    site.start("nn1", &["namenode"], site.rpc[1])?;
    let is_named = ["dfs.ha.namenode.id: nn1 of ns is in use", RPC, "stop it, or set"];
    site.refuses("nn1", &["namenode"], &is_named)?;
    // Another directory, which is as good, and all addresses of the machine, as on another machine.
    let copy = site.at("copy");
    let copied = Command::new("cp").args(["-r", &site.at("nn1/data"), &copy]).status();
    copied.at("a copy")?;
    let _ = std::fs::remove_file(site.directory.join("copy/in_use.lock"));
    let elsewhere = with(&[
        ("dfs.namenode.name.dir", copy),
        ("dfs.namenode.rpc-bind-host", "127.0.0.9".to_owned()),
        ("dfs.namenode.http-address.ns.nn1", format!("127.0.0.9:{}", ports::free())),
    ]);
    site.refuses("nn1", &words(&["namenode"], &elsewhere), &is_named)?;
    // The same directory, as another NameNode.
    let own_ports = with(&[
        (RPC, format!("127.0.0.1:{}", ports::free())),
        ("dfs.namenode.http-address.ns.nn1", format!("127.0.0.1:{}", ports::free())),
    ]);
    let locked = ["Cannot lock storage", &site.at("nn1/data"), "stop that process first"];
    site.refuses("nn1", &words(&["namenode"], &own_ports), &locked)?;
    let again = ["namenode", "-bootstrapStandby", "-force", "-nonInteractive"];
    site.refuses("nn1", &again, &locked)?;
    // A JournalNode.
    let in_use = ["dfs.journalnode.rpc-address", "Address already in use", "choose another"];
    site.refuses("jn0", &["journalnode"], &in_use)?;
    let own_ports = with(&[
        ("dfs.journalnode.rpc-address", "127.0.0.1:0".to_owned()),
        ("dfs.journalnode.http-address", "127.0.0.1:0".to_owned()),
    ]);
    let locked = ["Cannot lock storage", &site.at("jn0/data/ns"), "stop that process first"];
    site.refuses("jn0", &words(&["journalnode"], &own_ports), &locked)?;
    site.stop("nn1");
    Ok(())
}

fn a_namenode_is_missing(site: &Site) -> Outcome {
    site.write("lacking", &site.of_namenode(0), &[RPC])?;
    let not_set = [&format!("{RPC} is not set")[..], "set it to"];
    site.refuses("lacking", &["namenode"], &not_set)?;
    site.refuses("lacking", &["namenode", "-bootstrapStandby"], &not_set)?;
    site.refuses("lacking", &["datanode"], &not_set)?;
    let client = [&format!("{RPC} is not set")[..], "must name the host and port"];
    site.refuses("lacking", &["fs", "-ls", "/"], &client)?;
    let target = ["Unable to determine service address for namenode 'nn1'", &format!("set {RPC}")];
    site.refuses("lacking", &["haadmin", "-failover", "nn0", "nn1"], &target)?;
    let automatic = ["-D", "dfs.ha.automatic-failover.enabled=true"];
    let own = [&["zkfc"][..], &automatic, &["-D", "dfs.ha.namenode.id=nn1"]].concat();
    site.refuses("lacking", &own, &target)?;
    let own = ["namenode", "-D", "dfs.ha.namenode.id=nn1"];
    site.refuses("lacking", &own, &not_set)?;
    let alone = ["namenode", "-D", "dfs.ha.namenodes.ns=nn0"];
    site.refuses("nn0", &alone, &[SHARED, "names no second NameNode", "name both there"])?;
    site.write("shareless", &site.of_namenode(1), &[SHARED])?;
    site.refuses("shareless", &["namenode"], &[SHARED, "is not set: set it to"])?;
    let unknown = ["namenode", "-D", "dfs.ha.namenode.id=nn2"];
    site.refuses("nn0", &unknown, &["dfs.ha.namenode.id: `nn2'", "dfs.ha.namenodes.NAMESERVICE"])
}

/// Starts a NameNode with another journal, and tries to make it active.
fn with_journal(site: &mut Site, journal: &str, parts: &[&str]) -> Outcome {
    let own = with(&[(SHARED, site.shared(journal))]);
    site.start("nn0", &words(&["namenode"], &own), site.rpc[0])?;
    let refused =
        site.refuses("nn0", &["haadmin", "-transitionToActive", "--forceactive", "nn0"], parts);
    let log = tail(&site.directory.join("nn0/log"), 8);
    site.stop("nn0");
    refused.map_err(|error| format!("{journal}: {error}\n{log}"))
}

fn other_journals(site: &mut Site) -> Outcome {
    site.stop("nn0");
    let other =
        with(&[(SHARED, site.shared("other")), ("dfs.namenode.name.dir", site.at("other"))]);
    site.succeeds("nn0", &words(&["namenode", "-format", "-nonInteractive"], &other))?;
    let named = ["Incompatible namespaceID", SHARED, "of another cluster: name this cluster's"];
    with_journal(site, "other", &named)?;
    let named = ["not formatted", SHARED, "run `namenode -initializeSharedEdits'"];
    with_journal(site, "nothing", &named)?;
    let two = with(&[
        (SHARED, "qjournal://127.0.0.1:1;127.0.0.1:2/ns".to_owned()),
        ("dfs.namenode.name.dir", site.at("even")),
        ("ipc.client.connect.max.retries", "0".to_owned()),
    ]);
    let even = [SHARED, "2 JournalNodes survive the loss of 0", "name 1 or 3 of them"];
    site.refuses("nn0", &words(&["namenode", "-format", "-nonInteractive"], &two), &even)
}

fn other_layouts(site: &mut Site) -> Outcome {
    let own = site.at("nn1/data");
    site.set_layout("nn1/data", -67, -66)?;
    let older = [&own[..], "old layout version -66", "start this one with -rollingUpgrade started"];
    site.refuses("nn1", &["namenode"], &older)?;
    let two = with(&[("dfs.namenode.name.dir", format!("{},{own}", site.at("copy")))]);
    let mixed = [&own[..], "It has layoutVersion -66 and the others -67", "dfs.namenode.name.dir"];
    site.refuses("nn1", &words(&["namenode"], &two), &mixed)?;
    site.set_layout("nn1/data", -66, -68)?;
    let newer = [&own[..], "Reported: -68. Expecting = -67.", "Use a release that knows"];
    site.refuses("nn1", &["namenode"], &newer)?;
    site.set_layout("nn1/data", -68, -67)?;
    // JournalNodes keep segments of any layout: a pair works with one whose directory is of another release.
    for (i, layout) in [(0, -66), (1, -68)] {
        let name = format!("jn{i}");
        site.stop(&name);
        site.set_layout(&format!("{name}/data/ns"), -67, layout)?;
        site.start(&name, &["journalnode"], site.journal_rpc[i])?;
    }
    site.start("nn0", &["namenode"], site.rpc[0])?;
    site.succeeds("nn0", &["haadmin", "-transitionToActive", "--forceactive", "nn0"])?;
    site.succeeds("nn0", &["fs", "-mkdir", "/b"])?;
    site.succeeds("nn0", &["dfsadmin", "-rollEdits"])?;
    site.succeeds("nn0", &["fs", "-test", "-d", "/a"])?;
    site.stop("nn0");
    // What a newer release has written.
    for i in 0..3 {
        newer_segments(&site.directory.join(format!("jn{i}/data/ns/current")))?;
    }
    site.start("nn1", &["namenode"], site.rpc[1])?;
    let newer = ["has layout version -68, newer than -67", "/getJournal?", "use the release that"];
    site.refuses("nn1", &["haadmin", "-transitionToActive", "--forceactive", "nn1"], &newer)?;
    site.stop("nn1");
    Ok(())
}

/// Gives each finished segment the header of a newer release.
fn newer_segments(current: &Path) -> Outcome {
    for entry in std::fs::read_dir(current).at("segments")?.flatten() {
        if entry.file_name().to_string_lossy().starts_with("edits_0") {
            let mut bytes = std::fs::read(entry.path()).at("a segment")?;
            bytes.splice(..4, (-68_i32).to_be_bytes());
            std::fs::write(entry.path(), bytes).at("a segment")?;
        }
    }
    Ok(())
}

/// Apache's JournalNode does not open a directory of a newer release.
fn apaches_journal_node(site: &mut Site) -> Outcome {
    site.stop("jn1");
    let mut command = Java::get()?.command(256);
    command.arg("zerohop.Daemon").arg("journalnode").arg(site.conf("jn1"));
    site.start_command("jn1", command, site.journal_rpc[1])?;
    let one = format!("qjournal://127.0.0.1:{}/ns", site.journal_rpc[1]);
    site.start("nn0", &words(&["namenode"], &with(&[(SHARED, one)])), site.rpc[0])?;
    let named = [SHARED, "cannot read VERSION", "a release that is not older"];
    site.refuses("nn0", &["haadmin", "-transitionToActive", "--forceactive", "nn0"], &named)?;
    site.stop("nn0");
    Ok(())
}

fn fencing(site: &Site) -> Outcome {
    let failover = ["haadmin", "-failover", "nn0", "nn1"];
    for (methods, reason) in [
        ("powershell(x)", "Could not find configured fencing method powershell"),
        ("shell", "No argument passed to 'shell' fencing method"),
        ("sshfence(hdfs:x)", "Port"),
    ] {
        let own = with(&[("dfs.ha.fencing.methods", methods.to_owned())]);
        let named = ["dfs.ha.fencing.methods: ", reason, "write a method a line: sshfence"];
        let own = [&words(&["haadmin"], &own)[..], &failover[1..]].concat();
        site.refuses("nn0", &own, &named)?;
    }
    site.write("fenceless", &site.of_namenode(0), &["dfs.ha.fencing.methods"])?;
    let named = ["failover requires a fencer: set dfs.ha.fencing.methods to a method a line"];
    site.refuses("fenceless", &failover, &named)
}

#[test]
fn pairs_that_cannot_work_are_refused_with_the_key_and_the_fix() {
    let mut site = Site::formatted().unwrap();
    let outcome = started_twice(&mut site)
        .and_then(|()| a_namenode_is_missing(&site))
        .and_then(|()| fencing(&site))
        .and_then(|()| other_journals(&mut site))
        .and_then(|()| other_layouts(&mut site))
        .and_then(|()| apaches_journal_node(&mut site));
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
