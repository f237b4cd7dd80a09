//! `getconf`: what the configuration says, and where it says so.

use serde_json::json;
use zerohop_conf::{Conf, Key, Source, closest, keys, replaced_by, running};

use crate::failure::{EXIT_USAGE, Failure, Outcome, complain};
use crate::fs::Location;
use crate::namenodes::{NameNode, configured};
use crate::running::check_named;
use crate::settings::Settings;
use crate::wording;

pub const USAGE: &str = "getconf reads the configuration files.

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

const OPTIONS: [&str; 9] = [
    "-namenodes",
    "-secondaryNameNodes",
    "-backupNodes",
    "-journalNodes",
    "-includeFile",
    "-excludeFile",
    "-nnRpcAddresses",
    "-confKey",
    "-list",
];

pub fn run(settings: Settings, mut words: Vec<String>) -> i32 {
    let as_json = crate::fs::pop_flag("--json", &mut words);
    let verbose =
        crate::fs::pop_flag("-v", &mut words) || crate::fs::pop_flag("--verbose", &mut words);
    let Some((what, rest)) = words.split_first() else {
        noteln!("{USAGE}");
        return EXIT_USAGE;
    };
    let what = what.to_ascii_lowercase();
    if matches!(what.as_str(), "-h" | "-help" | "--help") {
        sayln!("{USAGE}");
        return 0;
    }
    let conf = match load(&settings) {
        Ok(conf) => conf,
        Err(failure) => return complain("getconf", &failure),
    };
    let answer = match (what.as_str(), rest) {
        ("-confkey", [name]) => value(&conf, name, verbose, as_json),
        ("-confkey", _) => Err(Failure::io("usage: -confKey [key]")),
        (_, [extra, ..]) => Err(Failure::io(format!("Did not expect argument: {extra}"))),
        ("-list", []) => Ok(list(&conf, as_json)),
        ("-namenodes" | "-nnrpcaddresses", []) if as_json => configured(&conf).map(nodes_json),
        ("-namenodes", []) => configured(&conf).map(hosts),
        ("-nnrpcaddresses", []) => configured(&conf).map(addresses),
        ("-secondarynamenodes" | "-backupnodes" | "-journalnodes", []) if as_json => {
            other_hosts(&conf, &what).map(|hosts| json!(hosts).to_string())
        }
        ("-secondarynamenodes" | "-backupnodes" | "-journalnodes", []) => {
            other_hosts(&conf, &what).map(|hosts| hosts.join(" "))
        }
        ("-includefile", []) => value(&conf, keys::DFS_HOSTS.name, verbose, as_json),
        ("-excludefile", []) => value(&conf, keys::DFS_HOSTS_EXCLUDE.name, verbose, as_json),
        _ => {
            if let Some(near) = closest(&what, OPTIONS) {
                noteln!("Did you mean {near}?");
            }
            noteln!("{USAGE}");
            return EXIT_USAGE;
        }
    };
    match answer {
        Ok(text) => {
            sayln!("{text}");
            0
        }
        Err(failure) => {
            noteln!("{failure}");
            if let [name] = rest
                && what == "-confkey"
                && !wording::is_apaches()
                && let Some(near) = closest(name, keys::names())
            {
                noteln!("Did you mean {near}?");
            }
            EXIT_USAGE
        }
    }
}

