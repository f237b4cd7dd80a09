//! What clients do to files, and what a namespace tells the block manager of it.

use super::*;

impl Schedule {
    /// `commitBlockSynchronization`
    pub(super) fn synchronized(&mut self, command: &RecoverCommand, len: u64, done: &[usize]) {
        let id = command.block.id;
        let asked = self.blocks.lookup().recovery(id).filter(Recovery::is_asked);
        let awaited = asked.map(|recovery| recovery.stamp);
        let is_refused = self.blocks.safe_mode().is_on();
        if is_refused || awaited != Some(command.new_stamp) || !self.files.contains_key(&id) {
            return;
        }
        if done.is_empty() {
            if self.files[&id].logged.len > 0 || self.blocks.lookup().keeps_empty() {
                return;
            }
            return self.remove_empty(id);
        }
        let names: Vec<_> = done.iter().map(|node| (uuid(*node), storage(*node))).collect();
        let names = names.iter().map(|(uuid, storage)| (&**uuid, &**storage));
        let Ok(storages) = self.blocks.datanodes().resolve_storages(names) else { return };
        let block = Block { id, stamp: command.new_stamp, len };
        self.note(format!("NameNode: [{id}] is recovered as {} on {done:?}", block.stamp));
        let file = &self.files[&id];
        let promised = file.truncate.map_or(file.block.len, |target| target.len);
        if len != promised {
            self.fail(id, &format!("{promised} bytes acknowledged, {len} after recovery"));
        }
        self.blocks.end_recovery(id, block.stamp, len, &storages).unwrap();
        if !self.blocks.commit(block).unwrap() {
            self.blocks.under_construction().complete_recovered(id);
        }
        self.closed(id, block);
        self.settle();
    }

    pub(super) fn closed(&mut self, id: BlockId, block: Block) {
        self.note(format!("NameNode: [{id}] is closed as {}", block.stamp));
        self.log(Edit::Close(block));
        let file = self.files.get_mut(&id).unwrap();
        (file.block, file.logged) = (block, block);
        (file.is_closed, file.is_closing) = (true, false);
        (file.writer, file.truncate) = (None, None);
    }

    pub(super) fn create(&mut self) {
        let replication = self.rng.u16(1..4);
        let host = format!("10.0.0.{}", self.rng.usize(0..NODES));
        let Ok(targets) = self.blocks.choose_targets(&request(&host, replication.into())) else {
            return;
        };
        let id = BlockId(self.next_id);
        self.next_id += 1;
        let block = Block { id, stamp: self.new_stamp(), len: 0 };
        self.blocks.put_under_construction(block, FILE, replication);
        self.log(Edit::Add(block, replication));
        self.blocks.under_construction().set_targets(id, &targets);
        let nodes: Vec<_> = self.blocks.datanodes().locations(&targets).iter().map(index).collect();
        self.note(format!("create [{id}] {} x{replication} on {nodes:?}", block.stamp));
        let mut writer = Vec::new();
        for node in nodes {
            let replica = Replica { stamp: block.stamp, len: 0, state: ReplicaState::Rbw };
            let known = &mut self.nodes[node];
            if !known.is_up {
                continue;
            }
            known.disk.insert(id, replica);
            known.tell(ReplicaEvent::Receiving(block));
            writer.push((node, known.life));
        }
        let file = File {
            block,
            logged: block,
            replication,
            is_closed: false,
            truncate: None,
            writer: Some(writer),
            is_closing: false,
        };
        self.files.insert(id, file);
        self.write_to(id);
    }

    pub(super) fn write(&mut self) {
        if let Some(id) = self.any_file(|file| file.writer.is_some() && !file.is_closing) {
            self.write_to(id);
        }
    }

    /// More bytes to all of the pipeline; who is not there any more is left behind first.
    pub(super) fn write_to(&mut self, id: BlockId) {
        if !self.mend_pipeline(id) {
            return;
        }
        let more = self.rng.u64(1..100);
        let file = self.files.get_mut(&id).unwrap();
        let len = file.block.len + more;
        file.block.len = len;
        for (node, _) in file.writer.clone().unwrap() {
            self.nodes[node].disk.get_mut(&id).unwrap().len = len;
        }
    }

