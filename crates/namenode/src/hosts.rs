//! The host files: which DataNodes may register (`dfs.hosts`), which are to be taken out of service
//! (`dfs.hosts.exclude`). One name or address a line, with a port if only one of several DataNodes
//! there is meant; `#` begins a comment. With `dfs.namenode.hosts.provider.classname` `dfs.hosts` is one
//! file of JSON instead.

use crate::hosts_json::JsonHosts;
use parking_lot::RwLock;
use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use zerohop_conf::{Conf, keys};
use zerohop_namespace::blocks::{Admission, DatanodeId};

/// The port that stands for all.
const ANY_PORT: u16 = 0;

/// Both lists as they were last read.
pub(crate) struct Hosts {
    include: Option<String>,
    exclude: Option<String>,
    is_json: bool,
    lists: RwLock<Lists>,
    /// The reason that the files could not be read when that was last tried.
    problem: RwLock<Option<String>>,
}

#[derive(Default)]
struct Lists {
    /// Empty: everybody.
    include: List,
    exclude: List,
    json: Option<JsonHosts>,
}

/// What the names and addresses of a file stand for.
type List = HashSet<(IpAddr, u16)>;

impl Hosts {
    /// Reads the files that the configuration names. A file that cannot be read counts as empty, as in Hadoop: an operator who
    /// removes a file must not keep the NameNode from starting.
    ///
    /// # Errors
    /// Fails if `dfs.namenode.hosts.provider.classname` names an unknown class.
    pub(crate) fn from_conf(conf: &Conf) -> io::Result<Self> {
        let file = |key| conf.get(key).ok().flatten().filter(|file: &String| !file.is_empty());
        let (include, exclude) = (file(&keys::DFS_HOSTS), file(&keys::DFS_HOSTS_EXCLUDE));
        let hosts = Self {
            include,
            exclude,
            is_json: is_json(conf)?,
            lists: RwLock::default(),
            problem: RwLock::default(),
        };
        let (lists, problem) = hosts.read();
        if let Some(problem) = &problem {
            tracing::error!("error reading hosts files: {problem}");
        }
        (*hosts.lists.write(), *hosts.problem.write()) = (lists, problem);
        Ok(hosts)
    }

    /// Reads the files again. Looks names up: blocks. If a file cannot be read, the lists do not change.
    pub(crate) fn refresh(&self) -> io::Result<()> {
        let (lists, problem) = self.read();
        self.problem.write().clone_from(&problem);
        if let Some(problem) = problem {
            tracing::error!("error reading hosts files, keeping the previous lists: {problem}");
            return Err(io::Error::other(problem));
        }
        *self.lists.write() = lists;
        Ok(())
    }

    /// Returns the reason that the files could not be read when that was last tried.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.read().clone()
    }

    /// Reads what can be read of the files. Also returns what cannot.
    fn read(&self) -> (Lists, Option<String>) {
        let (mut lists, mut problems) = (Lists::default(), Vec::new());
        let mut note = |key: &str, error: io::Error| problems.push(format!("{key}: {error}"));
        if self.is_json {
            match self.include.as_deref().map(JsonHosts::read).transpose() {
                Ok(json) => lists.json = json,
                Err(error) => note(keys::DFS_HOSTS.name, error),
            }
        } else {
            let mut read = |key: &str, file: &Option<String>| {
                read(file.as_deref()).unwrap_or_else(|error| {
                    note(key, error);
                    List::new()
                })
            };
            lists.include = read(keys::DFS_HOSTS.name, &self.include);
            lists.exclude = read(keys::DFS_HOSTS_EXCLUDE.name, &self.exclude);
        }
        let problem = (!problems.is_empty()).then(|| {
            format!("{}; correct it, then run dfsadmin -refreshNodes", problems.join(", "))
        });
        (lists, problem)
    }

    /// The upgrade domain that a file of JSON gives a DataNode.
    pub(crate) fn upgrade_domain(&self, id: &DatanodeId) -> Option<String> {
        self.lists.read().json.as_ref()?.upgrade_domain(id)
    }

    pub(crate) fn judge(&self, id: &DatanodeId) -> Admission {
        let lists = self.lists.read();
        if let Some(json) = &lists.json {
            return json.judge(id);
        }
        if !lists.include.is_empty() && !has(&lists.include, id) {
            Admission::Refused
        } else if has(&lists.exclude, id) {
            Admission::Excluded
        } else {
            Admission::Allowed
        }
    }
}