/// Loads the configuration. If nothing names a cluster, that of the only running `zerohop up` is meant; without one,
/// Hadoop's defaults are.
fn load(settings: &Settings) -> Outcome<Conf> {
    let conf = settings.load_for_cluster()?;
    match check_named(&conf) {
        Ok(()) => Ok(conf),
        Err(_) if running::clusters().is_empty() => settings.load(),
        Err(failure) => Err(failure),
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
        noteln!("{name} is deprecated. Instead, use {current}");
    }
    if let Some(source) = conf.source(name) {
        let word = if conf.is_final(name) { " (final)" } else { "" };
        noteln!("{current} comes from {source}{word}");
    }
    match keys::find(current) {
        Some(key) if !keys::is_unread(key.name) => {
            let default = if key.default.is_empty() { "none" } else { key.default };
            noteln!("{} Default: {default}", key.doc.trim());
        }
        _ => match keys::status(current) {
            Some(keys::Status::Implemented) => {}
            Some(keys::Status::NotImplemented) => {
                noteln!("{current} is a key of Hadoop that zerohop does not implement");
            }
            Some(keys::Status::OtherProgram(program)) => {
                noteln!("{current} is a key of Hadoop for its {program}, which zerohop has not");
            }
            None => noteln!("{current} is no key of Hadoop or zerohop"),
        },
    }
    for warning in conf.warnings().iter().filter(|warning| warning.contains(current)) {
        noteln!("{warning}");
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

fn other_hosts(conf: &Conf, what: &str) -> Outcome<Vec<String>> {
    match what {
        "-secondarynamenodes" => {
            hosts_of(conf, &keys::DFS_NAMENODE_SECONDARY_HTTP_ADDRESS, "secondary namenode")
        }
        "-backupnodes" => hosts_of(conf, &keys::DFS_NAMENODE_BACKUP_ADDRESS, "backup node"),
        _ => journal_nodes(conf),
    }
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

/// One host for each NameNode; where there are name services the plain key says nothing (`DFSUtilClient.getAddresses`).
fn hosts_of(conf: &Conf, key: &Key<String>, what: &str) -> Outcome<Vec<String>> {
    let mut services = conf.get(&keys::DFS_NAMESERVICES)?;
    if services.is_empty() {
        services.push(String::new());
    }
    let mut found = Vec::new();
    for service in &services {
        for id in ids_of(conf, service)? {
            let name = named(key.name, &[service, &id]);
            let address = match name == key.name {
                true => Some(conf.get(key)?),
                false => conf.get_checked(&name)?,
            };
            found.extend(address.map(|address| host_of(address.trim()).to_owned()));
        }
    }
    if found.is_empty() {
        return Err(Failure::io(format!(
            "Incorrect configuration: {what} address {} is not configured.",
            key.name
        )));
    }
    Ok(found)
}

/// The NameNodes of a name service; the empty id where it has one only.
fn ids_of(conf: &Conf, service: &str) -> Outcome<Vec<String>> {
    let mut ids = Vec::new();
    if conf.is_set(&named(keys::DFS_HA_NAMENODES.name, &[service])) {
        ids = conf.get_for(&keys::DFS_HA_NAMENODES, &[service])?;
    }
    if ids.is_empty() {
        ids.push(String::new());
    }
    Ok(ids)
}

/// A key of a name service or of one of its NameNodes.
fn named(key: &str, suffixes: &[&str]) -> String {
    let suffixes = suffixes.iter().filter(|suffix| !suffix.is_empty());
    suffixes.fold(key.to_owned(), |name, suffix| format!("{name}.{suffix}"))
}

fn host_of(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

/// The hosts of `qjournal://h1:8485;h2:8485;h3:8485/name`: of the plain key, else of each name service, else of each of
/// its NameNodes, up to the first that has none (`DFSUtil.getJournalNodeAddresses`).
fn journal_nodes(conf: &Conf) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    for shared in shared_edits(conf)? {
        let location = Location::parse(shared.trim());
        let is_journal = location.scheme.as_deref() == Some("qjournal");
        let Some(authority) = location.authority.filter(|_| is_journal) else { break };
        for node in authority.split(';').map(str::trim).filter(|node| !node.is_empty()) {
            let host = node.split(':').next().unwrap_or(node).to_owned();
            if !found.contains(&host) {
                found.push(host);
            }
        }
    }
    Ok(found)
}

/// Where the edits of each name service are; empty for a NameNode that does not say.
fn shared_edits(conf: &Conf) -> Outcome<Vec<String>> {
    let key = keys::DFS_NAMENODE_SHARED_EDITS_DIR.name;
    let value = |name: &str| -> Outcome<Option<String>> {
        Ok(conf.get_checked(name)?.filter(|value| !value.is_empty()))
    };
    if let Some(plain) = value(key)? {
        return Ok(vec![plain]);
    }
    let mut found = Vec::new();
    for service in &conf.get(&keys::DFS_NAMESERVICES)? {
        if let Some(own) = value(&named(key, &[service]))? {
            found.push(own);
            continue;
        }
        for id in ids_of(conf, service)?.iter().filter(|id| !id.is_empty()) {
            found.push(value(&named(key, &[service, id]))?.unwrap_or_default());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(settings: &[(&str, &str)], what: &str) -> Result<String, String> {
        let mut conf = Conf::new();
        settings.iter().for_each(|(name, value)| conf.set(name, *value));
        other_hosts(&conf, what).map(|hosts| hosts.join(" ")).map_err(|failure| failure.to_string())
    }

    const SERVICES: [(&str, &str); 2] =
        [("dfs.nameservices", "ns1,ns2"), ("dfs.ha.namenodes.ns1", "n1,n2")];
    const SHARED: &str = "dfs.namenode.shared.edits.dir";

    /// What Hadoop 3.4.3 answers to the same, but for the names that it looks up.
    #[test]
    fn journal_nodes_of_name_services() {
        let of = |extra: &[(&str, &str)]| {
            let shared =
                |(name, value): &(&str, &str)| (format!("{SHARED}{name}"), (*value).to_owned());
            let owned: Vec<(String, String)> = extra.iter().map(shared).collect();
            let mut settings = SERVICES.to_vec();
            settings.extend(owned.iter().map(|(name, value)| (name.as_str(), value.as_str())));
            answer(&settings, "-journalnodes").unwrap()
        };
        let (one, two) = ("qjournal://a:8485;b:8485/ns1", "qjournal://b:8485;c/ns2");
        assert_eq!(of(&[(".ns1", one), (".ns2", two)]), "a b c");
        assert_eq!(of(&[("", "qjournal://d:1/x"), (".ns1", one)]), "d");
        assert_eq!(of(&[("", "file:///x"), (".ns1", one)]), "");
        assert_eq!(of(&[(".ns1.n1", one), (".ns1.n2", two)]), "a b c");
        assert_eq!(of(&[(".ns1.n2", one), (".ns2", two)]), "");
        assert_eq!(of(&[(".ns1", one), (".ns2", "file:///x")]), "a b");
        assert_eq!(of(&[]), "");
    }

    #[test]
    fn other_nodes_of_name_services() {
        assert_eq!(answer(&[], "-secondarynamenodes").unwrap(), "0.0.0.0");
        let plain = ("dfs.namenode.secondary.http-address", "plain:1");
        assert_eq!(answer(&[plain], "-secondarynamenodes").unwrap(), "plain");
        let mut settings = SERVICES.to_vec();
        settings.push(plain);
        assert_eq!(
            answer(&settings, "-secondarynamenodes").unwrap_err(),
            "Incorrect configuration: secondary namenode address dfs.namenode.secondary.http-address is not configured."
        );
        assert_eq!(
            answer(&settings, "-backupnodes").unwrap_err(),
            "Incorrect configuration: backup node address dfs.namenode.backup.address is not configured."
        );
        settings.push(("dfs.namenode.secondary.http-address.ns1.n2", "s1:1"));
        settings.push(("dfs.namenode.secondary.http-address.ns2", "s2:2"));
        assert_eq!(answer(&settings, "-secondarynamenodes").unwrap(), "s1 s2");
    }
}
