//! Replicas as the files that DataNodes keep.

use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use zerohop_interop::Outcome;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::harm::{Explain, flip};
use zerohop_wire::meta_header;

use crate::DATANODES;
use crate::promises::broken;

/// How often a replica is looked at that does not match: it may be replaced meanwhile.
const LOOKS: usize = 5;

/// A bit that was flipped, to be flipped back.
pub struct Flipped {
    path: PathBuf,
    len: u64,
    offset: u64,
    byte: u8,
}

impl Flipped {
    /// Flips a bit of a finalized replica's block or meta file below a directory.
    pub fn any(datanode: &Path, rng: &mut Rng) -> Outcome<Option<Self>> {
        let files = files_in(datanode, "finalized");
        let Some(path) = files.get(rng.usize(..files.len().max(1))) else { return Ok(None) };
        // It may be deleted meanwhile.
        let Ok(before) = fs::read(path) else { return Ok(None) };
        if before.is_empty() {
            return Ok(None);
        }
        let offset = rng.usize(..before.len());
        if flip(path, offset as u64).is_err() {
            return Ok(None);
        }
        let path = path.clone();
        Ok(Some(Self {
            path,
            len: before.len() as u64,
            offset: offset as u64,
            byte: before[offset],
        }))
    }

    /// Flips it back, if the file is as the flip left it: what was not noticed is no second fault later.
    pub fn undo(self) {
        let Ok(now) = fs::read(&self.path) else { return };
        let at = self.offset as usize;
        if now.len() as u64 == self.len && now.get(at).is_some_and(|byte| *byte != self.byte) {
            let _ = flip(&self.path, self.offset);
        }
    }
}

/// The last writes to replicas were cut short: their block files end with bytes without checksums.
pub fn tear(datanode: &Path, rng: &mut Rng) -> Outcome {
    for path in files_in(datanode, "rbw") {
        if path.extension().is_none() && rng.bool() {
            let mut content = fs::read(&path).at("a replica being written")?;
            let more = rng.usize(1..900);
            content.extend(std::iter::repeat_with(|| rng.u8(..)).take(more));
            fs::write(&path, content).at("a torn write")?;
        }
    }
    Ok(())
}

/// The bytes of every finalized replica on disk match its checksums.
pub fn check_all(cluster: &Cluster) -> Outcome {
    for i in 0..DATANODES {
        for meta in files_in(&cluster.directory().join(format!("dn{i}")), "finalized") {
            let name = meta.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some((block, _)) = name.strip_suffix(".meta").and_then(|n| n.rsplit_once('_'))
            else {
                continue;
            };
            let data = meta.with_file_name(block);
            if (0..LOOKS).all(|_| !matches(&data, &meta)) {
                return Err(broken("F6", format!("{} is corrupt", data.display())));
            }
        }
    }
    Ok(())
}

/// Also where one of the files is gone.
fn matches(data: &Path, meta: &Path) -> bool {
    let (Ok(data), Ok(meta)) = (fs::read(data), fs::read(meta)) else { return true };
    let Some((header, sums)) = meta.split_first_chunk() else { return false };
    meta_header::decode(*header).is_ok_and(|(_, checksum)| checksum.verify(&data, sums).is_ok())
}

/// The files of replicas in a state.
fn files_in(directory: &Path, state: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(directory, state, &mut files);
    files.sort();
    files
}

fn walk(directory: &Path, state: &str, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_block = entry.file_name().to_string_lossy().starts_with("blk_");
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&path, state, files),
            _ if is_block && path.iter().any(|part| part == state) => files.push(path),
            _ => {}
        }
    }
}
