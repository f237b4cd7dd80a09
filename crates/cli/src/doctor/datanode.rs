//! A DataNode of this machine: which one it is, and what its configuration says against the
//! client's.

use std::io::Read;
use std::net::UdpSocket;
use std::path::Path;
use std::time::Duration;

use zerohop_client::{DatanodeInfo, User};
use zerohop_conf::{Conf, keys};
use zerohop_wire::authority;

use super::report::Report;
use crate::failure::{Failure, Outcome};
use crate::http;

/// Longest wait for a DataNode's web server.
const PATIENCE: Duration = Duration::from_secs(5);
/// A configuration is not longer.
const PAGE_MAX: u64 = 8 << 20;
/// Milliseconds between looks at closed sockets; 0 turns shared memory off, on either side.
const WATCHER: &str = "dfs.short.circuit.shared.memory.watcher.interrupt.check.ms";

/// Whether an address is this machine's: only those can be bound.
pub fn is_this_machine(ip: &str) -> bool {
    UdpSocket::bind((ip, 0)).is_ok()
}

/// The configuration in force at a DataNode (`/conf` of its web server).
pub fn settings(node: &DatanodeInfo) -> Outcome<Conf> {
    let port = node.proto().id.info_port;
    let address = authority(node.ip(), port);
    // A DataNode with dfs.cluster.administrators shows it to them only.
    let path = format!("/conf?user.name={}", http::escape(&User::of_process().name));
    let mut page = Vec::new();
    http::get(&address, &path, PATIENCE, PATIENCE)?.take(PAGE_MAX).read_to_end(&mut page)?;
    let mut conf = Conf::new();
    conf.parse_xml(&page)
        .map_err(|error| Failure::io(format!("http://{address}/conf: {error}")))?;
    Ok(conf)
}

/// Compares what must agree.
pub fn compare(client: &Conf, node: &DatanodeInfo, theirs: &Conf, report: &mut Report) -> Outcome {
    let path = &keys::DFS_DOMAIN_SOCKET_PATH;
    let (ours, its) = (client.get(path)?, theirs.get(path)?);
    if its.is_empty() {
        report.fault(
            "datanode-path",
            format!("DataNode {node} has no {}", path.name),
            match ours.trim() {
                "" => format!("set {} there as here, and restart it", path.name),
                ours => format!("set {} to {ours} in its hdfs-site.xml, and restart it", path.name),
            },
        );
    } else if ours.trim() != its.trim() {
        report.fault(
            "datanode-path",
            format!("{} is {ours} here, but {its} at DataNode {node}", path.name),
            format!("set it to {its} here"),
        );
    } else {
        report.ok("datanode-path", format!("{its} at DataNode {node} too"));
    }
    let switch = &keys::DFS_CLIENT_READ_SHORTCIRCUIT;
    if theirs.get(switch)? {
        report.ok("datanode-switch", format!("{} is true at DataNode {node}", switch.name));
    } else {
        report.fault(
            "datanode-switch",
            format!("{} is false at DataNode {node}: it passes no descriptors", switch.name),
            format!("set {} to true in its hdfs-site.xml, and restart it", switch.name),
        );
    }
    for (who, conf) in [("the client", client), ("the DataNode", theirs)] {
        let value = conf.get_named::<i64>(WATCHER, "60000", zerohop_conf::Unit::Plain)?;
        if value <= 0 {
            report.warning(
                "shared-memory",
                format!("{WATCHER} is {value} at {who}: no slots, a replica cannot be taken back"),
                format!("remove {WATCHER}"),
            );
        }
    }
    room(theirs, report)
}

/// The directories in which a DataNode may make segments.
fn room(theirs: &Conf, report: &mut Report) -> Outcome {
    let key = &keys::DFS_DATANODE_SHARED_FILE_DESCRIPTOR_PATHS;
    for directory in theirs.get(key)? {
        match rustix::fs::statvfs(Path::new(&directory)) {
            Ok(found) => {
                let free = found.f_bavail.saturating_mul(found.f_frsize);
                let text = format!("{directory}: {} KB free", free >> 10);
                match free < ROOM_MIN {
                    false => report.ok("shared-memory-room", text),
                    true => report.warning(
                        "shared-memory-room",
                        text,
                        format!("free some, or mount -o remount,size=64m {directory}"),
                    ),
                }
            }
            Err(error) => report.warning(
                "shared-memory-room",
                format!("{directory}: {error}"),
                format!("mount a tmpfs there, or take it out of {}", key.name),
            ),
        }
    }
    Ok(())
}

/// Some segments of 8 KB.
const ROOM_MIN: u64 = 256 << 10;
