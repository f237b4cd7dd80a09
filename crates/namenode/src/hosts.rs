//! The host files: which DataNodes may register (`dfs.hosts`), which are to be taken out of service
//! (`dfs.hosts.exclude`). One name or address a line, with a port if only one of several DataNodes
//! there is meant; `#` begins a comment.

use parking_lot::RwLock;
use std::collections::HashSet;
use std::io;
use std::net::ToSocketAddrs;
use zerohop_conf::{Conf, keys};
use zerohop_namespace::blocks::{Admission, DatanodeId};

/// Both lists as they were last read.
pub(crate) struct Hosts {
    include: Option<String>,
    exclude: Option<String>,
    lists: RwLock<Lists>,
}

#[derive(Default)]
struct Lists {
    /// Empty: everybody.
    include: HashSet<String>,
    exclude: HashSet<String>,
}

impl Hosts {
    /// Reads the files that the configuration names.
    pub(crate) fn from_conf(conf: &Conf) -> io::Result<Self> {
        let file = |key| conf.get(key).ok().flatten().filter(|file: &String| !file.is_empty());
        let (include, exclude) = (file(&keys::DFS_HOSTS), file(&keys::DFS_HOSTS_EXCLUDE));
        let hosts = Self { include, exclude, lists: RwLock::default() };
        hosts.refresh()?;
        Ok(hosts)
    }

    /// Reads the files again. Looks names up: blocks.
    pub(crate) fn refresh(&self) -> io::Result<()> {
        let (include, exclude) = (read(self.include.as_deref())?, read(self.exclude.as_deref())?);
        *self.lists.write() = Lists { include, exclude };
        Ok(())
    }

    pub(crate) fn judge(&self, id: &DatanodeId) -> Admission {
        let lists = self.lists.read();
        if !lists.include.is_empty() && !names(&lists.include, id) {
            Admission::Refused
        } else if names(&lists.exclude, id) {
            Admission::Excluded
        } else {
            Admission::Allowed
        }
    }
}

fn names(list: &HashSet<String>, id: &DatanodeId) -> bool {
    [&id.ip, &id.host].into_iter().any(|host| {
        list.contains(host.as_str()) || list.contains(&format!("{host}:{}", id.xfer_port))
    })
}

fn read(file: Option<&str>) -> io::Result<HashSet<String>> {
    let Some(file) = file else { return Ok(HashSet::new()) };
    let text = std::fs::read_to_string(file)
        .map_err(|e| io::Error::new(e.kind(), format!("cannot read {file}: {e}")))?;
    Ok(parse(&text))
}

fn parse(text: &str) -> HashSet<String> {
    let mut list = HashSet::new();
    for line in text.lines() {
        let line = line.split('#').next().unwrap_or_default();
        for entry in line.split_whitespace() {
            list.insert(entry.to_owned());
            list.extend(addresses(entry));
        }
    }
    list
}

/// DataNodes are known by address: what a name stands for belongs on the list as well.
fn addresses(entry: &str) -> Vec<String> {
    let (host, port) = match entry.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => (host, Some(port)),
        _ => (entry, None),
    };
    let found = (host, 0).to_socket_addrs().into_iter().flatten();
    let with_port = |ip: String| match port {
        Some(port) => format!("{ip}:{port}"),
        None => ip,
    };
    found.map(|address| with_port(address.ip().to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_name_one_port_and_end_in_a_comment() {
        let exclude = parse("10.0.0.1:9866 # the old one\n\n10.0.0.2\n");
        let hosts = Hosts {
            include: None,
            exclude: None,
            lists: RwLock::new(Lists { include: HashSet::new(), exclude }),
        };
        let node = |ip: &str, xfer_port| DatanodeId {
            ip: ip.to_owned(),
            host: "dn".to_owned(),
            xfer_port,
            ..DatanodeId::default()
        };
        assert_eq!(hosts.judge(&node("10.0.0.1", 9866)), Admission::Excluded);
        assert_eq!(hosts.judge(&node("10.0.0.1", 9867)), Admission::Allowed);
        assert_eq!(hosts.judge(&node("10.0.0.2", 1)), Admission::Excluded);
        hosts.lists.write().include = parse("10.0.0.2");
        assert_eq!(hosts.judge(&node("10.0.0.3", 1)), Admission::Refused);
    }
}
