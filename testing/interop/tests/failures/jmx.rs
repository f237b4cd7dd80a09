//! `/jmx` beside Apache's: the members that both have are of one kind, those that only one has are listed
//! here, and figures of one tree are the same.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use zerohop_interop::Outcome;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::harm::{Explain, http};

/// Beans of the NameNode and of its first DataNode, by name.
pub type Beans = BTreeMap<String, Map<String, Value>>;

const NAMES: [&str; 7] = [
    "Hadoop:service=NameNode,name=FSNamesystem",
    "Hadoop:service=NameNode,name=FSNamesystemState",
    "Hadoop:service=NameNode,name=NameNodeInfo",
    "Hadoop:service=NameNode,name=NameNodeStatus",
    "Hadoop:service=NameNode,name=ReplicatedBlocksState",
    "Hadoop:service=DataNode,name=DataNodeInfo",
    "Hadoop:service=DataNode,name=FSDatasetState",
];

/// Members that only Apache's have: of what is not there or not counted.
const ONLY_APACHE: &str = include_str!("jmx_only_apache.txt");

/// Members that only ours have.
const ONLY_OURS: [&str; 8] = [
    "FSDatasetState FailedStorageLocations",
    "FSDatasetState NumBlocks",
    "FSDatasetState StorageInfo",
    "FSNamesystem UnknownReplicas",
    "FSNamesystem UnknownReplicasNewerThanMetadata",
    "NameNodeInfo NNStarted",
    "NameNodeInfo TotalFiles",
    "ReplicatedBlocksState HighestPriorityLowRedundancyReplicatedBlocks",
];

/// Figures that two clusters with the same tree must have in common. Apache's FSNamesystem is a sample of
/// some seconds ago, in which nothing was written yet.
const SAME: [&str; 10] = [
    "FSNamesystem ExpiredHeartbeats",
    "FSNamesystem NumStaleStorages",
    "FSNamesystemState EstimatedCapacityLostTotal",
    "FSNamesystemState FSState",
    "NameNodeInfo CorruptFiles",
    "NameNodeInfo EnteringMaintenanceNodes",
    "NameNodeInfo DistinctVersionCount",
    "NameNodeStatus State",
    "NameNodeStatus SlowPeersReport",
    "FSDatasetState NumFailedVolumes",
];

pub fn beans(cluster: &Cluster) -> Outcome<Beans> {
    let mut found = Beans::new();
    for port in [cluster.site.http_port, cluster.site.info_ports[0]] {
        let page: Value = serde_json::from_str(&http(port, "/jmx")?).at("/jmx")?;
        for bean in page["beans"].as_array().into_iter().flatten() {
            let name = bean["name"].as_str().unwrap_or_default();
            if let (Some(name), Some(bean)) =
                (NAMES.iter().find(|known| **known == name), bean.as_object())
            {
                let name = name.rsplit('=').next().unwrap_or_default();
                found.insert(name.to_owned(), bean.clone());
            }
        }
    }
    Ok(found)
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// `Bean Member` of those that only the first has.
fn only(first: &Beans, second: &Beans) -> Vec<String> {
    let members = first.iter().flat_map(|(name, bean)| bean.keys().map(move |key| (name, key)));
    let lacks = |(name, key): &(&String, &String)| {
        second.get(*name).is_none_or(|other| !other.contains_key(*key))
    };
    members.filter(lacks).map(|(name, key)| format!("{name} {key}")).collect()
}

fn member<'a>(beans: &'a Beans, name: &str) -> Option<&'a Value> {
    let (bean, member) = name.split_once(' ')?;
    beans.get(bean)?.get(member)
}

/// All differences that are not listed above, one a line.
pub fn differences(theirs: &Beans, ours: &Beans) -> Vec<String> {
    let mut found = Vec::new();
    let known: Vec<&str> = ONLY_APACHE.lines().filter(|line| !line.starts_with('#')).collect();
    let lacking = only(theirs, ours);
    found.extend(
        lacking.iter().filter(|m| !known.contains(&m.as_str())).map(|m| format!("we lack {m}")),
    );
    found.extend(
        known.iter().filter(|m| !lacking.iter().any(|l| l == *m)).map(|m| format!("we have {m}")),
    );
    let more = only(ours, theirs);
    found.extend(
        more.iter().filter(|m| !ONLY_OURS.contains(&m.as_str())).map(|m| format!("only ours: {m}")),
    );
    for (name, bean) in ours {
        for (key, value) in bean {
            let other = theirs.get(name).and_then(|bean| bean.get(key));
            if let Some(other) = other.filter(|other| kind(other) != kind(value)) {
                found.push(format!("{name} {key}: {other}, ours {value}"));
            }
        }
    }
    for name in SAME {
        let (their, our) = (member(theirs, name), member(ours, name));
        if their.is_none() || their != our {
            found.push(format!("{name}: {their:?}, ours {our:?}"));
        }
    }
    found
}
