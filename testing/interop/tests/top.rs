//! `zerohop top` on clusters of both kinds, beside what Apache's `dfsadmin -report` says of them, and on a pair of NameNodes
//! that changes over.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use zerohop_client::blocking::FileSystem;
use zerohop_interop::cluster::{Cluster, Spec};
use zerohop_interop::harm::{Explain, SETTLE, client, http, over, put, shape};
use zerohop_interop::pair::{self, Pair};
use zerohop_interop::{Kind, Outcome, java, site, tools, wait};

const DFSADMIN: &str = "org.apache.hadoop.hdfs.tools.DFSAdmin";
const LIMIT: Duration = Duration::from_secs(120);

fn top(conf: Option<&Path>, args: &[&str]) -> Outcome<String> {
    let mut command = Command::new(tools::zerohop()?);
    command.args(conf.iter().flat_map(|conf| [Path::new("--config"), *conf]));
    let output = command.arg("top").args(args).output().at("zerohop top")?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("top {args:?}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

fn json(conf: Option<&Path>, args: &[&str]) -> Outcome<Value> {
    let text = top(conf, &[&["--json", "--interval", "0.5"], args].concat())?;
    serde_json::from_str(&text).at(&text)
}

/// The numbers of a report by their labels: of the whole under the label, of a DataNode under its address and the label.
fn numbers(report: &str) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let mut node = String::new();
    for line in report.lines() {
        let Some((label, value)) = line.trim().split_once(": ") else { continue };
        let first = value.split_whitespace().next().unwrap_or_default();
        if label == "Name" {
            node = format!("{first} ");
        } else if let Ok(number) = first.parse() {
            found.entry(format!("{node}{label}")).or_insert(number);
        }
    }
    found
}

/// What both say, by the labels of the report.
fn shared_figures(figures: &Value) -> BTreeMap<String, u64> {
    let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX);
    let cluster = &figures["cluster"];
    let mut found = BTreeMap::new();
    for (label, member) in [
        ("Configured Capacity", "capacity"),
        ("DFS Used", "used"),
        ("Under replicated blocks", "underReplicatedBlocks"),
        ("Blocks with corrupt replicas", "corruptBlocks"),
        ("Missing blocks", "missingBlocks"),
        ("Missing blocks (with replication factor 1)", "missingReplicationOneBlocks"),
    ] {
        found.insert(label.to_owned(), number(&cluster[member]));
    }
    for node in figures["dataNodes"].as_array().into_iter().flatten() {
        let name = node["name"].as_str().unwrap_or_default();
        for (label, member) in
            [("Configured Capacity", "capacity"), ("DFS Used", "used"), ("Num of Blocks", "blocks")]
        {
            found.insert(format!("{name} {label}"), number(&node[member]));
        }
    }
    found
}

fn same_as_dfsadmin(cluster: &Cluster, address: &str) -> Outcome {
    let mut last = String::new();
    let compared = wait::until("top says what dfsadmin says", SETTLE, || {
        let figures = json(None, &[address])?;
        let report = java::run(DFSADMIN, &["-report"], &cluster.conf(), LIMIT)?.ok("-report")?;
        let (ours, theirs) = (shared_figures(&figures), numbers(&report));
        let differs = |(label, value): &(&String, &u64)| theirs.get(*label) != Some(*value);
        let different: Vec<_> = ours.iter().filter(differs).collect();
        last = format!("{different:?} in\n{report}");
        // Two DataNodes with three figures each, and a block that wants a third replica.
        let is_whole = ours.len() == 12 && ours["Under replicated blocks"] == 1;
        Ok(different.is_empty() && is_whole)
    });
    compared.map_err(|error| format!("{error}: {last}"))
}

/// What `ask` finds while a client writes one file after another.
fn while_files_are_written<T>(fs: &FileSystem, ask: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0.. {
                put(fs, &format!("/busy/f{}", number % 20), number, 100_000, shape(1, 1 << 20))?;
                if number >= 20 && ends.load(Ordering::Relaxed) {
                    break;
                }
            }
            Outcome::Ok(())
        });
        let answer = ask();
        ends.store(true, Ordering::Relaxed);
        writer.join().map_err(|_| "the writer panicked".to_owned())??;
        answer
    })
}

