//! What simulated DataNodes do: they beat, report, and carry out orders, late or never.

use super::*;

impl Schedule {
    pub(super) fn beat(&mut self, node: usize) {
        if !self.nodes[node].is_up {
            return;
        }
        let beat = |blocks: &mut BlockManager, now| {
            blocks.heartbeat(&uuid(node), Heartbeat::default(), &[disk(node)], now, &|_| 0)
        };
        let mut commands = beat(&mut self.blocks, self.now).commands;
        if matches!(commands[..], [Command::Register]) {
            self.blocks.register(identity(node), "/a", "3.4.3", self.now);
            let known = &mut self.nodes[node];
            known.events.clear();
            known.owes_report = true;
            commands = beat(&mut self.blocks, self.now).commands;
        }
        self.nodes[node].orders.extend(commands);
        self.settle();
    }

    /// A DataNode tells what it owes: what was missed before it says whether it is still known.
    pub(super) fn report(&mut self, node: usize) {
        if !self.nodes[node].is_up {
            return;
        }
        let (name, storage) = (uuid(node), storage(node));
        let events: Vec<_> = self.nodes[node].events.drain(..).collect();
        for event in &events {
            let (ReplicaEvent::Received(b) | ReplicaEvent::Deleted(b) | ReplicaEvent::Receiving(b)) =
                event
            else {
                continue;
            };
            self.note(format!("dn{node} reports {event:?} of [{}]", b.id));
        }
        let sent = self.blocks.block_reports().incremental_report(
            &name,
            (&storage, StorageType::Disk),
            events,
        );
        if sent.is_err() || !self.nodes[node].owes_report {
            return self.settle();
        }
        self.full_report(node);
    }

    /// What it shall delete does not count as there, also if a NameNode before this one said so.
    pub(super) fn full_report(&mut self, node: usize) {
        let orders = std::mem::take(&mut self.nodes[node].orders);
        for order in orders {
            match order {
                Command::Invalidate(blocks) => {
                    blocks.into_iter().for_each(|block| self.invalidate(node, block));
                }
                other => self.nodes[node].orders.push_back(other),
            }
        }
        let (name, storage) = (uuid(node), storage(node));
        let replicas: Vec<_> = self.nodes[node]
            .disk
            .iter()
            .map(|(id, replica)| ReportedReplica {
                block: Block { id: *id, stamp: replica.stamp, len: replica.len },
                state: replica.state,
            })
            .collect();
        self.note(format!("*** dn{node} reports all"));
        self.blocks.full_report(&name, (&storage, StorageType::Disk), replicas).unwrap();
        self.blocks.end_report(&name);
        self.nodes[node].owes_report = false;
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
            self.nodes[node].events.push_back(ReplicaEvent::Deleted(block));
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
            self.nodes[to].events.push_back(ReplicaEvent::Received(block));
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
            self.nodes[node].events.push_back(ReplicaEvent::Received(block));
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
        known.events.clear();
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
        (known.is_up, known.owes_report) = (true, true);
        known.life += 1;
        self.blocks.register(identity(node), "/a", "3.4.3", self.now);
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
