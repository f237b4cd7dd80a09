//! DataNodes do as they are told.

use super::replicas::{NODES, Replica, beat, node_of, report, storage, uuid};
use super::running::{RunningNameNode, Work};
use zerohop_namespace::BlockSynchronization;
use zerohop_namespace::blocks::{Command, RecoverCommand, ReplicaEvent};
use zerohop_wire::{Block, ReplicaState};

impl RunningNameNode<'_> {
    pub(super) fn report_received(&mut self, uuid: &str, block: Block) {
        report(&mut self.namespace, node_of(uuid), ReplicaEvent::Received(block));
    }

    /// A heartbeat of one DataNode, which then does as it is told. What it cannot take back it is
    /// told when all edits are durable.
    pub(super) fn exchange(&mut self) -> Work {
        let node = self.rng.usize(0..NODES);
        self.pass(1_000);
        for command in beat(&mut self.namespace, node, self.now) {
            match command {
                Command::Invalidate(blocks) => {
                    self.sync()?;
                    for block in blocks {
                        if self.replicas.invalidate(node, block) {
                            report(&mut self.namespace, node, ReplicaEvent::Deleted(block));
                        }
                    }
                }
                Command::Recover(recoveries) => {
                    self.sync()?;
                    for recovery in recoveries {
                        self.recover_block(&recovery);
                    }
                }
                Command::Transfer(transfers) => {
                    for transfer in transfers {
                        if !self.replicas.is_good(node, transfer.block) {
                            continue;
                        }
                        let Block { id, stamp, len } = transfer.block;
                        for target in &transfer.targets {
                            let replica = Replica { stamp, len, state: ReplicaState::Finalized };
                            self.replicas.put(&target.node.id.uuid, id, replica);
                            self.report_received(&target.node.id.uuid, transfer.block);
                        }
                    }
                }
                _ => {}
            }
            self.journal.replicas_are(&self.replicas);
        }
        self.log();
        Ok(())
    }

    /// The DataNodes agree on a length and a stamp, and tell the NameNode.
    fn recover_block(&mut self, command: &RecoverCommand) {
        let (id, stamp) = (command.block.id, command.new_stamp);
        let nodes = command.locations.iter().map(|location| node_of(&location.node.id.uuid));
        let mut fit: Vec<(usize, Replica)> =
            nodes.filter_map(|n| Some((n, *self.replicas.nodes[n].get(&id)?))).collect();
        fit.retain(|(_, replica)| replica.stamp >= command.block.stamp && replica.stamp < stamp);
        if fit.iter().any(|(_, replica)| replica.state == ReplicaState::Finalized) {
            fit.retain(|(_, replica)| replica.state == ReplicaState::Finalized);
        }
        let Some(agreed) = fit.iter().map(|(_, replica)| replica.len).min() else { return };
        let new_len = command.truncate.map_or(agreed, |target| target.len);
        let replica = Replica { stamp, len: new_len, state: ReplicaState::Finalized };
        for (node, _) in &fit {
            self.replicas.nodes[*node].insert(id, replica);
        }
        self.journal.replicas_are(&self.replicas);
        let targets: Vec<_> =
            fit.iter().map(|(node, _)| (uuid(*node), storage(*node).to_string())).collect();
        let request = BlockSynchronization {
            block: command.block,
            new_stamp: stamp.0,
            new_len,
            close_file: true,
            delete_block: false,
            targets: &targets,
        };
        let context = self.context();
        let _ = self.namespace.block_recoveries(&context).commit_block_synchronization(&request);
        for (node, _) in fit {
            let block = Block { id, stamp, len: new_len };
            report(&mut self.namespace, node, ReplicaEvent::Received(block));
        }
        self.log();
    }
}
