//! What the client's own configuration says, and who the client is.

use rustix::process::{Resource, getrlimit};
use zerohop_conf::{Conf, keys};
use zerohop_transport::groups::Groups;
use zerohop_transport::login::User;

use super::report::Report;
use crate::failure::Outcome;

/// Keys of generations that are gone.
const OBSOLETE: [(&str, &str); 3] = [
    ("dfs.client.use.legacy.blockreader.local", "the reader of HDFS-2246, which opens paths"),
    ("dfs.block.local-path-access.user", "who may ask for paths (HDFS-2246)"),
    ("dfs.client.use.legacy.blockreader", "a remote reader that Hadoop 3 has no more"),
];

/// The file to change.
pub fn site(conf: &Conf) -> String {
    let directory = conf.directory().map(|directory| directory.join("hdfs-site.xml"));
    directory.map_or_else(|| "hdfs-site.xml".to_owned(), |path| path.display().to_string())
}

fn from(conf: &Conf, name: &str) -> String {
    conf.source(name).map_or_else(|| "not set".to_owned(), |source| source.to_string())
}

/// Looks at everything that needs no other process.
pub fn examine(conf: &Conf, report: &mut Report) -> Outcome {
    match conf.directory() {
        Some(directory) => report.ok("configuration", directory.display().to_string()),
        None => report.warning(
            "configuration",
            "no directory was read: defaults and the command line only",
            "set HADOOP_CONF_DIR or give --config DIR",
        ),
    }
    deprecated(conf, report);
    let key = &keys::DFS_CLIENT_READ_SHORTCIRCUIT;
    let origin = from(conf, key.name);
    if conf.get(key)? {
        report.ok("client-switch", format!("{} is true ({origin})", key.name));
    } else {
        report.fault(
            "client-switch",
            format!("{} is false ({origin})", key.name),
            format!("set {} to true in {}", key.name, site(conf)),
        );
    }
    let skip = &keys::DFS_CLIENT_READ_SHORTCIRCUIT_SKIP_CHECKSUM;
    if conf.get(skip)? {
        report.warning(
            "skip-checksum",
            format!("{} is true ({}): damage is not noticed", skip.name, from(conf, skip.name)),
            format!("remove {} from {}: verifying costs next to nothing", skip.name, site(conf)),
        );
    }
    who(conf, report);
    limit(conf, report)
}

fn deprecated(conf: &Conf, report: &mut Report) {
    for warning in conf.warnings().iter().filter(|text| text.contains(" is deprecated. ")) {
        report.warning("deprecated-key", warning.as_str(), "rename it");
    }
    for (name, what) in OBSOLETE.iter().filter(|(name, _)| conf.is_set(name)) {
        report.warning(
            "deprecated-key",
            format!("{name} is set ({}): {what}", from(conf, name)),
            format!("remove {name}"),
        );
    }
}

fn who(conf: &Conf, report: &mut Report) {
    let user = User::of_process();
    let groups = Groups::from_conf(conf).of(&user.name);
    let names = if groups.is_empty() { "none".to_owned() } else { groups.join(", ") };
    let uid = rustix::process::geteuid().as_raw();
    report.ok("user", format!("{user} (uid {uid}), groups: {names}"));
}

/// Two descriptors a replica that is kept open.
fn limit(conf: &Conf, report: &mut Report) -> Outcome {
    let key = &keys::DFS_CLIENT_READ_SHORTCIRCUIT_STREAMS_CACHE_SIZE;
    let kept = conf.get(key)?.max(0).unsigned_abs();
    let wanted = u64::from(kept) * 2 + 64;
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let found = format!("{limit} descriptors may be open, {wanted} are wanted for {kept} replicas");
    if limit >= wanted {
        report.ok("descriptor-limit", found);
    } else {
        let fix = format!("ulimit -n {wanted}, or a smaller {}", key.name);
        report.warning("descriptor-limit", found, fix);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::report::Verdict;
    use super::*;

    fn of(pairs: &[(&str, &str)]) -> Report {
        let mut conf = Conf::new();
        pairs.iter().for_each(|(name, value)| conf.set(name, *value));
        let mut report = Report::default();
        examine(&conf, &mut report).unwrap();
        report
    }

    #[test]
    fn switches_and_old_keys_are_found() {
        assert!(of(&[]).has("client-switch", Verdict::Fault));
        let report = of(&[
            ("dfs.client.read.shortcircuit", "true"),
            ("dfs.client.read.shortcircuit.skip.checksum", "true"),
            ("dfs.client.use.legacy.blockreader.local", "true"),
            ("dfs.block.size", "1m"),
            ("dfs.client.read.shortcircuit.streams.cache.size", "1000000000"),
        ]);
        assert!(report.has("client-switch", Verdict::Ok));
        for name in ["skip-checksum", "deprecated-key", "descriptor-limit"] {
            assert!(report.has(name, Verdict::Warning), "{name}");
        }
        let json = report.json().to_string();
        for key in ["dfs.block.size", "dfs.client.use.legacy.blockreader.local"] {
            assert!(json.contains(key), "{json}");
        }
    }
}
