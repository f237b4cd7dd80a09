//! What simulated DataNodes do: they beat, report, and carry out orders, late or never.

use super::*;
use crate::error::{DatanodeError, refuse};

impl Schedule {
    pub(super) fn beat(&mut self, node: usize) {
        for link in 0..self.nodes[node].links.len() {
            self.beat_to(node, link);
        }
        self.settle();
    }

    fn beat_to(&mut self, node: usize, to: usize) {
        if !self.nodes[node].is_up || self.nodes[node].links[to].is_cut {
            return;
        }
        let now = self.now;
        let wants_report_lease = self.nodes[node].links[to].owes_report;
        let beat = |blocks: &mut BlockManager| {
            let beat = Heartbeat { wants_report_lease, ..Heartbeat::default() };
            blocks.heartbeat(&uuid(node), beat, &[disk(node)], now, &|_| 0)
        };
        let mut reply = beat(self.namenode(to));
        if matches!(reply.commands[..], [Command::Register]) {
            self.namenode(to).register(identity(node), "/a", "3.4.3", now);
            let link = &mut self.nodes[node].links[to];
            *link = Link { owes_report: true, ..Link::default() };
            reply = beat(self.namenode(to));
        }
        self.nodes[node].links[to].lease = reply.report_lease;
        self.hear(node, to);
        if self.nodes[node].obeys == Some(to) {
            self.nodes[node].orders.extend(reply.commands);
        }
    }

    /// Handles the HA state in an answer: a NameNode that became active is owed a full report.
    fn hear(&mut self, node: usize, from: usize) {
        let (term, is_active) = (self.term, from == self.active);
        let known = &mut self.nodes[node];
        if is_active && term > known.term {
            (known.obeys, known.term) = (Some(from), term);
            known.links[from].owes_report = true;
        } else if !is_active && known.obeys == Some(from) {
            known.obeys = None;
        }
    }

    /// A DataNode tells what it owes: what was missed before it says whether it is still known.
    pub(super) fn report(&mut self, node: usize) {
        for link in 0..self.nodes[node].links.len() {
            self.report_to(node, link);
        }
        self.settle();
    }

    fn report_to(&mut self, node: usize, to: usize) {
        let link = &self.nodes[node].links[to];
        if !self.nodes[node].is_up || link.is_cut {
            return;
        }
        if link.report.is_some() {
            let max = if self.is_calm { usize::MAX } else { self.rng.usize(1..4) };
            return self.deliver(node, to, max);
        }
        if self.send_events(node, to) && self.nodes[node].links[to].lease != 0 {
            self.begin_report(node, to);
        }
    }

    /// Sends an incremental report. Returns `false` if the NameNode does not know the DataNode.
    fn send_events(&mut self, node: usize, to: usize) -> bool {
        let (name, storage) = (uuid(node), storage(node));
        let events: Vec<_> = self.nodes[node].links[to].events.drain(..).collect();
        for event in &events {
            let (ReplicaEvent::Received(b) | ReplicaEvent::Deleted(b) | ReplicaEvent::Receiving(b)) =
                event
            else {
                continue;
            };
            self.note(format!("dn{node} reports {event:?} of [{}] to nn{to}", b.id));
        }
        let storage = (&storage, StorageType::Disk);
        self.namenode(to).block_reports().incremental_report(&name, storage, events).is_ok()
    }

    /// Begins a full report with a list of all replicas, after the deletions that either NameNode ordered.
    fn begin_report(&mut self, node: usize, to: usize) {
        let orders = std::mem::take(&mut self.nodes[node].orders);
        for order in orders {
            match order {
                Command::Invalidate(blocks) => {
                    blocks.into_iter().for_each(|block| self.invalidate(node, block));
                }
                other => self.nodes[node].orders.push_back(other),
            }
        }
        // What was deleted just now.
        self.send_events(node, to);
        let known = &mut self.nodes[node];
        let replicas = known.disk.iter().map(|(id, replica)| ReportedReplica {
            block: Block { id: *id, stamp: replica.stamp, len: replica.len },
            state: replica.state,
        });
        let replicas = replicas.collect();
        let link = &mut known.links[to];
        let lease = std::mem::take(&mut link.lease);
        link.owes_report = false;
        link.report = Some(Report { lease, replicas, taken: None });
        self.note(format!("*** dn{node} begins to report all to nn{to}"));
    }

