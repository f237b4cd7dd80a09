//! The blocks of an open file, as far as they are known, and whether an answer is about the same file.

use crate::error::{Error, Result};
use crate::types::{LocatedBlock, LocatedBlocks};
use zerohop_wire::{Block, BlockId};

/// The blocks of an open file, as far as they are known.
pub(super) struct Located {
    /// Readable bytes, the visible part of a last block being written included.
    pub(super) len: u64,
    /// Known blocks, sorted by offset and cut at `len`.
    pub(super) blocks: Vec<LocatedBlock>,
    pub(super) is_under_construction: bool,
    /// The file's last block, known or not.
    pub(super) last: Option<Block>,
    /// Version of the file in the newest answer.
    pub(super) version: Version,
}

/// Properties of the whole file that each answer of the NameNode includes. Two answers with the same last block and length
/// describe the same file: a block belongs to one file, and `concat` moves it to another offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version {
    last: Option<BlockId>,
    len: u64,
}

impl Version {
    pub(super) fn of(answer: &LocatedBlocks) -> Self {
        let last = answer.last_block.as_ref().map(|last| last.block.block.id);
        Self { last, len: answer.file_len }
    }
}

/// Evidence that an answer describes the file that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    Given,
    /// The file was changed or replaced: compare the block at this offset.
    Asked(u64),
}

impl Located {
    pub(super) fn at(&self, offset: u64) -> Option<&LocatedBlock> {
        let after = self.blocks.partition_point(|block| block.offset <= offset);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        (offset < block.end()).then_some(block)
    }

    /// Whether `fresh` puts bytes elsewhere than into the blocks in which they are known to be. A block
    /// without bytes may go: what was begun in it and never shown to anybody can be given up.
    pub(super) fn contradicts(&self, fresh: &[LocatedBlock]) -> bool {
        let id = |block: &LocatedBlock| (block.offset, block.block.block.id);
        let is_kept = |known: &LocatedBlock| fresh.iter().any(|block| id(block) == id(known));
        fresh.iter().any(|block| {
            let end = block.end().max(block.offset.saturating_add(1));
            let after = self.blocks.partition_point(|known| known.offset <= block.offset);
            let to = self.blocks.partition_point(|known| known.offset < end);
            let near = self.blocks.get(after.saturating_sub(1)..to).unwrap_or_default();
            let overlaps = |known: &&LocatedBlock| known.end() > block.offset.max(known.offset);
            near.iter().filter(overlaps).any(|known| !is_kept(known))
        })
    }

    /// Returns the evidence that an answer describes this file. An answer with a different last block or length and without any
    /// known block may describe another file.
    pub(super) fn proof_of(&self, answer: &LocatedBlocks) -> Proof {
        let is_known = |block: &LocatedBlock| {
            let found = self.blocks.binary_search_by_key(&block.offset, |known| known.offset);
            let known = found.ok().and_then(|at| self.blocks.get(at));
            known.is_some_and(|known| known.block.block.id == block.block.block.id)
        };
        if Version::of(answer) == self.version || answer.blocks.iter().any(is_known) {
            return Proof::Given;
        }
        let first = self.blocks.iter().find(|block| block.block.block.len > 0);
        first.map_or(Proof::Given, |first| Proof::Asked(first.offset))
    }

    /// Takes the blocks of an answer about the same file, one of which must hold `offset`.
    pub(super) fn take(&mut self, fresh: LocatedBlocks, offset: u64, src: &str) -> Result<()> {
        let (is_under_construction, version) = (fresh.is_under_construction, Version::of(&fresh));
        let blocks = with_last(fresh, offset);
        if self.contradicts(&blocks) {
            return Err(changed(src));
        }
        // A client appends to it since it was opened: its last block is read from a DataNode, not from its files.
        self.is_under_construction |= is_under_construction;
        self.version = version;
        self.merge(blocks);
        match self.at(offset) {
            Some(_) => Ok(()),
            None => Err(Error::plain(format!("Could not find target position {offset} in {src}"))),
        }
    }

    /// Takes fresh blocks in; a last block being written keeps the length that was found. Blocks are cut at
    /// the end of the file: the last block of a snapshot may have grown by an append, and the NameNode reports its new length.
    pub(super) fn merge(&mut self, fresh: Vec<LocatedBlock>) {
        for mut block in fresh {
            let rest = self.len.saturating_sub(block.offset);
            match self.blocks.binary_search_by_key(&block.offset, |known| known.offset) {
                Ok(at) => {
                    if let Some(known) = self.blocks.get_mut(at) {
                        if known.block.block.id == block.block.block.id {
                            let len = block.block.block.len.max(known.block.block.len);
                            block.block.block.len = len;
                        }
                        block.block.block.len = block.block.block.len.min(rest);
                        *known = block;
                    }
                }
                Err(at) => {
                    block.block.block.len = block.block.block.len.min(rest);
                    self.blocks.insert(at, block);
                }
            }
        }
    }
}

