//! Samples over time.

use crate::beans::Beans;
use crate::calls::CallMeters;
use crate::cluster::{Cluster, ListedNode, listed_nodes, slow};
use crate::datanode::{DataNodeMeters, disks, xceivers};
use crate::figures::{DataNode, Figures, NameNode};
use crate::sample::{DataNodeAnswer, Sample};
use crate::users::{Directories, Users};
use std::collections::HashMap;

/// Keeps of the samples what rates are made of.
#[derive(Debug, Default)]
pub struct History {
    /// Whose calls are counted; another NameNode's counters have nothing to do with them.
    namenode: String,
    calls: CallMeters,
    datanodes: HashMap<String, DataNodeMeters>,
}

impl History {
    /// Whether all rates are known that more samples can make known.
    pub fn is_settled(&self) -> bool {
        self.calls.is_settled() && self.datanodes.values().all(DataNodeMeters::is_settled)
    }

    /// Takes a sample; the figures at its moment. Samples are to come in order of time.
    pub fn take(&mut self, sample: &Sample) -> Figures {
        let namenodes = sample.namenodes.iter().map(|answer| NameNode {
            id: answer.id.clone(),
            address: answer.address.clone(),
            state: answer.state().map(str::to_owned),
            problem: match &answer.beans {
                Err(problem) => Some(problem.clone()),
                Ok(_) if answer.state().is_none() => Some("it is no NameNode".to_owned()),
                Ok(_) => None,
            },
        });
        let mut figures = Figures { name_nodes: namenodes.collect(), ..Figures::default() };
        let shown = sample.shown_namenode().and_then(|at| sample.namenodes.get(at));
        let Some((answer, beans)) =
            shown.and_then(|answer| Some((answer, answer.beans.as_ref().ok()?)))
        else {
            return figures;
        };
        if self.namenode != answer.address {
            self.namenode.clone_from(&answer.address);
            self.calls = CallMeters::default();
        }
        self.calls.read(sample.at_ms, beans);
        let listed = listed_nodes(beans);
        self.datanodes.retain(|name, _| listed.iter().any(|node| node.name == *name));
        let slow_disks = slow(beans, "SlowDisksReport", "SlowDiskID");
        for answer in &sample.datanodes {
            let Ok(own) = &answer.beans else { continue };
            let Some(node) = listed.iter().find(|node| node.name == answer.name) else { continue };
            let meters = self.datanodes.entry(answer.name.clone()).or_default();
            meters.read(sample.at_ms, own);
            figures.traffic.push(meters.traffic(&node.name, own));
            figures.disks.extend(disks((&node.name, &node.ip), own, &slow_disks));
        }
        figures.shown = Some(answer.address.clone());
        figures.cluster = Cluster::of(beans);
        figures.calls = self.calls.figures(beans);
        figures.users = Users::of(beans);
        figures.directories = Directories::of(beans);
        figures.slow_peers = slow(beans, "SlowPeersReport", "SlowNode");
        figures.data_nodes =
            listed.into_iter().map(|node| data_node(node, &sample.datanodes)).collect();
        figures
    }
}

fn data_node(node: ListedNode, answers: &[DataNodeAnswer]) -> DataNode {
    let answer = answers.iter().find(|answer| answer.name == node.name).map(|a| a.beans.as_ref());
    DataNode {
        xceivers: answer.and_then(Result::ok).and_then(xceivers as fn(&Beans) -> Option<u64>),
        problem: answer.and_then(Result::err).cloned(),
        name: node.name,
        rack: node.rack,
        state: node.state,
        capacity: node.capacity,
        used: node.used,
        remaining: node.remaining,
        blocks: node.blocks,
        last_contact_s: node.last_contact_s,
        failed_volumes: node.failed_volumes,
        version: node.version,
    }
}