    /// Delivers a part of a full report. A report that the NameNode refuses is owed again.
    fn deliver(&mut self, node: usize, to: usize, max: usize) {
        let Some(report) = self.nodes[node].links[to].report.take() else { return };
        let is_taken = self.take_part(node, to, report, max);
        if is_taken.is_err() {
            self.note(format!("*** the report of dn{node} is refused by nn{to}"));
            self.nodes[node].links[to].owes_report = true;
        }
    }

    fn take_part(&mut self, node: usize, to: usize, mut report: Report, max: usize) -> Result<()> {
        let (name, storage) = (uuid(node), storage(node));
        let blocks = self.namenode(to);
        let mut taken = match report.taken.take() {
            Some(taken) => taken,
            None if !blocks.is_report_lease_held(&name, report.lease) => {
                return refuse(DatanodeError::ReportOutOfDate { uuid: name });
            }
            None => {
                let (storage, replicas) =
                    ((&storage, StorageType::Disk), std::mem::take(&mut report.replicas));
                blocks.block_reports().begin_full_report(&name, storage, replicas)?
            }
        };
        if blocks.continue_full_report(&mut taken, max)?.is_some() {
            blocks.block_reports().end_report(&name);
            self.note(format!("*** dn{node} has reported all to nn{to}"));
        } else {
            self.nodes[node].links[to].report = Some(Report { taken: Some(taken), ..report });
        }
        Ok(())
    }

    /// Reports all at once, as an administrator may order: no lease is needed.
    pub(super) fn full_report(&mut self, node: usize) {
        for to in 0..self.nodes[node].links.len() {
            self.begin_report(node, to);
            while self.nodes[node].links[to].report.is_some() {
                self.deliver(node, to, usize::MAX);
            }
        }
        self.settle();
    }

    /// A DataNode carries out the oldest of its orders.
    pub(super) fn obey(&mut self, node: usize) {
        if !self.nodes[node].is_up {
            return;
        }
        match self.nodes[node].orders.pop_front() {
            Some(Command::Transfer(transfers)) => {
                transfers.into_iter().for_each(|transfer| self.transfer(node, &transfer));
            }
            Some(Command::Invalidate(blocks)) => {
                blocks.into_iter().for_each(|block| self.invalidate(node, block));
            }
            Some(Command::Recover(recoveries)) => {
                recoveries.into_iter().for_each(|recovery| self.lead(node, &recovery));
            }
            Some(other) => panic!("{other:?}"),
            None => {}
        }
    }

    pub(super) fn invalidate(&mut self, node: usize, block: Block) {
        let disk = &mut self.nodes[node].disk;
        if disk.get(&block.id).is_some_and(|replica| replica.stamp == block.stamp) {
            disk.remove(&block.id);
            self.nodes[node].tell(ReplicaEvent::Deleted(block));
            self.note(format!("dn{node} deletes [{}] {}", block.id, block.stamp));
        } else {
            self.note(format!("dn{node} does not have [{}] {}", block.id, block.stamp));
        }
    }

    /// One target after the other; the first that cannot take the replica keeps it from the rest.
    pub(super) fn transfer(&mut self, node: usize, transfer: &TransferCommand) {
        let block = transfer.block;
        let source = self.nodes[node].disk.get(&block.id);
        if source.is_none_or(|replica| replica.stamp != block.stamp || replica.len != block.len) {
            return;
        }
        for target in &transfer.targets {
            let to = index(target);
            let is_free = !self.nodes[to].disk.contains_key(&block.id);
            self.note(format!("dn{node} sends [{}] to dn{to}: {is_free}", block.id));
            if !self.nodes[to].is_up || !is_free || self.chance(15) {
                return;
            }
            let Block { stamp, len, .. } = block;
            let replica = Replica { stamp, len, state: ReplicaState::Finalized };
            self.nodes[to].disk.insert(block.id, replica);
            self.nodes[to].tell(ReplicaEvent::Received(block));
        }
    }

