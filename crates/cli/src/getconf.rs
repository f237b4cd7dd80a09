//! `getconf`: what the configuration says, and where it says so.

use serde_json::json;
use zerohop_conf::{Conf, Key, Source, keys, replaced_by};

use crate::failure::{EXIT_USAGE, Failure, Outcome, complain};
use crate::fs::Location;
use crate::namenodes::{NameNode, configured};
use crate::settings::Settings;

const USAGE: &str = "getconf reads the configuration files.

Usage: getconf
\t[-namenodes [--json]]\t\thosts of the NameNodes
\t[-secondaryNameNodes [--json]]\thosts of the secondary NameNodes
\t[-backupNodes [--json]]\t\thosts of the backup nodes
\t[-journalNodes [--json]]\t\thosts of the JournalNodes
\t[-includeFile]\t\t\tfile of the DataNodes that may join
\t[-excludeFile]\t\t\tfile of the DataNodes to decommission
\t[-nnRpcAddresses [--json]]\tRPC addresses of the NameNodes
\t[-confKey [key] [-v] [--json]]\ta value; -v says where it comes from
\t[-list [--json]]\t\tall values that are set";

pub fn run(settings: Settings, mut words: Vec<String>) -> i32 {
    let conf = match settings.load() {
        Ok(conf) => conf,
        Err(failure) => return complain("getconf", &failure),
    };
    let as_json = crate::fs::pop_flag("--json", &mut words);
    let verbose =
        crate::fs::pop_flag("-v", &mut words) || crate::fs::pop_flag("--verbose", &mut words);
    let Some((what, rest)) = words.split_first() else {
        eprintln!("{USAGE}");
        return EXIT_USAGE;
    };
    let what = what.to_ascii_lowercase();
    let answer = match (what.as_str(), rest) {
        ("-h" | "-help" | "--help", _) => {
            sayln!("{USAGE}");
            return 0;
        }
        ("-confkey", [name]) => value(&conf, name, verbose, as_json),
        ("-confkey", _) => Err(Failure::io("usage: -confKey [key]")),
        (_, [extra, ..]) => Err(Failure::io(format!("Did not expect argument: {extra}"))),
        ("-list", []) => Ok(list(&conf, as_json)),
        ("-namenodes" | "-nnrpcaddresses", []) if as_json => configured(&conf).map(nodes_json),
        ("-namenodes", []) => configured(&conf).map(hosts),
        ("-nnrpcaddresses", []) => configured(&conf).map(addresses),
        ("-secondarynamenodes" | "-backupnodes" | "-journalnodes", []) if as_json => {
            other_hosts(&conf, &what).map(|hosts| json!(words_of(&hosts)).to_string())
        }
        ("-secondarynamenodes" | "-backupnodes" | "-journalnodes", []) => other_hosts(&conf, &what),
        ("-includefile", []) => value(&conf, keys::DFS_HOSTS.name, verbose, as_json),
        ("-excludefile", []) => value(&conf, keys::DFS_HOSTS_EXCLUDE.name, verbose, as_json),
        _ => {
            eprintln!("{USAGE}");
            return EXIT_USAGE;
        }
    };
    match answer {
        Ok(text) => {
            sayln!("{text}");
            0
        }
        Err(failure) => {
            eprintln!("{failure}");
            EXIT_USAGE
        }
    }
}

fn value(conf: &Conf, name: &str, verbose: bool, as_json: bool) -> Outcome<String> {
    let value = conf.get_checked(name)?.map(|value| value.trim().to_owned());
    if verbose {
        explain(conf, name);
    }
    // Hadoop lists some names with an empty value, which is an answer.
    let current = replaced_by(name).unwrap_or(name);
    let value = value.or_else(|| keys::other_default(current).map(|_| String::new()));
    let value = value.ok_or_else(|| Failure::io(format!("Configuration {name} is missing.")))?;
    if !as_json {
        return Ok(value);
    }
    let (source, line) = match conf.source(name).unwrap_or(Source::Default) {
        Source::File { path, line } => (path.display().to_string(), Some(line)),
        other => (other.to_string(), None),
    };
    let answer = json!({
        "key": replaced_by(name).unwrap_or(name), "value": value, "source": source, "line": line,
        "final": conf.is_final(name), "deprecated": replaced_by(name).is_some(),
    });
    Ok(answer.to_string())
}

