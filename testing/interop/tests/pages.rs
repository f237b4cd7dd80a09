//! The web pages of all daemons in Chromium.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::http::Connection;
use zerohop_interop::process::{Process, tail};
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

fn journal_node(cluster: &Cluster, port: u16) -> Outcome<Process> {
    let directory = cluster.directory().join("journal");
    let mut words = vec!["journalnode".to_owned()];
    words.extend(setting("dfs.journalnode.edits.dir", &directory.display().to_string()));
    words.extend(setting("dfs.journalnode.rpc-address", "127.0.0.1:0"));
    words.extend(setting("dfs.journalnode.http-address", &format!("127.0.0.1:{port}")));
    daemon(cluster, &words, port)
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

#[test]
fn pages_work_in_chromium_light_dark_narrow_and_without_javascript() {
    let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap();
    let user = user.trim();
    let settings = site::settings(&[("dfs.blocksize", "1048576"), ("dfs.replication", "1")]);
    let ours = Kind::Ours;
    let spec = Spec { name: "pages", namenode: ours, datanodes: ours, count: 2, settings };
    let cluster = Cluster::start(&spec).unwrap();
    let (journal_port, gateway_port) = (ports::free(), ports::free());
    let _journal_node = journal_node(&cluster, journal_port).unwrap();
    let _gateway = gateway(&cluster, gateway_port).unwrap();
    make_entries(cluster.site.http_port, user);
    let local = |port: u16| format!("http://127.0.0.1:{port}");
    let at = serde_json::json!({
        "namenode": local(cluster.site.http_port), "datanode": local(cluster.site.info_ports[0]),
        "journalnode": local(journal_port), "gateway": local(gateway_port), "user": user, "large": LARGE,
    });
    let pictures = tools::out().join("pages");
    run_browser(&cluster, &pictures, &at.to_string());
    first_byte_of_a_large_directory(cluster.site.http_port, user);
}

fn run_browser(cluster: &Cluster, pictures: &Path, at: &str) {
    let mut command = Command::new("node");
    command.arg(tools::root().join("testing/interop/node/pages.js"));
    command.arg(tools::out().join("node/node_modules")).arg(pictures).arg(at);
    let log = cluster.site.log("browser");
    let mut browser = Process::daemon("browser", command, &log).unwrap();
    let status = browser.finish(LIMIT).unwrap();
    let said = std::fs::read_to_string(&log).unwrap();
    let is_done = status.success() && said.lines().any(|line| line == "done");
    assert!(is_done, "{status}\n{}\n{}", tail(&log, 60), cluster.logs());
    println!("{said}");
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
