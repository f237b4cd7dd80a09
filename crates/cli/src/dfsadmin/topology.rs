//! `-printTopology`

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use zerohop_client::{DatanodeInfo, DatanodeReportType};
use zerohop_conf::Conf;
use zerohop_proto::hdfs::datanode_info_proto::AdminState;

use super::words::expect;
use crate::failure::Outcome;
use crate::fs::{client_failure, connect_client, pop_flag};

pub fn run(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let as_json = pop_flag("--json", &mut words);
    expect(&words, 0)?;
    let nodes = connect_client(conf)?.datanode_report(DatanodeReportType::All);
    let nodes = nodes.map_err(client_failure)?;
    if as_json {
        sayln!("{}", json_of(&nodes));
        return Ok(0);
    }
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

/// The racks with their DataNodes, both in order of name.
fn json_of(nodes: &[DatanodeInfo]) -> Value {
    let mut racks: BTreeMap<&str, BTreeMap<String, Value>> = BTreeMap::new();
    for node in nodes {
        let value = json!({
            "name": node.to_string(), "hostname": node.host(), "uuid": node.uuid(),
            "adminState": state(node),
        });
        racks.entry(node.location()).or_default().insert(node.to_string(), value);
    }
    let one = |(rack, nodes): (&str, BTreeMap<String, Value>)| json!({ "rack": rack, "datanodes": nodes.into_values().collect::<Vec<_>>() });
    racks.into_iter().map(one).collect()
}

fn state(node: &DatanodeInfo) -> &'static str {
    match node.admin_state() {
        AdminState::Normal => "In Service",
        AdminState::DecommissionInprogress => "Decommission In Progress",
        AdminState::Decommissioned => "Decommissioned",
        AdminState::EnteringMaintenance => "Entering Maintenance",
        AdminState::InMaintenance => "In Maintenance",
    }
}

fn line(node: &DatanodeInfo) -> String {
    let mut text = node.to_string();
    if node.host() != node.ip() {
        text.push_str(&format!(" ({})", node.host()));
    }
    text.push(' ');
    text.push_str(state(node));
    text
}