/// Where a value comes from, on standard error so that the value alone can be taken.
fn explain(conf: &Conf, name: &str) {
    let current = replaced_by(name).unwrap_or(name);
    if current != name {
        eprintln!("{name} is deprecated. Instead, use {current}");
    }
    if let Some(source) = conf.source(name) {
        let word = if conf.is_final(name) { " (final)" } else { "" };
        eprintln!("{current} comes from {source}{word}");
    }
    match keys::find(current) {
        Some(key) => {
            let default = if key.default.is_empty() { "none" } else { key.default };
            eprintln!("{} Default: {default}", key.doc.trim());
        }
        None => match keys::other_default(current) {
            Some(_) => eprintln!("{current} is a key of Hadoop that zerohop does not read"),
            None => eprintln!("{current} is no key of Hadoop or zerohop"),
        },
    }
    for warning in conf.warnings().iter().filter(|warning| warning.contains(current)) {
        eprintln!("{warning}");
    }
}

fn list(conf: &Conf, as_json: bool) -> String {
    let sourced = |name: &str| conf.source(name).unwrap_or(Source::Default).to_string();
    if as_json {
        let entry = |(name, value): (&str, &str)| json!({"key": name, "value": value, "source": sourced(name)});
        return serde_json::Value::Array(conf.iter().map(entry).collect()).to_string();
    }
    let lines: Vec<String> =
        conf.iter().map(|(name, value)| format!("{name}={value}\t{}", sourced(name))).collect();
    lines.join("\n")
}

/// The NameNodes, whichever of the two lists was asked for.
fn nodes_json(nodes: Vec<NameNode>) -> String {
    let one = |node: NameNode| {
        let id = |text: String| Some(text).filter(|text| !text.is_empty());
        json!({
            "nameservice": id(node.nameservice), "id": id(node.id), "host": node.host,
            "port": node.port,
        })
    };
    serde_json::Value::Array(nodes.into_iter().map(one).collect()).to_string()
}

fn other_hosts(conf: &Conf, what: &str) -> Outcome<String> {
    match what {
        "-secondarynamenodes" => host_of(conf, &keys::DFS_NAMENODE_SECONDARY_HTTP_ADDRESS),
        "-backupnodes" => host_of(conf, &keys::DFS_NAMENODE_BACKUP_ADDRESS),
        _ => journal_nodes(conf),
    }
}

fn words_of(hosts: &str) -> Vec<&str> {
    hosts.split_whitespace().collect()
}

fn hosts(nodes: Vec<NameNode>) -> String {
    let hosts: Vec<String> = nodes.into_iter().map(|node| node.host).collect();
    hosts.join(" ")
}

fn addresses(nodes: Vec<NameNode>) -> String {
    let addresses: Vec<String> =
        nodes.into_iter().map(|node| format!("{}:{}", node.host, node.port)).collect();
    addresses.join("\n")
}

fn host_of(conf: &Conf, key: &Key<String>) -> Outcome<String> {
    let address = conf.get(key)?;
    Ok(address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host).to_owned())
}

/// The hosts of qjournal://h1:8485;h2:8485;h3:8485/name
fn journal_nodes(conf: &Conf) -> Outcome<String> {
    let shared = conf.get(&keys::DFS_NAMENODE_SHARED_EDITS_DIR)?.unwrap_or_default();
    let location = Location::parse(&shared);
    let authority = location.authority.filter(|_| location.scheme.as_deref() == Some("qjournal"));
    let authority = authority.unwrap_or_default();
    let hosts: Vec<&str> =
        authority.split(';').map(|node| node.split(':').next().unwrap_or(node)).collect();
    Ok(hosts.join(" "))
}
