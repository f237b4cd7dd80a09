//! Replicas: those behind a block in a report, and those of `-blockId`.

use super::out::Out;
use super::request::{Options, Request};
use std::fmt::Write;
use zerohop_namespace::blocks::{AdminState, BlockCheck, ReplicaCheck};
use zerohop_wire::BlockId;

/// What stands behind a block where `-locations` or one of its siblings was given.
pub(super) fn replica_info(request: &Request<'_>, check: &BlockCheck) -> String {
    let Options { locations, racks, replica_details, upgrade_domains, .. } = request.options;
    if !locations && !racks && !replica_details && !upgrade_domains {
        return String::new();
    }
    let one = |replica: &ReplicaCheck| {
        let location = &replica.location;
        let address = location.node.id.xfer_addr();
        let mut text = if racks {
            format!("{}/{address}", location.node.rack)
        } else {
            let kind = location.kind.as_str_name();
            format!("DatanodeInfoWithStorage[{address},{},{kind}]", location.storage_id)
        };
        if upgrade_domains {
            let domain = request.core.hosts.upgrade_domain(&location.node.id);
            _ = write!(text, "(ud={})", domain.as_deref().unwrap_or("undefined"));
        }
        if replica_details {
            _ = write!(text, "({})", detail(replica, request.options.maintenance));
        }
        text
    };
    let places: Vec<_> = check.replicas.iter().map(one).collect();
    format!("  [{}]", places.join(", "))
}

fn detail(replica: &ReplicaCheck, maintenance: bool) -> &'static str {
    match replica.admin() {
        AdminState::Decommissioned => "DECOMMISSIONED",
        AdminState::DecommissionInProgress => "DECOMMISSIONING",
        AdminState::EnteringMaintenance if maintenance => "ENTERING MAINTENANCE",
        AdminState::InMaintenance if maintenance => "IN MAINTENANCE",
        _ if replica.corrupt.is_some() => "CORRUPT",
        _ if replica.is_excess => "EXCESS",
        _ if replica.is_stale_node => "STALE_NODE",
        _ if replica.is_stale_content => "STALE_BLOCK_CONTENT",
        _ => "LIVE",
    }
}

/// `-blockId blk_<id>...`; the name with its stamp, as reports print it, will do too.
pub(super) fn write_block(request: &Request<'_>, name: &str, out: &mut Out) {
    let Some((_, digits)) = name.split_once("blk_") else {
        return out.line(format!("Incorrect blockId format: {name}"));
    };
    out.line("");
    let id = digits.split('_').next().and_then(|digits| digits.parse().ok()).map(BlockId);
    let found = request.core.read(|namespace| {
        let check = namespace.blocks().lookup().inspect(id?)?;
        let path = namespace.path_of(check.stored.file).unwrap_or_default();
        Some((check, path))
    });
    let Some((check, path)) = found else {
        return out.line(format!("Block {name} does not exist"));
    };
    let counts = &check.counts;
    let stale = check.replicas.iter().filter(|replica| replica.is_stale_content).count();
    out.line(format!("Block Id: {name}"));
    out.line(format!("Block belongs to: {path}"));
    out.line(format!("No. of Expected Replica: {}", check.stored.replication));
    out.line(format!("No. of live Replica: {}", counts.live));
    out.line(format!("No. of excess Replica: {}", counts.excess));
    out.line(format!("No. of stale Replica: {stale}"));
    out.line(format!("No. of decommissioned Replica: {}", counts.decommissioned));
    out.line(format!("No. of decommissioning Replica: {}", counts.decommissioning));
    if request.options.maintenance {
        let (entering, away) = (check.entering_maintenance(), check.in_maintenance());
        out.line(format!("No. of entering maintenance Replica: {entering}"));
        out.line(format!("No. of in maintenance Replica: {away}"));
    }
    out.line(format!("No. of corrupted Replica: {}", counts.corrupt));
    for replica in check.replicas.iter().rev() {
        let node = &replica.location.node;
        let condition = condition(replica, request.options.maintenance);
        let (host, rack) = (&node.id.host, &node.rack);
        out.line(format!("Block replica on datanode/rack: {host}{rack} {condition}"));
    }
}

/// The tool takes its exit code from the last of these.
fn condition(replica: &ReplicaCheck, maintenance: bool) -> String {
    if let Some(reason) = replica.corrupt {
        return format!("is CORRUPT\t ReasonCode: {}", reason.name());
    }
    let words = match replica.admin() {
        AdminState::Decommissioned => "is DECOMMISSIONED",
        AdminState::DecommissionInProgress => "is DECOMMISSIONING",
        AdminState::EnteringMaintenance if maintenance => "is ENTERING MAINTENANCE",
        AdminState::InMaintenance if maintenance => "is IN MAINTENANCE",
        _ if replica.is_stale_node => "is STALE",
        _ if replica.is_excess => "is EXCESS",
        _ => "is HEALTHY",
    };
    words.to_owned()
}
