//! What this version does with each key: the one place that says so.

use super::{find, other_default};

/// Keys of the typed tables that nothing obeys yet, a name a line, in order. Who implements one takes
/// its line away.
const UNREAD: &str = include_str!("unread.txt");

/// Implemented names with a part that varies, which stands in brackets.
pub const PATTERNS: [&str; 25] = [
    "fs.viewfs.mounttable.[name].homedir",
    "fs.viewfs.mounttable.[name].link.[path]",
    "fs.viewfs.mounttable.[name].linkFallback",
    "fs.viewfs.mounttable.[name].linkMergeSlash",
    "hadoop.proxyuser.[user].groups",
    "hadoop.proxyuser.[user].hosts",
    "hadoop.proxyuser.[user].users",
    "httpfs.proxyuser.[user].groups",
    "httpfs.proxyuser.[user].hosts",
    "httpfs.proxyuser.[user].users",
    "ipc.[port_number].backoff.enable",
    "ipc.[port_number].callqueue.capacity.weights",
    "ipc.[port_number].callqueue.impl",
    "ipc.[port_number].callqueue.overflow.trigger.failover",
    "ipc.[port_number].cost-provider.impl",
    "ipc.[port_number].decay-scheduler.backoff.responsetime.enable",
    "ipc.[port_number].decay-scheduler.backoff.responsetime.thresholds",
    "ipc.[port_number].decay-scheduler.decay-factor",
    "ipc.[port_number].decay-scheduler.period-ms",
    "ipc.[port_number].decay-scheduler.service-users",
    "ipc.[port_number].decay-scheduler.thresholds",
    "ipc.[port_number].faircallqueue.multiplexer.weights",
    "ipc.[port_number].identity-provider.impl",
    "ipc.[port_number].scheduler.impl",
    "ipc.[port_number].scheduler.priority.levels",
];

/// Keys of Hadoop's code that its default files do not list, and that are not implemented.
const UNLISTED: [&str; 27] = [
    "dfs.corruptfilesreturned.max",
    "dfs.datanode.duplicate.replica.deletion",
    "dfs.datanode.min.supported.namenode.version",
    "dfs.datanode.non.local.lazy.persist",
    "dfs.datanode.xceiver.stop.timeout.millis",
    "dfs.ha.log-roll.rpc.timeout",
    "dfs.metrics.session-id",
    "dfs.namenode.min.supported.datanode.version",
    "dfs.namenode.replqueue.threshold-pct",
    "dfs.namenode.tolerate.heartbeat.multiplier",
    "security.client.datanode.protocol.acl",
    "security.client.protocol.acl",
    "security.datanode.lifeline.protocol.acl",
    "security.datanode.protocol.acl",
    "security.get.user.mappings.protocol.acl",
    "security.ha.service.protocol.acl",
    "security.inter.datanode.protocol.acl",
    "security.interqjournal.service.protocol.acl",
    "security.namenode.protocol.acl",
    "security.qjournal.service.protocol.acl",
    "security.reconfiguration.protocol.acl",
    "security.refresh.callqueue.protocol.acl",
    "security.refresh.generic.protocol.acl",
    "security.refresh.policy.protocol.acl",
    "security.refresh.user.mappings.protocol.acl",
    "security.router.admin.protocol.acl",
    "security.zkfc.protocol.acl",
];

/// How names of programs and file systems begin that are no part of zerohop; NameNode, DataNode and
/// client of Apache read none of them.
pub const OTHER_PROGRAMS: [(&str, &str); 36] = [
    ("adl.", "Azure Data Lake"),
    ("dfs.federation.router.", "router"),
    ("dfs.http.client.", "WebHDFS client"),
    ("dfs.namenode.backup.", "backup node"),
    ("dfs.namenode.secondary.", "secondary NameNode"),
    ("dfs.secondary.namenode.", "secondary NameNode"),
    ("dfs.webhdfs.oauth2.", "WebHDFS client"),
    ("dfs.webhdfs.socket.", "WebHDFS client"),
    ("fs.AbstractFileSystem.", "Java's file systems"),
    ("fs.abfs", "Azure storage"),
    ("fs.adl.", "Azure Data Lake"),
    ("fs.azure.", "Azure storage"),
    ("fs.ftp.", "FTP"),
    ("fs.gs.", "Google storage"),
    ("fs.har.", "Hadoop archives"),
    ("fs.obs.", "Huawei storage"),
    ("fs.s3a.", "S3"),
    ("fs.viewfs.", "ViewFs"),
    ("fs.wasb", "Azure storage"),
    ("ftp.", "FTP"),
    ("hadoop.fuse.", "FUSE"),
    ("hadoop.kms.", "key management server"),
    ("hadoop.registry.", "YARN"),
    ("hadoop.zk.", "YARN"),
    ("httpfs.", "HttpFS"),
    ("io.map.", "MapReduce"),
    ("io.mapfile.", "MapReduce"),
    ("io.seqfile.", "MapReduce"),
    ("io.serializations", "MapReduce"),
    ("mapred.", "MapReduce"),
    ("mapreduce.", "MapReduce"),
    ("nfs.", "NFS gateway"),
    ("seq.io.", "MapReduce"),
    ("ssl.", "TLS"),
    ("tfile.", "MapReduce"),
    ("yarn.", "YARN"),
];

