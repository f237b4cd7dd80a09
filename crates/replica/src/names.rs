//! Names of block files, and the directories they live in (`DatanodeUtil.idToBlockDir`).

use std::path::{Path, PathBuf};
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// What a file name in a replica directory means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockFile {
    /// `blk_<id>`: the data.
    Data(BlockId),
    /// `blk_<id>_<stamp>.meta`: header and checksums.
    Meta(BlockId, GenerationStamp),
    /// `blk_<id>.unlinked`: a copy that was being made when the DataNode stopped.
    Unlinked(BlockId),
}

/// `blk_<id>`.
pub fn block_file_name(id: BlockId) -> String {
    format!("blk_{id}")
}

/// `blk_<id>_<stamp>.meta`.
pub fn meta_file_name(block: &Block) -> String {
    format!("blk_{}_{}.meta", block.id, block.stamp)
}

/// The directory of a finalized block: two levels of 32, from bits 16..20 and 8..12 of its id.
pub fn block_directory(finalized: &Path, id: BlockId) -> PathBuf {
    let DirectoryNumbers(first, second) = DirectoryNumbers::of_block(id);
    finalized.join(format!("subdir{first}")).join(format!("subdir{second}"))
}

/// The numbers of the two directories of a finalized block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryNumbers(i64, i64);

impl DirectoryNumbers {
    /// Where a block belongs.
    pub(crate) fn of_block(id: BlockId) -> Self {
        Self((id.0 >> 16) & 0x1f, (id.0 >> 8) & 0x1f)
    }

    /// The numbers of a directory of the second level; `None` if its name has none.
    pub(crate) fn of_directory(path: &Path) -> Option<Self> {
        let number_of = |path: &Path| number(path.file_name()?.to_str()?.strip_prefix("subdir")?);
        Some(Self(number_of(path.parent()?)?, number_of(path)?))
    }
}

/// Reads a file name; `None` for files that are not a block's.
pub fn parse_name(name: &str) -> Option<BlockFile> {
    let rest = name.strip_prefix("blk_")?;
    if let Some(meta) = rest.strip_suffix(".meta") {
        let (id, stamp) = meta.rsplit_once('_')?;
        return Some(BlockFile::Meta(BlockId(number(id)?), GenerationStamp(number(stamp)?)));
    }
    match rest.strip_suffix(".unlinked") {
        Some(id) => Some(BlockFile::Unlinked(BlockId(number(id)?))),
        None => Some(BlockFile::Data(BlockId(number(rest)?))),
    }
}

/// A decimal number as Java writes it: no plus sign, which Rust's parser takes.
fn number(text: &str) -> Option<i64> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let block = Block { id: BlockId(-7), stamp: GenerationStamp(1001), len: 0 };
        let meta = BlockFile::Meta(block.id, block.stamp);
        assert_eq!(parse_name(&meta_file_name(&block)), Some(meta));
        assert_eq!(parse_name(&block_file_name(block.id)), Some(BlockFile::Data(block.id)));
        assert_eq!(parse_name("blk_5.unlinked"), Some(BlockFile::Unlinked(BlockId(5))));
        for stranger in ["blk_", "blk_x", "blk_+1", "blk_1_.meta", "dncp_block_verification.log"] {
            assert_eq!(parse_name(stranger), None, "{stranger}");
        }
    }

    #[test]
    fn directories_are_two_levels_of_32() {
        let id = BlockId((1 << 30) + 0x1f_0203);
        let directory = block_directory(Path::new("f"), id);
        assert_eq!(directory, Path::new("f/subdir31/subdir2"));
        let numbers = DirectoryNumbers::of_directory(&directory);
        assert_eq!(numbers, Some(DirectoryNumbers::of_block(id)));
        assert_eq!(DirectoryNumbers::of_directory(Path::new("f/subdir31")), None);
    }
}
