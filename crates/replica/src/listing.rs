//! The files of the finalized replicas of a pool on a volume, as they are; nothing is changed.

use crate::error::{Error, Result};
use crate::names::{BlockFile, parse_name};
use crate::pool::{Place, Pool};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use zerohop_wire::{BlockId, GenerationStamp};

/// The files of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedReplica {
    /// The block.
    pub id: BlockId,
    /// The length of the data file, if there is one.
    pub data_len: Option<u64>,
    /// Generation stamp and length of the newest meta file, if there is one.
    pub meta: Option<(GenerationStamp, u64)>,
    /// Whether both are files, and no links or devices.
    pub is_regular: bool,
}

impl Pool {
    /// Lists the finalized replicas. `pause` is called before each directory. Files in a directory where
    /// their blocks do not belong are left out.
    pub fn list_finalized(&self, pause: &mut dyn FnMut()) -> Result<Vec<ListedReplica>> {
        let mut found = Vec::new();
        self.list_below(self.finalized(), pause, &mut found)?;
        Ok(found)
    }

    fn list_below(
        &self,
        directory: &Path,
        pause: &mut dyn FnMut(),
        found: &mut Vec<ListedReplica>,
    ) -> Result<()> {
        pause();
        let io = |e: std::io::Error| Error::io("volume", "list", directory, e);
        let mut here: HashMap<BlockId, ListedReplica> = HashMap::new();
        for entry in fs::read_dir(directory).map_err(io)? {
            let entry = entry.map_err(io)?;
            let kind = entry.file_type().map_err(io)?;
            if kind.is_dir() {
                self.list_below(&entry.path(), pause, found)?;
                continue;
            }
            let name = entry.file_name();
            let Some(file) = name.to_str().and_then(parse_name) else { continue };
            let len = match entry.metadata() {
                Ok(metadata) => metadata.len(),
                // Deleted since the directory was read.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                Err(e) => return Err(io(e)),
            };
            let (BlockFile::Data(id) | BlockFile::Meta(id, _)) = file else { continue };
            let new = ListedReplica { id, data_len: None, meta: None, is_regular: true };
            let replica = here.entry(id).or_insert(new);
            replica.is_regular &= kind.is_file();
            match file {
                BlockFile::Meta(_, stamp)
                    if replica.meta.is_none_or(|(known, _)| known < stamp) =>
                {
                    replica.meta = Some((stamp, len));
                }
                BlockFile::Data(_) => replica.data_len = Some(len),
                _ => {}
            }
        }
        let belongs =
            |replica: &ListedReplica| self.directory(replica.id, Place::Finalized) == directory;
        found.extend(here.into_values().filter(belongs));
        Ok(())
    }

    /// The files of one finalized replica, as they are.
    pub fn list_one(&self, id: BlockId) -> Result<ListedReplica> {
        let directory = self.directory(id, Place::Finalized);
        let mut found = Vec::new();
        if directory.exists() {
            self.list_below(&directory, &mut || (), &mut found)?;
        }
        let none = ListedReplica { id, data_len: None, meta: None, is_regular: true };
        Ok(found.into_iter().find(|replica| replica.id == id).unwrap_or(none))
    }
}