/// Whether `dfs.hosts` is a file of JSON.
fn is_json(conf: &Conf) -> io::Result<bool> {
    let key = &keys::DFS_NAMENODE_HOSTS_PROVIDER_CLASSNAME;
    let class = conf.get(key).map_err(io::Error::other)?;
    match class.rsplit('.').next().unwrap_or_default() {
        "HostFileManager" => Ok(false),
        "CombinedHostFileManager" => Ok(true),
        _ => {
            let expected = "HostFileManager or CombinedHostFileManager";
            Err(io::Error::other(conf.misfit(key.name, expected)))
        }
    }
}

/// Only the address a DataNode calls from counts: its name is what it says of itself.
fn has(list: &List, id: &DatanodeId) -> bool {
    let Ok(ip) = id.ip.parse::<IpAddr>() else { return false };
    let port = u16::try_from(id.xfer_port).unwrap_or(ANY_PORT);
    [port, ANY_PORT].into_iter().any(|port| list.contains(&(ip.to_canonical(), port)))
}

fn read(file: Option<&str>) -> io::Result<List> {
    let Some(file) = file else { return Ok(List::new()) };
    let text = std::fs::read_to_string(file)
        .map_err(|e| io::Error::new(e.kind(), format!("cannot read {file}: {e}")))?;
    let (list, unknown) = parse(&text);
    for entry in unknown {
        tracing::warn!(
            "{file}: `{entry}' has no address and is ignored: correct it, then run dfsadmin -refreshNodes"
        );
    }
    Ok(list)
}

/// What a file stands for, and the entries in it that stand for nothing.
fn parse(text: &str) -> (List, Vec<&str>) {
    let (mut list, mut unknown) = (List::new(), Vec::new());
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        for entry in line.split_whitespace() {
            let found = addresses(entry);
            if found.is_empty() {
                unknown.push(entry);
            }
            list.extend(found);
        }
    }
    (list, unknown)
}