    /// The pipeline goes on without those that died, under a new stamp; false if none is left.
    pub(super) fn mend_pipeline(&mut self, id: BlockId) -> bool {
        let Some(writer) = self.files[&id].writer.clone() else { return false };
        let mut left = writer.clone();
        left.retain(|(node, life)| self.nodes[*node].is_up && self.nodes[*node].life == *life);
        if left.len() > 1 && self.chance(10) {
            left.remove(self.rng.usize(0..left.len()));
        }
        if left.is_empty() {
            self.files.get_mut(&id).unwrap().writer = None;
            return false;
        }
        let has_all = |(node, _): &(usize, u64)| self.nodes[*node].disk.contains_key(&id);
        if !left.iter().all(has_all) {
            self.fail(id, "the replica of a pipeline was deleted");
        }
        left.len() == writer.len() || self.renew_pipeline(id, left)
    }

    pub(super) fn renew_pipeline(&mut self, id: BlockId, left: Vec<(usize, u64)>) -> bool {
        let block = Block { stamp: self.new_stamp(), ..self.files[&id].block };
        for (node, _) in &left {
            let replica = self.nodes[*node].disk.get_mut(&id).unwrap();
            (replica.stamp, replica.state) = (block.stamp, ReplicaState::Rbw);
            self.nodes[*node].tell(ReplicaEvent::Receiving(block));
        }
        let names: Vec<_> = left.iter().map(|(node, _)| (uuid(*node), storage(*node))).collect();
        let names = names.iter().map(|(uuid, storage)| (&**uuid, &**storage));
        let targets = self.blocks.datanodes().resolve_storages(names);
        let taken = targets.and_then(|targets| {
            let taken = self.blocks.update_pipeline(id, block.stamp, block.len, &targets);
            self.log(Edit::Update(block));
            taken
        });
        self.note(format!("pipeline of [{id}] goes on as {} on {left:?}: {taken:?}", block.stamp));
        let file = self.files.get_mut(&id).unwrap();
        if taken.is_err() {
            // The writer gives up.
            file.writer = None;
            return false;
        }
        (file.block, file.logged, file.writer) = (block, block, Some(left));
        true
    }

    pub(super) fn close(&mut self) {
        if let Some(id) = self.any_file(|file| file.writer.is_some()) {
            self.close_file(id);
        }
    }

    pub(super) fn close_file(&mut self, id: BlockId) {
        if !self.files[&id].is_closing {
            if !self.mend_pipeline(id) {
                return;
            }
            let file = self.files.get_mut(&id).unwrap();
            file.is_closing = true;
            let block = file.block;
            for (node, _) in file.writer.clone().unwrap() {
                self.nodes[node].disk.get_mut(&id).unwrap().state = ReplicaState::Finalized;
                self.nodes[node].tell(ReplicaEvent::Received(block));
            }
        }
        let block = self.files[&id].block;
        match self.blocks.commit(block) {
            Ok(true) => self.closed(id, block),
            Ok(false) => {}
            Err(_) => self.files.get_mut(&id).unwrap().writer = None,
        }
    }

    /// The writer dies.
    pub(super) fn abandon(&mut self) {
        if let Some(id) = self.any_file(|file| file.writer.is_some()) {
            self.files.get_mut(&id).unwrap().writer = None;
        }
    }

