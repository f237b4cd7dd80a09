//! A pair of NameNodes: the standby follows the edits, and becomes active.

use super::*;
use crate::commit::key::CommitKey;
use crate::ids::Ids;

/// A change of blocks as the edit log carries it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edit {
    Add(Block, u16),
    Update(Block),
    Close(Block),
    Reopen(BlockId),
    Truncate(Block),
    Replication(BlockId, u16),
    Remove(BlockId),
}

impl Edit {
    fn id(self) -> BlockId {
        match self {
            Self::Add(block, _)
            | Self::Update(block)
            | Self::Close(block)
            | Self::Truncate(block) => block.id,
            Self::Reopen(id) | Self::Replication(id, _) | Self::Remove(id) => id,
        }
    }

    fn apply(self, blocks: &mut BlockManager) {
        let edits = |blocks: &mut BlockManager, block: Block| {
            blocks.edits(CommitKey::for_tests()).set_block(block);
        };
        match self {
            Self::Add(block, replication) => {
                blocks.put_under_construction(block, FILE, replication)
            }
            Self::Update(block) => edits(blocks, block),
            Self::Close(block) => {
                edits(blocks, block);
                if blocks.edits(CommitKey::for_tests()).set_committed(block.id) {
                    blocks.under_construction().complete_replayed(block.id);
                }
            }
            Self::Reopen(id) => blocks.reopen(id).unwrap(),
            Self::Truncate(target) => {
                blocks.reopen(target.id).unwrap();
                blocks.edits(CommitKey::for_tests()).set_truncated(target.id, target);
            }
            Self::Replication(id, replication) => blocks.set_replication(id, replication),
            Self::Remove(id) => blocks.remove(id),
        }
    }
}

/// The standby, and the edits that it has not applied, each with the counters after it.
pub(super) struct Standby {
    pub(super) blocks: BlockManager,
    edits: VecDeque<(Edit, Ids)>,
}

impl Standby {
    pub(super) fn new(blocks: BlockManager) -> Self {
        Self { blocks, edits: VecDeque::new() }
    }

    fn apply(&mut self, max: usize) {
        for _ in 0..max.min(self.edits.len()) {
            let Some((edit, ids)) = self.edits.pop_front() else { return };
            edit.apply(&mut self.blocks);
            self.blocks.edit_applied(&ids, &[edit.id()]);
        }
    }
}

impl Schedule {
    fn ids(&self) -> Ids {
        let (block, stamp) = (BlockId(self.next_id - 1), GenerationStamp(self.stamp));
        Ids { block, stamp, ..Ids::default() }
    }

    /// Creates the block manager of a standby that has read the edits and just started.
    pub(super) fn loaded_standby(&self) -> BlockManager {
        let mut blocks = self.loaded();
        blocks.become_standby(&self.ids());
        blocks
    }

    /// Returns the block manager of the NameNode with this number.
    pub(super) fn namenode(&mut self, link: usize) -> &mut BlockManager {
        match &mut self.standby {
            Some(standby) if link != self.active => &mut standby.blocks,
            _ => &mut self.blocks,
        }
    }

    /// The active NameNode writes an edit.
    pub(super) fn log(&mut self, edit: Edit) {
        let ids = self.ids();
        if let Some(standby) = &mut self.standby {
            standby.edits.push_back((edit, ids));
        }
    }

    /// The standby applies a few edits.
    pub(super) fn follow(&mut self) {
        let max = self.rng.usize(1..20);
        if let Some(standby) = &mut self.standby {
            standby.apply(max);
        }
    }

    pub(super) fn fail_over(&mut self) {
        let is_killed = self.chance(30);
        self.take_over(is_killed);
    }

    /// Makes the standby active. The previous active NameNode becomes a standby, after a restart if it is killed.
    pub(super) fn take_over(&mut self, is_killed: bool) {
        let Some(mut other) = self.standby.take() else { return };
        other.apply(usize::MAX);
        if is_killed {
            self.blocks = self.loaded_standby();
        } else {
            let open = self.files.iter().filter(|(_, file)| !file.is_closed);
            for id in open.map(|(id, _)| *id).collect::<Vec<_>>() {
                self.blocks.edits(CommitKey::for_tests()).forget_commit(id);
            }
            self.blocks.become_standby(&self.ids());
        }
        std::mem::swap(&mut self.blocks, &mut other.blocks);
        self.standby = Some(other);
        self.active = 1 - self.active;
        (self.term, self.active_since_ms) = (self.term + 1, self.now.mono_ms);
        self.note(format!(
            "*** nn{} is active, the other one was killed: {is_killed}",
            self.active
        ));
        self.blocks.become_active();
        self.blocks.under_construction().await_reports(self.now.mono_ms);
        self.settle();
    }

    /// Cuts a DataNode off from one NameNode, or connects it again.
    pub(super) fn change_link(&mut self, node: usize) {
        let at = self.rng.usize(0..2);
        let link = &mut self.nodes[node].links[at];
        link.is_cut = !link.is_cut;
        let is_cut = link.is_cut;
        self.note(format!("*** dn{node} is cut off from nn{at}: {is_cut}"));
    }

    /// Connects all DataNodes to all NameNodes.
    pub(super) fn heal(&mut self) {
        for node in &mut self.nodes {
            node.links.iter_mut().for_each(|link| link.is_cut = false);
        }
    }
}