    /// The leader asks the others, has those that fit agree on a length, tells the NameNode.
    pub(super) fn lead(&mut self, leader: usize, command: &RecoverCommand) {
        let id = command.block.id;
        let mut fit = Vec::new();
        let mut is_sure = true;
        for node in command.locations.iter().map(index) {
            match self.nodes[node].disk.get(&id).copied() {
                _ if !self.nodes[node].is_up || self.chance(10) => is_sure = false,
                Some(replica) if replica.stamp < command.block.stamp => is_sure = false,
                Some(replica) if replica.stamp >= command.new_stamp => is_sure = false,
                Some(replica) if replica.len > 0 => fit.push((node, replica)),
                _ => {}
            }
        }
        self.note(format!(
            "dn{leader} recovers [{id}] as {} with {fit:?} of {:?}",
            command.new_stamp,
            command.locations.iter().map(index).collect::<Vec<_>>()
        ));
        // A client that still wrote is stopped.
        if let Some(file) = self.files.get_mut(&id).filter(|_| !fit.is_empty()) {
            file.writer = None;
        }
        if fit.is_empty() {
            if is_sure && command.truncate.is_none() {
                self.synchronized(command, 0, &[]);
            }
            return;
        }
        let best = fit.iter().map(|(_, replica)| rank(replica.state)).min().unwrap();
        let whole = fit.iter().find(|(_, replica)| replica.state == ReplicaState::Finalized);
        if let Some(len) = whole.map(|(_, replica)| replica.len) {
            let differs =
                |(_, r): &(usize, Replica)| r.state == ReplicaState::Finalized && r.len != len;
            if fit.iter().any(differs) {
                return;
            }
            fit.retain(|(_, r)| {
                r.state == ReplicaState::Finalized || r.state == ReplicaState::Rbw && r.len == len
            });
        } else {
            fit.retain(|(_, replica)| rank(replica.state) == best);
        }
        let agreed = fit.iter().map(|(_, replica)| replica.len).min().unwrap();
        let len = command.truncate.map_or(agreed, |target| target.len);
        let mut done = Vec::new();
        for (node, _) in fit {
            if self.chance(15) {
                continue;
            }
            let replica = Replica { stamp: command.new_stamp, len, state: ReplicaState::Finalized };
            self.nodes[node].disk.insert(id, replica);
            let block = Block { id, stamp: command.new_stamp, len };
            self.nodes[node].tell(ReplicaEvent::Received(block));
            done.push(node);
        }
        if !done.is_empty() && !self.chance(15) {
            self.synchronized(command, len, &done);
        }
    }

    pub(super) fn kill(&mut self, node: usize) {
        self.note(format!("*** dn{node} is killed"));
        let known = &mut self.nodes[node];
        known.is_up = false;
        for link in &mut known.links {
            *link = Link { is_cut: link.is_cut, ..Link::default() };
        }
        (known.obeys, known.term) = (None, 0);
        known.orders.clear();
        for replica in known.disk.values_mut().filter(|replica| replica.state == ReplicaState::Rbw)
        {
            replica.state = ReplicaState::Rwr;
        }
    }

    pub(super) fn start(&mut self, node: usize) {
        if self.nodes[node].is_up {
            return;
        }
        self.note(format!("*** dn{node} starts"));
        let known = &mut self.nodes[node];
        known.is_up = true;
        known.life += 1;
        for to in 0..self.nodes[node].links.len() {
            if !self.nodes[node].links[to].is_cut {
                let now = self.now;
                self.namenode(to).register(identity(node), "/a", "3.4.3", now);
            }
            self.nodes[node].links[to].owes_report = true;
        }
        self.beat(node);
    }
}

fn rank(state: ReplicaState) -> u32 {
    match state {
        ReplicaState::Finalized => 0,
        ReplicaState::Rbw => 1,
        _ => 2,
    }
}
