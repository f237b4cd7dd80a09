//! The domain socket: its path component by component, its file, who listens.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use procfs::process::{LimitValue, Process};
use rustix::fs::{Access, access};
use zerohop_transport::domain::{self, PATH_LEN_MAX, Peer, Problem};

use super::report::Report;

/// A listener that lives takes a connection at once.
const PATIENCE: Duration = Duration::from_secs(2);

/// Files a DataNode should be able to have open.
const LIMIT_MIN: u64 = 4096;

/// Socket paths that were looked at already, with whether all is well there.
#[derive(Default)]
pub struct ExaminedSockets {
    good: BTreeSet<PathBuf>,
    bad: BTreeSet<PathBuf>,
}

/// Looks at a socket path, once; whether a request can be tried there.
pub fn examine(path: &Path, seen: &mut ExaminedSockets, report: &mut Report) -> bool {
    if seen.good.contains(path) || seen.bad.contains(path) {
        return seen.good.contains(path);
    }
    let connected = domain::connect(path, PATIENCE).and_then(domain::peer);
    let owner = connected.as_ref().map_or_else(
        |_| rustix::process::geteuid().as_raw(),
        // The rules are those of the DataNode's user.
        |peer| peer.uid,
    );
    let good =
        components(path, owner, report) && file(path, report) && listener(path, connected, report);
    if good { &mut seen.good } else { &mut seen.bad }.insert(path.to_owned());
    good
}

/// Hadoop's rules for the directories above; the DataNode does not start where one is broken. What is
/// loosened later does not stop reads, but lets others put their own socket there.
fn components(path: &Path, owner: u32, report: &mut Report) -> bool {
    if let Err(error) = domain::validate(path)
        && matches!(error.problem, Problem::TooLong(_) | Problem::NotAFile)
    {
        report.fault("socket-path", error.to_string(), error.fix());
        return false;
    }
    let mut directories: Vec<&Path> = path.ancestors().skip(1).collect();
    directories.reverse();
    let mut reachable = true;
    for directory in directories {
        match domain::validate_component(path, directory, owner) {
            Ok(()) => report.ok("path-component", describe(directory)),
            Err(error) => {
                reachable &= !matches!(error.problem, Problem::Unreachable(_));
                report.fault("path-component", error.to_string(), error.fix());
                if !reachable {
                    break;
                }
            }
        }
    }
    reachable
}

fn describe(path: &Path) -> String {
    match std::fs::metadata(path) {
        Ok(found) => format!(
            "{}: mode 0{:03o}, uid {}, gid {}",
            path.display(),
            found.mode() & 0o7777,
            found.uid(),
            found.gid()
        ),
        Err(error) => format!("{}: {error}", path.display()),
    }
}

fn file(path: &Path, report: &mut Report) -> bool {
    let shown = path.display();
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            report.fault(
                "socket-file",
                format!("{shown} is not there: no DataNode listens on this path"),
                format!(
                    "start the DataNode of this machine, with dfs.client.read.shortcircuit true and dfs.domain.socket.path the same in its hdfs-site.xml; in a container, mount {shown} into it"
                ),
            );
            return false;
        }
        Err(error) => {
            report.fault(
                "socket-file",
                format!("{shown}: {error}"),
                "let this user search the directories above it",
            );
            return false;
        }
    };
    if !found.file_type().is_socket() {
        report.fault(
            "socket-file",
            format!("{} is not a socket: something else was put in its place", describe(path)),
            format!("rm {shown}, and restart the DataNode"),
        );
        return false;
    }
    if access(path, Access::WRITE_OK).is_err() {
        report.fault(
            "socket-file",
            format!("{}: this user may not connect", describe(path)),
            format!("chmod o+w {shown}: the DataNode decides what is handed out, not the file"),
        );
        return false;
    }
    report.ok("socket-file", describe(path));
    true
}

fn listener(path: &Path, connected: io::Result<Peer>, report: &mut Report) -> bool {
    let shown = path.display();
    match connected {
        Ok(peer) => {
            report.ok("listener", named(peer));
            limit(peer, report);
            true
        }
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            report.fault(
                "listener",
                format!("nobody listens at {shown}: it was left by a DataNode that is gone"),
                "start the DataNode of this machine",
            );
            false
        }
        Err(error) => {
            report.fault(
                "listener",
                format!("{shown} takes no connection: {error}"),
                "restart the DataNode of this machine",
            );
            false
        }
    }
}

/// A DataNode opens two files a replica; where it may open few, it refuses under load.
fn limit(peer: Peer, report: &mut Report) {
    let limits = Process::new(peer.pid).and_then(|process| process.limits());
    let limit = match limits.map(|limits| limits.max_open_files.soft_limit) {
        Ok(LimitValue::Value(limit)) => limit,
        Ok(LimitValue::Unlimited) => u64::MAX,
        Err(_) => {
            return report
                .skipped("datanode-limit", format!("{} does not show its limits", named(peer)));
        }
    };
    let found = format!("{} may have {limit} files open", named(peer));
    match limit >= LIMIT_MIN {
        true => report.ok("datanode-limit", found),
        false => report.warning(
            "datanode-limit",
            found,
            format!("ulimit -n {LIMIT_MIN} or more before it starts"),
        ),
    }
}

/// A process with its name, as far as it can be seen from here.
pub fn named(peer: Peer) -> String {
    let stat = Process::new(peer.pid).and_then(|process| process.stat());
    match stat.map(|stat| stat.comm) {
        Ok(name) if !name.is_empty() => format!("{peer} ({name})"),
        _ => peer.to_string(),
    }
}

/// The process behind a socket, for messages.
pub fn listener_of(path: &Path) -> String {
    let peer = domain::connect(path, PATIENCE).and_then(domain::peer);
    peer.map_or_else(|_| "nobody".to_owned(), named)
}

/// The sockets that a configured path may stand for: itself, or with a port for `_PORT` in its name.
pub fn present(configured: &Path) -> Vec<PathBuf> {
    let name = configured.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((before, behind)) = name.split_once("_PORT") else {
        return vec![configured.to_owned()];
    };
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let port = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
        port.is_some_and(|port| port.parse::<u16>().is_ok())
    };
    let entries = configured.parent().and_then(|directory| std::fs::read_dir(directory).ok());
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths.filter(is_one).collect();
    found.sort();
    found
}

/// What to set where no path is configured.
pub fn unset(site: &str, report: &mut Report) {
    report.fault(
        "socket-path",
        "dfs.domain.socket.path is not set",
        format!(
            "set it to the same path (at most {PATH_LEN_MAX} bytes, such as /var/lib/hadoop-hdfs/dn_socket) in {site} and in the DataNode's hdfs-site.xml"
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the superuser's rights no port is known: 9866 was assumed, and "start the DataNode" said.
    #[test]
    fn the_port_of_a_socket_was_guessed() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        for name in ["dn.4711", "dn.x", "dn.99999", "other.1"] {
            std::fs::write(at(name), "").unwrap();
        }
        assert_eq!(present(&at("dn._PORT")), [at("dn.4711")]);
        assert_eq!(present(&at("dn")), [at("dn")]);
        assert!(present(Path::new("/no-such-directory/dn._PORT")).is_empty());
    }
}
