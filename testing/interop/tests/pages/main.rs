//! The web pages of all daemons in Chromium.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

mod slow;

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use zerohop_client::blocking::FileWriter;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SETTLE, client, http, put, shape, write, zerohop};
use zerohop_interop::http::Connection;
use zerohop_interop::process::{Process, tail};
use zerohop_interop::prometheus::Exposition;
use zerohop_interop::socket_directory::SocketDirectory;
use zerohop_interop::{Kind, Outcome, ports, site, tools, wait};

/// How long the browser may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);
const LARGE: &str = "/large";
const ENTRIES: usize = 10_000;

/// A daemon of ours besides the cluster's.
fn daemon(cluster: &Cluster, words: &[String], port: u16) -> Outcome<Process> {
    let name = words[0].clone();
    let mut command = Command::new(tools::zerohop()?);
    command.arg("--config").arg(cluster.conf()).args(words);
    let log = cluster.site.log(&name);
    let process = Process::daemon(&name, command, &log)?;
    let reached = || Ok(TcpStream::connect(("127.0.0.1", port)).is_ok());
    wait::until(&format!("{name} listens"), Duration::from_secs(120), reached)
        .map_err(|error| format!("{error}\n{}", tail(&log, 20)))?;
    Ok(process)
}

fn setting(key: &str, value: &str) -> [String; 2] {
    ["-D".to_owned(), format!("{key}={value}")]
}

/// Two NameNodes that share a journal, of which `a` may run.
struct NameService {
    rpc: u16,
    http: u16,
    journal: String,
    names: String,
}

impl NameService {
    fn new(cluster: &Cluster) -> Self {
        let journal = format!("127.0.0.1:{}", ports::free());
        let names = cluster.directory().join("names").display().to_string();
        Self { rpc: ports::free(), http: ports::free(), journal, names }
    }

    /// The command line of the NameNode `a`.
    fn namenode(&self) -> Vec<String> {
        let mut words = vec!["namenode".to_owned()];
        for (key, value) in [
            ("dfs.nameservices", "ns"),
            ("dfs.ha.namenodes.ns", "a,b"),
            ("dfs.ha.namenode.id", "a"),
            ("dfs.namenode.rpc-address.ns.a", &format!("127.0.0.1:{}", self.rpc)),
            ("dfs.namenode.http-address.ns.a", &format!("127.0.0.1:{}", self.http)),
            ("dfs.namenode.rpc-address.ns.b", "127.0.0.1:2"),
            ("dfs.namenode.name.dir", &self.names),
            ("dfs.namenode.shared.edits.dir", &format!("qjournal://{}/ns", self.journal)),
            // Longer than the browser looks at the pages of the start.
            ("dfs.qjournal.select-input-streams.timeout.ms", "600000"),
        ] {
            words.extend(setting(key, value));
        }
        words
    }

    /// A JournalNode with the journal, formatted by `a`.
    fn journal_node(&self, cluster: &Cluster, port: u16) -> Outcome<Process> {
        let directory = cluster.directory().join("journal");
        let mut words = vec!["journalnode".to_owned()];
        words.extend(setting("dfs.journalnode.edits.dir", &directory.display().to_string()));
        words.extend(setting("dfs.journalnode.rpc-address", &self.journal));
        words.extend(setting("dfs.journalnode.http-address", &format!("127.0.0.1:{port}")));
        words.extend(setting("dfs.namenode.rpc-address", &format!("127.0.0.1:{}", self.rpc)));
        let process = daemon(cluster, &words, port)?;
        let words = self.namenode();
        let mut line: Vec<&str> = words.iter().map(String::as_str).collect();
        line.push("--format");
        match zerohop(&cluster.conf(), &line)? {
            (0, _) => Ok(process),
            (code, text) => Err(format!("formatting a journal: {code} {text}")),
        }
    }

    /// The NameNode `a`, which waits for a JournalNode that is stopped.
    fn starting(&self, cluster: &Cluster, journal_node: &Process) -> Outcome<Process> {
        journal_node.pause();
        daemon(cluster, &self.namenode(), self.http)
    }
}