/// Calls and bytes while a client reads and writes, users and volumes.
fn shows_what_happens(cluster: &Cluster, address: &str, kind: Kind) -> Outcome {
    let fs = client(&cluster.conf(), &[("dfs.client.read.shortcircuit", "false")])?;
    let mut last = String::new();
    let shown = wait::until("top shows calls and users", SETTLE, || {
        let figures = while_files_are_written(&fs, || json(None, &[address]))?;
        let kinds = figures["calls"]["kinds"].as_array().ok_or("no kinds")?;
        let create = kinds.iter().find(|kind| kind["kind"].as_str() == Some("Create"));
        let users = figures["users"]["users"].as_array();
        let user = fs.user().name.to_string();
        let user = users.and_then(|users| users.iter().find(|known| known["user"] == *user));
        last = figures.to_string();
        let has_calls = create.is_some_and(|create| create["calls"].as_u64() >= Some(20))
            && figures["calls"]["perSecond"].as_f64() > Some(0.0);
        let has_user = user.is_some_and(|user| user["calls"].as_u64() >= Some(20));
        let written = |node: &Value| {
            node["localWrite"].as_f64().unwrap_or(0.0) + node["remoteWrite"].as_f64().unwrap_or(0.0)
        };
        let traffic = figures["traffic"].as_array().ok_or("no traffic")?;
        let moves = traffic.iter().map(written).sum::<f64>() > 0.0;
        let disks = figures["disks"].as_array().ok_or("no disks")?;
        let has_disks =
            disks.len() == 4 && disks.iter().all(|disk| disk["free"].as_u64() > Some(0));
        let hot = figures["directories"]["directories"].as_array();
        let has_hot = hot.is_some_and(|hot| hot.iter().any(|entry| entry[0] == "/busy"));
        let has_xceivers =
            figures["dataNodes"].as_array().is_some_and(|nodes| nodes[0]["xceivers"].is_u64());
        last =
            format!("{has_calls} {has_user} {moves} {has_disks} {has_hot} {has_xceivers} {last}");
        Ok(has_calls
            && has_user
            && moves
            && has_disks
            && has_xceivers
            && has_hot == (kind == Kind::Ours))
    });
    shown.map_err(|error| format!("{error}: {last}"))
}

fn on_a_cluster(kind: Kind, name: &str) {
    let settings = site::settings(&[("dfs.datanode.fileio.profiling.sampling.percentage", "100")]);
    let spec = Spec { name, namenode: kind, datanodes: kind, count: 2, settings };
    over(Cluster::start(&spec), |cluster| {
        let fs = client(&cluster.conf(), &[])?;
        put(&fs, "/two", 1, 100_000, shape(2, 1 << 20))?;
        put(&fs, "/three", 2, 100_000, shape(3, 1 << 20))?;
        let address = format!("127.0.0.1:{}", cluster.site.http_port);
        same_as_dfsadmin(cluster, &address)?;
        shows_what_happens(cluster, &address, kind)?;
        let text = top(Some(&cluster.conf()), &["--once", "--interval", "0.5"])?;
        let not_served = "Hot directories: not served by this NameNode.";
        let wanted = [&address, "active", "In Service", "Create", "Under-replicated 1"];
        let lacking: Vec<_> = wanted.iter().filter(|word| !text.contains(**word)).collect();
        match lacking.is_empty() && text.contains(not_served) == (kind == Kind::Apache) {
            true => Ok(()),
            false => Err(format!("{lacking:?} lacks in\n{text}")),
        }
    });
}

#[test]
fn an_apache_cluster_as_dfsadmin_reports_it() {
    on_a_cluster(Kind::Apache, "top-apache");
}

#[test]
fn our_cluster_as_dfsadmin_reports_it() {
    on_a_cluster(Kind::Ours, "top-ours");
}

/// The active NameNode's page of the edit log has a row for each JournalNode, also for one that is gone.
fn journal_nodes_are_on_the_page(pair: &Pair) -> Outcome {
    let figures = json(Some(&pair.conf()), &[])?;
    let address = figures["shown"].as_str().ok_or("no NameNode")?.to_owned();
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let port = port.ok_or_else(|| format!("no port in {address}"))?;
    let mut last = String::new();
    let count = |last: &mut String, state: &str| -> Outcome<usize> {
        *last = http(port, "/journal")?;
        Ok(last.matches(state).count())
    };
    wait::until("all JournalNodes are in step", pair::LIMIT, || {
        pair.ours(&["fs", "-mkdir", "-p", "/step"])?;
        Ok(count(&mut last, "In step")? == 3)
    })
    .map_err(|error| format!("{error}: {last}"))?;
    pair.signal("jn3", libc::SIGKILL)?;
    let mut number = 0;
    wait::until("a JournalNode is left out", pair::LIMIT, || {
        number += 1;
        pair.ours(&["fs", "-mkdir", &format!("/left-out-{number}")])?;
        Ok(count(&mut last, "Left out")? == 1)
    })
    .map_err(|error| format!("{error}: {last}"))
}

/// The active NameNode is found in the configuration, and after its end the other one is.
fn follows(pair: &Pair) -> Outcome {
    let conf = pair.conf();
    let mut last = String::new();
    let mut active_is = |id: &str| {
        let found = wait::until(&format!("top shows {id} as active"), pair::LIMIT, || {
            let figures = match json(Some(&conf), &[]) {
                Ok(figures) => figures,
                Err(error) => return Err(error),
            };
            last = figures.to_string();
            let nodes = figures["nameNodes"].as_array().ok_or("no NameNodes")?;
            let node = nodes.iter().find(|node| node["id"] == id).ok_or("not listed")?;
            Ok(nodes.len() == 2 && node["state"] == "active" && figures["shown"] == node["address"])
        });
        found.map_err(|error| format!("{error}: {last}"))
    };
    let first = pair.active()?.ok_or("no NameNode is active")?;
    active_is(first)?;
    journal_nodes_are_on_the_page(pair)?;
    pair.signal(first, libc::SIGKILL)?;
    active_is(pair::other(first))
}

#[test]
fn a_failover_is_followed() {
    let pair = Pair::start("top-pair").unwrap_or_else(|e| panic!("{e}"));
    follows(&pair).unwrap_or_else(|e| panic!("{e}\n{}", pair.logs()));
}
