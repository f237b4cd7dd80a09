//! Where the blocks of files are.

use crate::blocks::{BlockLocations, BlockState, ClientLocation};
use crate::commit::DurableState;
use crate::tree::Slot;
use crate::{LocatedBlock, LocatedBlocks};
use zerohop_wire::BlockId;

/// Locates blocks for one client.
#[derive(Clone, Copy)]
pub(crate) struct BlockLocator<'n> {
    pub(crate) state: &'n DurableState,
    /// The replicas that are nearest to the client come first.
    pub(crate) client: ClientLocation<'n>,
}

impl BlockLocator<'_> {
    pub(crate) fn all_locations(self, slot: Slot) -> Option<LocatedBlocks> {
        self.state.tree().get(slot).as_file()?;
        Some(self.locate_range(slot, 0, self.state.ledger().file_len(slot)))
    }

    /// `BlockManager.createLocatedBlocks`
    pub(crate) fn locate_range(self, slot: Slot, offset: u64, len: u64) -> LocatedBlocks {
        let Some(file) = self.state.tree().get(slot).as_file() else {
            return LocatedBlocks::default();
        };
        let mut found =
            LocatedBlocks { under_construction: file.is_open(), ..LocatedBlocks::default() };
        let end = offset.saturating_add(len);
        let ids = file.blocks.as_slice();
        let mut place = 0u64;
        for (at, id) in ids.iter().enumerate() {
            let Some(stored) = self.state.blocks().get(*id) else { continue };
            let size = stored.block.len;
            // A range of no length still names the block it begins in; a first block that has no
            // length yet is named for any range, which is how its writer's pipeline shows.
            let begins = found.blocks.is_empty()
                && (offset < place.saturating_add(size) || (at == 0 && size == 0));
            if begins || (!found.blocks.is_empty() && place < end) {
                found.blocks.extend(self.locate_block(*id, place));
            }
            if at + 1 == ids.len() {
                found.last_complete = stored.state == BlockState::Complete;
                found.file_len =
                    if found.last_complete { place.saturating_add(size) } else { place };
                let seen = found.blocks.last().filter(|block| block.block().id == *id).cloned();
                found.last = seen.or_else(|| self.locate_block(*id, place));
            }
            place = place.saturating_add(size);
        }
        found
    }

    fn locate_block(self, id: BlockId, offset: u64) -> Option<LocatedBlock> {
        let locations: BlockLocations = self.state.blocks().lookup().locations(id, self.client)?;
        Some(LocatedBlock { offset, locations })
    }
}
