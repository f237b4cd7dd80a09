//! What a DataNode is told with the answers to its next heartbeats.

use super::types::{Command, RecoverCommand, TransferCommand};
use std::collections::{BTreeMap, VecDeque};
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// The commands for one DataNode.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Replicas to delete, with their lengths; under another stamp a DataNode keeps what it has.
    deletions: BTreeMap<(BlockId, GenerationStamp), u64>,
    transfers: VecDeque<TransferCommand>,
    recoveries: Vec<RecoverCommand>,
    bandwidth: Option<u64>,
}

impl Orders {
    /// Forgets what is to be done with blocks.
    pub(super) fn clear(&mut self) {
        self.deletions.clear();
        self.transfers.clear();
        self.recoveries.clear();
    }

    pub(super) fn delete(&mut self, block: Block) {
        self.deletions.insert((block.id, block.stamp), block.len);
    }

    /// Takes a deletion back that the DataNode has not been told of; false if there is none.
    pub(super) fn call_off_deletion(&mut self, block: Block) -> bool {
        self.deletions.remove(&(block.id, block.stamp)).is_some()
    }

    pub(super) fn is_deleting(&self, block: Block) -> bool {
        self.deletions.contains_key(&(block.id, block.stamp))
    }

    /// Replicas that the DataNode is to be told to delete.
    pub(super) fn deletions(&self) -> impl ExactSizeIterator<Item = Block> + '_ {
        self.deletions.iter().map(|((id, stamp), len)| Block { id: *id, stamp: *stamp, len: *len })
    }

    pub(super) fn transfer(&mut self, command: TransferCommand) {
        self.transfers.push_back(command);
    }

    /// Copies that the DataNode is to be told to make.
    pub(super) fn transfers(&self) -> usize {
        self.transfers.len()
    }

    /// Has a recovery led, in place of an earlier one of the same block.
    pub(super) fn recover(&mut self, command: RecoverCommand) {
        self.recoveries.retain(|queued| queued.block.id != command.block.id);
        self.recoveries.push(command);
    }

    pub(super) fn set_bandwidth(&mut self, bytes_per_second: u64) {
        self.bandwidth = Some(bytes_per_second);
    }

    /// Takes the commands of one answer, of which so many copies and deletions at most.
    pub(super) fn take(&mut self, transfers_max: usize, deletions_max: usize) -> Vec<Command> {
        let mut commands = Vec::new();
        let transfers: Vec<TransferCommand> =
            self.transfers.drain(..transfers_max.min(self.transfers.len())).collect();
        if !transfers.is_empty() {
            commands.push(Command::Transfer(transfers));
        }
        if !self.recoveries.is_empty() {
            commands.push(Command::Recover(std::mem::take(&mut self.recoveries)));
        }
        let next = std::iter::from_fn(|| self.deletions.pop_first()).take(deletions_max);
        let deletions: Vec<Block> =
            next.map(|((id, stamp), len)| Block { id, stamp, len }).collect();
        if !deletions.is_empty() {
            commands.push(Command::Invalidate(deletions));
        }
        commands.extend(self.bandwidth.take().map(Command::BalancerBandwidth));
        commands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(id: i64, stamp: i64) -> Block {
        Block { id: BlockId(id), stamp: GenerationStamp(stamp), len: 5 }
    }

    #[test]
    fn only_the_stamp_that_was_ordered_is_called_off() {
        let mut orders = Orders::default();
        orders.delete(block(1, 1001));
        assert!(!orders.call_off_deletion(block(1, 1002)));
        assert!(orders.is_deleting(block(1, 1001)) && orders.call_off_deletion(block(1, 1001)));
        assert!(orders.take(1, 1).is_empty());
    }

    #[test]
    fn an_answer_takes_as_much_as_the_datanode_can_do() {
        let mut orders = Orders::default();
        (0..3).for_each(|id| orders.delete(block(id, 1001)));
        for id in 0..3 {
            orders.transfer(TransferCommand { block: block(id, 1001), targets: Vec::new() });
        }
        orders.set_bandwidth(10);
        let commands = orders.take(2, 0);
        assert!(
            matches!(&commands[..], [Command::Transfer(two), Command::BalancerBandwidth(10)] if two.len() == 2),
            "{commands:?}"
        );
        let commands = orders.take(0, 2);
        assert!(
            matches!(&commands[..], [Command::Invalidate(two)] if two[..] == [block(0, 1001), block(1, 1001)]),
            "{commands:?}"
        );
        orders.clear();
        assert!(orders.take(9, 9).is_empty());
    }

    #[test]
    fn the_last_recovery_of_a_block_counts() {
        let mut orders = Orders::default();
        for new_stamp in [GenerationStamp(1002), GenerationStamp(1003)] {
            let block = block(1, 1001);
            let (locations, truncate) = (Vec::new(), None);
            orders.recover(RecoverCommand { block, new_stamp, locations, truncate });
        }
        let commands = orders.take(0, 0);
        assert!(
            matches!(&commands[..], [Command::Recover(one)] if one.len() == 1 && one[0].new_stamp.0 == 1003),
            "{commands:?}"
        );
    }
}