fn gateway(cluster: &Cluster, port: u16) -> Outcome<Process> {
    let mut words = vec!["gateway".to_owned()];
    words.extend(setting("httpfs.http.hostname", "127.0.0.1"));
    words.extend(setting("httpfs.http.port", &port.to_string()));
    daemon(cluster, &words, port)
}

/// Makes directories from many connections: the edits of a moment are synced together.
fn make_entries(port: u16, user: &str) {
    const THREADS: usize = 40;
    let make = |first: usize| {
        let mut connection = Connection::open(port).unwrap();
        for number in (first..ENTRIES).step_by(THREADS) {
            let target = format!("/webhdfs/v1{LARGE}/entry-{number:05}?op=MKDIRS&user.name={user}");
            let answer = connection.ask("PUT", &target, &[], b"").unwrap();
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
    };
    std::thread::scope(|scope| {
        (0..THREADS).for_each(|first| drop(scope.spawn(move || make(first))))
    });
}

/// The DataNodes of the cluster. The first two hold replicas and are written to.
const DATANODES: usize = 5;
/// Stopped, so that it is dead; taken out of service, too.
const DEAD: usize = 2;
/// One of its volumes has failed; it is being taken out of service.
const LEAVING: usize = 3;
/// In maintenance; not among the DataNodes that may serve in the end.
const AWAY: usize = 4;

/// A directory that a DataNode finds slow, with a name that would be markup.
const SLOW_DISK: &str = "/disks/<b>1</b>";

const READ_LEN: u64 = 300_000;

/// What the pages show besides files: a pipeline that waits for its writer, a process that reads locally, DataNodes in all states.
/// It ends when this is dropped.
struct Scene {
    reader: Process,
    _writer: FileWriter,
}

/// The file of `dfs.hosts`, outside the directory that is made when the cluster starts.
fn hosts_file() -> Outcome<PathBuf> {
    let run = tools::out().join("run");
    let file = run.join("pages.hosts.json");
    fs::create_dir_all(&run).and_then(|()| fs::write(&file, "")).at("the hosts file")?;
    file.canonicalize().at("the hosts file")
}

/// Lets these DataNodes serve, each in its state.
fn refresh_hosts(cluster: &Cluster, file: &Path, states: &[(usize, &str)]) -> Outcome {
    let entry = |&(number, state): &(usize, &str)| {
        let port = cluster.site.data_ports[number];
        json!({ "hostName": "127.0.0.1", "port": port, "adminState": state })
    };
    let entries: Vec<Value> = states.iter().map(entry).collect();
    fs::write(file, Value::from(entries).to_string()).at("the hosts file")?;
    match zerohop(&cluster.conf(), &["dfsadmin", "-refreshNodes"])? {
        (0, _) => Ok(()),
        (code, text) => Err(format!("-refreshNodes: {code} {text}")),
    }
}

/// Stops one DataNode, and breaks a volume of another.
fn break_datanodes(cluster: &mut Cluster) -> Outcome {
    // Some replicas stay where the volume that works is: what others lack in the end keeps a DataNode from leaving.
    let fs = client(&cluster.conf(), &[])?;
    for number in 0..4 {
        put(&fs, &format!("/everywhere-{number}"), number, 1000, shape(DATANODES as u16, 1 << 20))?;
    }
    cluster.stop_datanode(LEAVING)?;
    // A file in the place of a volume's directory is a volume that has failed.
    let volume = cluster.directory().join(format!("dn{LEAVING}/disk1"));
    fs::remove_dir_all(&volume).and_then(|()| fs::write(&volume, "")).at("a failed volume")?;
    cluster.start_datanode(LEAVING)?;
    cluster.wait_serving()?;
    cluster.stop_datanode(DEAD)
}

fn set_scene(cluster: &Cluster, hosts: &Path) -> Outcome<Scene> {
    wait::until("a dead DataNode", SETTLE, || {
        let bean = "/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState";
        let page: Value = serde_json::from_str(&http(cluster.site.http_port, bean)?).at(bean)?;
        Ok(page["beans"][0]["NumDeadDataNodes"] == 1)
    })?;
    let (out, normal, away) = ("DECOMMISSIONED", "NORMAL", "IN_MAINTENANCE");
    let states = [(0, normal), (1, normal), (DEAD, out), (LEAVING, out), (AWAY, away)];
    refresh_hosts(cluster, hosts, &states)?;
    let fs = client(&cluster.conf(), &[])?;
    put(&fs, "/read", 1, READ_LEN, shape(2, 1 << 20))?;
    let mut writer = fs.create("/being-written", shape(2, 1 << 20)).at("a file")?;
    write(&mut writer, 2, 100_000).and_then(|()| writer.hflush()).at("a pipeline")?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_interop-readers"));
    command.arg(cluster.conf()).args(["/read", "1", &READ_LEN.to_string(), "1", "3600"]);
    let reader = Process::daemon("the reader", command, &cluster.site.log("reader"))?;
    Ok(Scene { reader, _writer: writer })
}

/// Every name of the dashboard that begins so is on the page.
fn serves_dashboard(port: u16, record: &str) {
    let page = Exposition::parse(&http(port, "/prom").unwrap()).unwrap();
    let dashboard = tools::root().join("deploy/grafana/zerohop.json");
    let dashboard = fs::read_to_string(dashboard).unwrap();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = dashboard.split(|letter| !is_letter(letter));
    let asked: Vec<&str> = words.filter(|word| word.starts_with(record)).collect();
    assert!(!asked.is_empty(), "the dashboard asks for no {record}");
    let names = page.names();
    let missing: Vec<_> = asked.into_iter().filter(|name| !names.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?} of the dashboard are not in {names:?}");
}

fn health(port: u16) -> Outcome<(u16, Value)> {
    let answer = Connection::open(port).and_then(|mut it| it.ask("GET", "/health", &[], b""));
    let answer = answer.at("/health")?;
    Ok((answer.status, serde_json::from_slice(&answer.body).at("/health")?))
}

/// JournalNode and gateway, which clusters of other tests have not: their metrics, and that they are well.
fn monitors_are_answered(journal_port: u16, gateway_port: u16) {
    serves_dashboard(journal_port, "journal_node_");
    serves_dashboard(gateway_port, "httpfsserver_");
    let gateway = Exposition::parse(&http(gateway_port, "/prom").unwrap()).unwrap();
    assert!(gateway.value("httpfsserver_bytes_read") >= Some(1.0), "a file was downloaded");
    for (port, service) in [(journal_port, "JournalNode"), (gateway_port, "httpfs")] {
        let (status, page) = health(port).unwrap();
        assert_eq!((status, &page["status"]), (200, &json!("healthy")), "{page}");
        assert_eq!(page["service"], service);
    }
}

/// A DataNode with a failed volume beside another one can serve, and says what it lacks; one that its only NameNode refuses ends.
fn health_of_datanodes(cluster: &Cluster, hosts: &Path) -> Outcome {
    let (status, page) = health(cluster.site.info_ports[LEAVING])?;
    if status != 200 || page["volumesFailed"] != 1 {
        return Err(format!("{status}: {page}"));
    }
    let slow: Value =
        serde_json::from_str(&http(cluster.site.info_ports[LEAVING], "/slow")?).at("/slow")?;
    let failed = slow["failedDirectories"].to_string();
    if slow["failedVolumes"] != 1 || !failed.contains("disk1") || failed.contains("disk0") {
        return Err(format!("failed volumes: {slow}"));
    }
    refresh_hosts(cluster, hosts, &[(0, "NORMAL"), (1, "NORMAL")])?;
    wait::until("a DataNode that its only NameNode refuses ends", SETTLE, || {
        Ok(Connection::open(cluster.site.info_ports[AWAY]).is_err())
    })
}

#[test]
fn pages_work_in_chromium_light_dark_narrow_and_without_javascript() {
    let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
    let user = user.trim();
    let hosts = hosts_file().unwrap();
    let sockets = SocketDirectory::make("pages").unwrap();
    let provider = "org.apache.hadoop.hdfs.server.blockmanagement.CombinedHostFileManager";
    let settings = site::settings(&[
        ("dfs.blocksize", "1048576"),
        ("dfs.hosts", &hosts.display().to_string()),
        ("dfs.namenode.hosts.provider.classname", provider),
        ("dfs.datanode.failed.volumes.tolerated", "1"),
        ("dfs.datanode.peer.stats.enabled", "true"),
        ("dfs.client.read.shortcircuit", "true"),
        ("dfs.domain.socket.path", &sockets.setting()),
    ]);
    let ours = Kind::Ours;
    let spec = Spec { name: "pages", namenode: ours, datanodes: ours, count: DATANODES, settings };
    let mut cluster = Cluster::start(&spec).unwrap();
    let (journal_port, gateway_port) = (ports::free(), ports::free());
    let name_service = NameService::new(&cluster);
    let journal_node = name_service.journal_node(&cluster, journal_port).unwrap();
    let _gateway = gateway(&cluster, gateway_port).unwrap();
    break_datanodes(&mut cluster).unwrap();
    make_entries(cluster.site.http_port, user);
    let scene = set_scene(&cluster, &hosts).unwrap();
    slow::report_slow(&cluster, 0, 1, SLOW_DISK).unwrap();
    let _starting = name_service.starting(&cluster, &journal_node).unwrap();
    let local = |port: u16| format!("http://127.0.0.1:{port}");
    let at = json!({
        "namenode": local(cluster.site.http_port),
        "datanodes": [local(cluster.site.info_ports[0]), local(cluster.site.info_ports[1])],
        "dead": cluster.datanode_address(DEAD), "leaving": cluster.datanode_address(LEAVING),
        "away": cluster.datanode_address(AWAY), "reader": scene.reader.id(),
        "all": (0..DATANODES).map(|i| cluster.datanode_address(i)).collect::<Vec<_>>(),
        "slow": cluster.datanode_address(1), "slowDisk": SLOW_DISK,
        // Who reports is named by its RPC port, as in Apache's SlowPeerTracker.
        "reporter": format!("127.0.0.1:{}", cluster.site.ipc_ports[0]),
        "starting": local(name_service.http), "stopped": journal_node.id(),
        "journalnode": local(journal_port), "gateway": local(gateway_port), "user": user, "large": LARGE,
    });
    let pictures = tools::out().join("pages");
    run_browser(&cluster, &pictures, &at.to_string());
    first_byte_of_a_large_directory(cluster.site.http_port, user);
    monitors_are_answered(journal_port, gateway_port);
    health_of_datanodes(&cluster, &hosts).unwrap();
}

fn run_browser(cluster: &Cluster, pictures: &Path, at: &str) {
    let mut command = Command::new("node");
    command.arg(tools::root().join("testing/interop/node/pages.js"));
    command.arg(tools::out().join("node/node_modules")).arg(pictures).arg(at);
    let log = cluster.site.log("browser");
    let mut browser = Process::daemon("browser", command, &log).unwrap();
    let said = browser.finish_done(LIMIT);
    println!("{}", said.unwrap_or_else(|error| panic!("{error}\n{}", cluster.logs())));
}

/// The page asks for a part of the list, however long it is: it does not take longer than the page of a small directory by much.
fn first_byte_of_a_large_directory(port: u16, user: &str) {
    let mut connection = Connection::open(port).unwrap();
    let mut best = |path: &str| {
        let target = format!("/explorer?path={path}&user.name={user}");
        let took = (0..5).map(|_| {
            let begun = Instant::now();
            assert_eq!(connection.ask("GET", &target, &[], b"").unwrap().status, 200);
            begun.elapsed()
        });
        took.min().unwrap()
    };
    let (small, large) = (best("/"), best(LARGE));
    assert!(large < small + Duration::from_millis(500), "{large:?}, and of a small one {small:?}");
}
