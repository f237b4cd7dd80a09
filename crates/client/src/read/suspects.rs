//! Replicas that do not fit their checksums, as one read met them.

use crate::types::{LocatedBlock, Replica};

/// Corrupt replicas by block.
#[derive(Default)]
pub(super) struct Suspects(Vec<Suspect>);

struct Suspect {
    /// With the corrupt replicas only, each DataNode once.
    block: LocatedBlock,
    /// Replicas that the block has, good ones among them or not.
    replicas: usize,
}

impl Suspects {
    /// `replica`, one of those of `block`, is corrupt.
    pub(super) fn add(&mut self, block: &LocatedBlock, replica: &Replica) {
        let is_same = |suspect: &&mut Suspect| {
            let (one, other) = (&suspect.block.block, &block.block);
            one.pool == other.pool && one.block.id == other.block.id
        };
        let replicas = block.replicas.len();
        match self.0.iter_mut().find(is_same) {
            Some(suspect) => {
                suspect.replicas = replicas;
                if suspect.block.nodes().all(|node| *node != replica.node) {
                    suspect.block.replicas.push(replica.clone());
                }
            }
            None => {
                let block = LocatedBlock { replicas: vec![replica.clone()], ..block.clone() };
                self.0.push(Suspect { block, replicas });
            }
        }
    }

    /// Takes the replicas that are reported to the NameNode (`DFSInputStream.reportCheckSumFailure`): a block's only
    /// replica, or some of several. Where all of several are corrupt the fault may be this machine's.
    pub(super) fn take(&mut self) -> Vec<LocatedBlock> {
        let is_certain = |suspect: &Suspect| {
            let bad = suspect.block.replicas.len();
            let is_certain = bad < suspect.replicas || bad == 1;
            if !is_certain {
                let block = &suspect.block.block;
                tracing::warn!("All replicas of {block} look corrupt; not reported");
            }
            is_certain
        };
        let all = std::mem::take(&mut self.0);
        all.into_iter().filter(is_certain).map(|suspect| suspect.block).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{located, replica};

    fn reported(suspects: &mut Suspects) -> Vec<(u64, usize)> {
        let blocks = suspects.take();
        blocks.iter().map(|block| (block.block.block.id.0 as u64, block.replicas.len())).collect()
    }

    #[test]
    fn a_block_is_judged_by_its_own_replicas() {
        let mut suspects = Suspects::default();
        let two = |id| LocatedBlock {
            replicas: vec![replica(1), replica(2)],
            ..located(id, 100 * id as u64, 100)
        };
        // One of two in each of two blocks, as a read across them finds it.
        for id in 1..=2 {
            suspects.add(&two(id), &replica(1));
        }
        // Again in a second round.
        suspects.add(&two(1), &replica(1));
        assert_eq!(reported(&mut suspects), [(1, 1), (2, 1)]);
        assert!(suspects.take().is_empty(), "told twice");
        // All of two, and the only one.
        for number in 1..=2 {
            suspects.add(&two(3), &replica(number));
        }
        let one = LocatedBlock { replicas: vec![replica(1)], ..located(4, 0, 100) };
        suspects.add(&one, &replica(1));
        assert_eq!(reported(&mut suspects), [(4, 1)]);
    }
}