/// What this version does with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is obeyed.
    Implemented,
    /// Hadoop knows it; here it has no effect.
    NotImplemented,
    /// It belongs to this program or file system, which is no part of zerohop.
    OtherProgram(&'static str),
}

/// The status of a name; `None` for one that neither Hadoop nor zerohop knows.
pub fn status(name: &str) -> Option<Status> {
    if PATTERNS.iter().any(|pattern| *pattern == name || matches(pattern, name)) {
        return Some(Status::Implemented);
    }
    if find(name).is_some() && !is_unread(name) {
        return Some(Status::Implemented);
    }
    if let Some((_, program)) = OTHER_PROGRAMS.iter().find(|(start, _)| name.starts_with(start)) {
        return Some(Status::OtherProgram(program));
    }
    let of_port = ported(name);
    let is_known = find(name).is_some()
        || UNLISTED.contains(&name)
        || other_default(of_port.as_deref().unwrap_or(name)).is_some();
    is_known.then_some(Status::NotImplemented)
}

/// All names of Hadoop and zerohop, in order.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = super::all().map(|key| key.name).collect();
    names.extend(super::others::names());
    names.extend(PATTERNS);
    names.extend(UNLISTED);
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether a key has a type here and yet is obeyed by nothing.
pub fn is_unread(name: &str) -> bool {
    UNREAD.lines().any(|line| line == name)
}

/// `ipc.8020.x` as Hadoop's default file has it: `ipc.[port_number].x`.
fn ported(name: &str) -> Option<String> {
    let (port, rest) = name.strip_prefix("ipc.")?.split_once('.')?;
    port.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("ipc.[port_number].{rest}"))
}

fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('[') else { return pattern == name };
    let after = rest.split_once(']').map_or("", |(_, after)| after);
    let Some(tail) = name.strip_prefix(start) else { return false };
    let mut ends = tail.char_indices().map(|(at, _)| at).chain([tail.len()]).skip(1);
    ends.any(|end| matches(after, tail.get(end..).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_status() {
        for (name, wanted) in [
            ("dfs.replication", Some(Status::Implemented)),
            ("hadoop.proxyuser.hive.hosts", Some(Status::Implemented)),
            ("ipc.8020.backoff.enable", Some(Status::Implemented)),
            ("ipc.callqueue.overflow.trigger.failover", Some(Status::Implemented)),
            ("ipc.8020.weighted-cost.handler", Some(Status::NotImplemented)),
            ("dfs.xframe.value", Some(Status::NotImplemented)),
            ("fs.s3a.path.style.access", Some(Status::OtherProgram("S3"))),
            ("fs.viewfs.mounttable.c.link./a/b", Some(Status::Implemented)),
            ("fs.viewfs.mounttable.c.linkNfly.x./a", Some(Status::OtherProgram("ViewFs"))),
            ("dfs.replicatoin", None),
        ] {
            assert_eq!(status(name), wanted, "{name}");
        }
        for name in names() {
            assert!(status(name).is_some(), "{name}");
        }
    }

    #[test]
    fn unread_names_are_of_the_typed_tables_and_in_order() {
        assert!(UNREAD.lines().is_sorted_by(|a, b| a < b));
        for name in UNREAD.lines() {
            assert!(find(name).is_some(), "{name} is in no table; take its line out of unread.txt");
        }
        assert!(UNLISTED.is_sorted() && OTHER_PROGRAMS.is_sorted() && PATTERNS.is_sorted());
    }
}