    pub(super) fn append(&mut self) {
        let Some(id) = self.any_file(|file| file.is_closed) else { return };
        self.blocks.reopen(id).unwrap();
        self.log(Edit::Reopen(id));
        let nodes: Vec<_> =
            self.blocks.lookup().locations(id, "").unwrap().replicas.iter().map(index).collect();
        self.note(format!("append to [{id}] on {nodes:?}"));
        let block = self.files[&id].block;
        let mut writer = Vec::new();
        for node in nodes {
            let known = &self.nodes[node];
            let is_good = known.disk.get(&id).is_some_and(|replica| {
                replica.stamp == block.stamp && replica.state == ReplicaState::Finalized
            });
            if known.is_up && is_good {
                writer.push((node, known.life));
            }
        }
        let file = self.files.get_mut(&id).unwrap();
        file.is_closed = false;
        if !writer.is_empty() && self.renew_pipeline(id, writer) {
            self.write_to(id);
        }
    }

    pub(super) fn truncate(&mut self) {
        let Some(id) = self.any_file(|file| file.is_closed && file.block.len > 1) else { return };
        let stamp = self.new_stamp();
        let len = self.rng.u64(1..self.files[&id].block.len);
        let target = Block { id, stamp, len };
        self.note(format!("truncate [{id}] to {len} as {stamp}"));
        let file = self.files.get_mut(&id).unwrap();
        (file.is_closed, file.truncate) = (false, Some(target));
        self.blocks.reopen(id).unwrap();
        self.blocks.begin_recovery(id, stamp, Some(target)).unwrap();
        self.log(Edit::Truncate(target));
    }

    pub(super) fn set_replication(&mut self) {
        let Some(id) = self.any_file(|_| true) else { return };
        let replication = self.rng.u16(1..5);
        self.note(format!("[{id}] shall have {replication} replicas"));
        self.files.get_mut(&id).unwrap().replication = replication;
        self.blocks.set_replication(id, replication);
        self.log(Edit::Replication(id, replication));
    }

    pub(super) fn delete(&mut self) {
        let Some(id) = self.any_file(|_| true) else { return };
        self.remove(id);
    }

    fn remove(&mut self, id: BlockId) {
        self.files.remove(&id);
        self.blocks.remove(id);
        self.log(Edit::Remove(id));
    }

    /// Removes a block that the NameNode takes for empty. Fails if a DataNode that has reported everything, or had no time to,
    /// holds bytes of it.
    fn remove_empty(&mut self, id: BlockId) {
        let had_time = self.now.mono_ms >= self.active_since_ms + 60_000;
        let file = &self.files[&id];
        let holds = |node: &Node| {
            let replica = node.disk.get(&id);
            replica.is_some_and(|it| it.stamp >= file.logged.stamp && it.len > 0)
        };
        let active = self.active;
        let has_told = |node: &Node| {
            let link = &node.links[active];
            let owes = link.owes_report || link.report.is_some() || !link.events.is_empty();
            node.is_up && node.obeys == Some(active) && !link.is_cut && !owes
        };
        if self.nodes.iter().any(|node| holds(node) && (!had_time || has_told(node))) {
            self.fail(id, &format!("{} flushed bytes are dropped", file.block.len));
        }
        self.note(format!("NameNode: [{id}] is removed: it is empty"));
        self.remove(id);
    }

    /// The leases of dead writers ran out.
    pub(super) fn recover(&mut self) {
        let open = self.files.iter().filter(|(_, file)| !file.is_closed && file.writer.is_none());
        for id in open.map(|(id, _)| *id).collect::<Vec<_>>() {
            if self.blocks.is_complete(id) {
                let block = self.blocks.get(id).unwrap().block;
                self.closed(id, block);
            } else if self.files[&id].logged.len == 0
                && !self.blocks.lookup().has_targets_or_replicas(id)
                && !self.blocks.lookup().keeps_empty()
            {
                self.remove_empty(id);
            } else if self.blocks.lookup().is_recovery_due(id) {
                let stamp = self.new_stamp();
                let cut = self.blocks.lookup().recovery(id).and_then(|recovery| recovery.truncate);
                let cut = cut.map(|block| Block { stamp, ..block });
                let asked = self.blocks.begin_recovery(id, stamp, cut);
                self.note(format!("NameNode: recovery of [{id}] as {stamp}: {asked:?}"));
            }
        }
    }
}