/// `host`, `host:port`, or an address of version 6 in brackets where a port follows.
fn addresses(entry: &str) -> Vec<(IpAddr, u16)> {
    let (host, port) = match entry.rsplit_once(':') {
        _ if entry.parse::<IpAddr>().is_ok() => (entry, ANY_PORT),
        Some((host, port)) => match port.parse() {
            Ok(port) => (host, port),
            Err(_) => (entry, ANY_PORT),
        },
        None => (entry, ANY_PORT),
    };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let found = (bare, 0).to_socket_addrs().into_iter().flatten();
    found.map(|address| (address.ip().to_canonical(), port)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(include: &str, exclude: &str) -> Hosts {
        let lists = Lists { include: parse(include).0, exclude: parse(exclude).0, json: None };
        Hosts {
            include: None,
            exclude: None,
            is_json: false,
            lists: RwLock::new(lists),
            problem: RwLock::default(),
        }
    }

    fn node(ip: &str, host: &str, xfer_port: u32) -> DatanodeId {
        DatanodeId { ip: ip.to_owned(), host: host.to_owned(), xfer_port, ..DatanodeId::default() }
    }

    #[test]
    fn a_line_may_name_one_port_and_end_in_a_comment() {
        let hosts = hosts("", "10.0.0.1:9866 # the old one\n\n10.0.0.2 [::2]:7 ::3\n");
        let judge = |ip: &str, port| hosts.judge(&node(ip, "dn", port));
        assert_eq!(judge("10.0.0.1", 9866), Admission::Excluded);
        assert_eq!(judge("10.0.0.1", 9867), Admission::Allowed);
        assert_eq!(judge("10.0.0.2", 1), Admission::Excluded);
        assert_eq!(judge("::2", 7), Admission::Excluded);
        assert_eq!(judge("::2", 8), Admission::Allowed);
        assert_eq!(judge("::3", 8), Admission::Excluded);
        hosts.lists.write().include = parse("10.0.0.2").0;
        assert_eq!(judge("10.0.0.3", 1), Admission::Refused);
    }

    #[test]
    fn a_datanode_that_claims_a_name_on_the_list_is_not_on_it() {
        let hosts = hosts("localhost:9866 10.0.0.9", "");
        assert_eq!(hosts.judge(&node("127.0.0.1", "any", 9866)), Admission::Allowed);
        assert_eq!(hosts.judge(&node("127.0.0.1", "localhost", 9867)), Admission::Refused);
        for claimed in ["localhost", "127.0.0.1", "10.0.0.9"] {
            assert_eq!(hosts.judge(&node("10.0.0.66", claimed, 9866)), Admission::Refused);
        }
    }

    /// As in Hadoop, where a list of nothing but unknown names is empty too.
    #[test]
    fn names_without_address_are_ignored() {
        // No server is asked for names with an empty label.
        let (list, unknown) = parse("no..host 10.0.0.1 10.0.0.1\nalso..none:9");
        assert_eq!(list, List::from([("10.0.0.1".parse().unwrap(), ANY_PORT)]));
        assert_eq!(unknown, ["no..host", "also..none:9"]);
    }

    /// The NameNode did not start.
    #[test]
    fn a_missing_file_counts_as_empty_at_the_start_and_changes_nothing_later() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str| directory.path().join(name);
        std::fs::write(file("exclude"), "10.0.0.1\n").unwrap();
        let mut conf = Conf::new();
        conf.set("dfs.hosts", file("include").to_str().unwrap());
        conf.set("dfs.hosts.exclude", file("exclude").to_str().unwrap());
        let hosts = Hosts::from_conf(&conf).unwrap();
        let judge = |ip: &str| hosts.judge(&node(ip, "dn", 9866));
        assert_eq!(
            (judge("10.0.0.1"), judge("10.0.0.2")),
            (Admission::Excluded, Admission::Allowed)
        );
        let problem = hosts.problem().unwrap();
        assert!(problem.contains("dfs.hosts: ") && problem.contains("include"), "{problem}");

        std::fs::write(file("include"), "10.0.0.1 10.0.0.3\n").unwrap();
        hosts.refresh().unwrap();
        assert_eq!((hosts.problem(), judge("10.0.0.2")), (None, Admission::Refused));

        std::fs::remove_file(file("exclude")).unwrap();
        std::fs::write(file("include"), "10.0.0.2\n").unwrap();
        let refused = hosts.refresh().unwrap_err().to_string();
        assert!(refused.contains("dfs.hosts.exclude: "), "{refused}");
        assert_eq!(hosts.problem(), Some(refused));
        assert_eq!(judge("10.0.0.1"), Admission::Excluded, "the old lists stay");
        assert_eq!(
            (judge("10.0.0.2"), judge("10.0.0.3")),
            (Admission::Refused, Admission::Allowed)
        );
    }

    #[test]
    fn a_missing_file_of_json_counts_as_empty_and_a_broken_one_keeps_the_list() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("hosts.json");
        let mut conf = Conf::new();
        conf.set("dfs.hosts", path.to_str().unwrap());
        conf.set("dfs.namenode.hosts.provider.classname", "CombinedHostFileManager");
        let hosts = Hosts::from_conf(&conf).unwrap();
        let judge = |ip: &str| hosts.judge(&node(ip, "dn", 9866));
        assert!(hosts.problem().is_some());
        assert_eq!(judge("10.0.0.1"), Admission::Allowed);
        std::fs::write(&path, r#"[{"hostName": "10.0.0.1"}]"#).unwrap();
        hosts.refresh().unwrap();
        assert_eq!(
            (judge("10.0.0.1"), judge("10.0.0.2")),
            (Admission::Allowed, Admission::Refused)
        );
        std::fs::write(&path, "[{").unwrap();
        assert!(hosts.refresh().is_err());
        assert_eq!(judge("10.0.0.2"), Admission::Refused);
    }
}
