//! Marks of replicas whose writers were told to wait for a DataNode's restart: a replica that is
//! marked goes on being written when the DataNode is back in time (`createRestartMetaStream`).
//!
//! The mark of `current/rbw/blk_5` is the file `current/rbw:.blk_5.restart`: Apache puts the
//! separator of paths where it means the one of directories, and both must find each other's marks. In it
//! stands, as text, until when it holds: milliseconds since 1970.

use crate::error::{Error, Result};
use crate::names::{BlockFile, parse_name};
use crate::pool::{Place, Pool};
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use zerohop_wire::BlockId;

const PREFIX: &str = "rbw:.";
const SUFFIX: &str = ".restart";

impl Pool {
    /// Marks a replica in `rbw`.
    pub fn mark_restart(&self, id: BlockId, until_ms: u64) -> Result<()> {
        let path = self.current().join(format!("{PREFIX}blk_{id}{SUFFIX}"));
        let written = fs::write(&path, until_ms.to_string());
        written.map_err(|e| Error::io(format!("replica {id}"), "mark", &path, e))
    }

    /// The replicas that are marked, with the time until which they are. The marks are deleted.
    pub fn take_restarts(&self) -> Result<HashMap<BlockId, u64>> {
        let current = self.current();
        let io = |e: std::io::Error| Error::io("volume", "list", &current, e);
        let mut marks = HashMap::new();
        for entry in fs::read_dir(&current).map_err(io)? {
            let entry = entry.map_err(io)?;
            let name = entry.file_name();
            let name = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
            let name = name.and_then(|name| name.strip_suffix(SUFFIX));
            let Some(BlockFile::Data(id)) = name.and_then(parse_name) else { continue };
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            marks.extend(text.trim().parse().ok().map(|until_ms| (id, until_ms)));
            fs::remove_file(entry.path()).map_err(io)?;
        }
        Ok(marks)
    }

    fn current(&self) -> PathBuf {
        let rbw = self.directory(BlockId(0), Place::Rbw);
        rbw.parent().map(PathBuf::from).unwrap_or(rbw)
    }
}