/// The blocks of an answer, with one that is being written where `offset` lies behind what the NameNode
/// knows of it.
pub(super) fn with_last(answer: LocatedBlocks, offset: u64) -> Vec<LocatedBlock> {
    let mut blocks = answer.blocks;
    let is_behind = |last: &LocatedBlock| {
        last.offset <= offset && blocks.iter().all(|block| block.offset < last.offset)
    };
    if !answer.is_last_complete
        && let Some(last) = answer.last_block.filter(is_behind)
    {
        blocks.push(last);
    }
    blocks
}

/// Another file has taken the path (`DFSInputStream.fetchAndCheckLocatedBlocks`): its bytes must not be taken for those of the
/// file that was opened.
pub(super) fn changed(src: &str) -> Error {
    Error::plain(format!("Blocklist for {src} has changed! Open the file again."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::located;

    fn known(blocks: &[(i64, u64, u64)]) -> Located {
        let blocks: Vec<_> = blocks.iter().map(|(id, at, len)| located(*id, *at, *len)).collect();
        let len = blocks.last().map_or(0, LocatedBlock::end);
        let version = Version { last: blocks.last().map(|last| last.block.block.id), len };
        Located { len, blocks, is_under_construction: false, last: None, version }
    }

    #[test]
    fn blocks_of_another_file_are_told_from_those_that_were_found_again() {
        let file = [(1, 0, 100), (2, 100, 100), (4, 300, 0)];
        let contradicts =
            |fresh: &[(i64, u64, u64)]| known(&file).contradicts(&known(fresh).blocks);
        for same in [
            &[][..],
            &[(1, 0, 100)],
            &[(2, 100, 100), (3, 200, 100)],
            // One that grows, one that lease recovery has cut, one that was given up empty.
            &[(2, 100, 150)],
            &[(2, 100, 90), (3, 190, 100)],
            &[(5, 300, 100)],
        ] {
            assert!(!contradicts(same), "{same:?}");
        }
        for other in [
            &[(9, 0, 100)][..],
            &[(1, 0, 100), (9, 100, 100)],
            // Another length of blocks; one that is being written; one over the end.
            &[(9, 50, 10)],
            &[(9, 0, 1000)],
            &[(9, 100, 0)],
            &[(9, 199, 5)],
        ] {
            assert!(contradicts(other), "{other:?}");
        }
    }

    #[test]
    fn a_last_block_that_moved_keeps_the_length_that_was_found() {
        let mut file = known(&[(1, 0, 100), (2, 100, 80)]);
        let mut moved = located(2, 100, 0);
        moved.block.block.stamp.0 += 1;
        file.merge(vec![moved]);
        let last = file.at(150).expect("the length that was found is kept");
        assert_eq!((last.block.block.stamp.0, last.end()), (1002, 180));
    }

    /// An append changes the end of the file, as its replacement does.
    #[test]
    fn an_answer_without_a_known_block_is_proven_by_the_end_of_the_file() {
        let file = known(&[(1, 0, 100), (2, 100, 100)]);
        let proof = |len, last, blocks: &[(i64, u64, u64)]| {
            file.proof_of(&LocatedBlocks {
                file_len: len,
                blocks: known(blocks).blocks,
                is_under_construction: false,
                last_block: Some(located(last, 300, 100)),
                is_last_complete: true,
                erasure_policy: None,
                is_encrypted: false,
            })
        };
        assert_eq!(proof(200, 2, &[(9, 300, 100)]), Proof::Given);
        assert_eq!(proof(400, 9, &[(2, 100, 100), (9, 300, 100)]), Proof::Given);
        assert_eq!(proof(400, 9, &[(9, 300, 100)]), Proof::Asked(0));
        assert_eq!(proof(200, 9, &[(9, 300, 100)]), Proof::Asked(0));
        assert_eq!(proof(300, 2, &[(9, 200, 100)]), Proof::Asked(0));
    }

    /// The last block of a snapshot may have grown by a later append.
    #[test]
    fn blocks_end_with_the_file() {
        let mut file = Located { len: 150, ..known(&[(1, 0, 100)]) };
        for _ in 0..2 {
            file.merge(vec![located(2, 100, 100), located(3, 200, 100)]);
            let ends: Vec<u64> = file.blocks.iter().map(LocatedBlock::end).collect();
            assert_eq!(ends, [100, 150, 200]);
            assert!(file.at(149).is_some() && file.at(150).is_none() && file.at(200).is_none());
        }
    }
}
