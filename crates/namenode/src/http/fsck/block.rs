//! Replicas: those behind a block in a report, and those of `-blockId`.

use super::Fsck;
use super::asked::Options;
use std::fmt::Write;
use zerohop_namespace::blocks::{AdminState, BlockCheck, ReplicaCheck};
use zerohop_wire::BlockId;

impl Fsck<'_> {
    /// What stands behind a block where `-locations` or one of its siblings was given.
    pub(super) fn replica_info(&self, check: &BlockCheck) -> String {
        let Options { locations, racks, replica_details, upgrade_domains, .. } = self.options;
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
                let domain = self.core.hosts.upgrade_domain(&location.node.id);
                _ = write!(text, "(ud={})", domain.as_deref().unwrap_or("undefined"));
            }
            if replica_details {
                _ = write!(text, "({})", self.detail(replica));
            }
            text
        };
        let places: Vec<_> = check.replicas.iter().map(one).collect();
        format!("  [{}]", places.join(", "))
    }

    fn detail(&self, replica: &ReplicaCheck) -> &'static str {
        let maintenance = self.options.maintenance;
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
    pub(super) fn block(&mut self, name: &str) {
        let Some((_, digits)) = name.split_once("blk_") else {
            return self.line(format!("Incorrect blockId format: {name}"));
        };
        self.line("");
        let id = digits.split('_').next().and_then(|digits| digits.parse().ok()).map(BlockId);
        let found = self.core.read(|namespace| {
            let check = namespace.blocks().lookup().inspect(id?)?;
            let path = namespace.path_of(check.stored.file).unwrap_or_default();
            Some((check, path))
        });
        let Some((check, path)) = found else {
            return self.line(format!("Block {name} does not exist"));
        };
        let counts = &check.counts;
        let stale = check.replicas.iter().filter(|replica| replica.is_stale_content).count();
        self.line(format!("Block Id: {name}"));
        self.line(format!("Block belongs to: {path}"));
        self.line(format!("No. of Expected Replica: {}", check.stored.replication));
        self.line(format!("No. of live Replica: {}", counts.live));
        self.line(format!("No. of excess Replica: {}", counts.excess));
        self.line(format!("No. of stale Replica: {stale}"));
        self.line(format!("No. of decommissioned Replica: {}", counts.decommissioned));
        self.line(format!("No. of decommissioning Replica: {}", counts.decommissioning));
        if self.options.maintenance {
            let (entering, away) = (check.entering_maintenance(), check.in_maintenance());
            self.line(format!("No. of entering maintenance Replica: {entering}"));
            self.line(format!("No. of in maintenance Replica: {away}"));
        }
        self.line(format!("No. of corrupted Replica: {}", counts.corrupt));
        for replica in check.replicas.iter().rev() {
            let node = &replica.location.node;
            let condition = self.condition(replica);
            let (host, rack) = (&node.id.host, &node.rack);
            self.line(format!("Block replica on datanode/rack: {host}{rack} {condition}"));
        }
    }

    /// The tool takes its exit code from the last of these.
    fn condition(&self, replica: &ReplicaCheck) -> String {
        let maintenance = self.options.maintenance;
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
}
