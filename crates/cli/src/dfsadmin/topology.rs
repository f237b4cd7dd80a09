//! `-printTopology`

use std::collections::{BTreeMap, BTreeSet};

use zerohop_client::{DatanodeInfo, DatanodeReportType};
use zerohop_conf::Conf;
use zerohop_proto::hdfs::datanode_info_proto::AdminState;

use super::words::expect;
use crate::failure::Outcome;
use crate::fs::{client_failure, connect_client};

pub fn run(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    expect(&words, 0)?;
    let nodes = connect_client(conf)?.datanode_report(DatanodeReportType::All);
    let nodes = nodes.map_err(client_failure)?;
    if nodes.is_empty() {
        sayln!("No DataNodes");
        return Ok(0);
    }
    let mut racks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for node in &nodes {
        racks.entry(node.location().to_owned()).or_default().insert(line(node));
    }
    for (rack, lines) in racks {
        sayln!("Rack: {rack}");
        for line in lines {
            sayln!("   {line}");
        }
        sayln!();
    }
    Ok(0)
}

fn line(node: &DatanodeInfo) -> String {
    let mut text = node.to_string();
    if node.host() != node.ip() {
        text.push_str(&format!(" ({})", node.host()));
    }
    text.push_str(match node.admin_state() {
        AdminState::Normal => " In Service",
        AdminState::DecommissionInprogress => " Decommission In Progress",
        AdminState::Decommissioned => " Decommissioned",
        AdminState::EnteringMaintenance => " Entering Maintenance",
        AdminState::InMaintenance => " In Maintenance",
    });
    text
}
