//! What is damaged other than by a power cut: a flipped bit, an old copy of a directory.

use crate::disk::Image;
use fastrand::Rng;
use std::path::{Path, PathBuf};

/// A damage.
#[derive(Clone, Debug)]
pub enum Damage {
    /// A bit of an image, of its digest or of a segment.
    FlippedBit {
        /// The file.
        path: PathBuf,
        /// The byte.
        offset: usize,
        /// The bit.
        bit: u8,
    },
    /// One of two directories is as it was at the begin of this life.
    OldCopy(PathBuf),
}

impl Damage {
    /// A random one; none where there is nothing to damage.
    pub fn any(image: &Image<'_>, rng: &mut Rng) -> Option<Self> {
        let copy = Path::new("copy");
        let has_copy = image.directories().any(|path| path == copy);
        if has_copy && rng.u8(0..3) == 0 {
            return Some(Self::OldCopy(copy.to_owned()));
        }
        let of_value = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("fsimage_") || name.starts_with("edits_")
        };
        let files: Vec<_> = image.files().filter(|(path, _)| of_value(path)).collect();
        let (path, content) = files.get(rng.usize(0..files.len().max(1)))?;
        // Little of the padding: most flips hit what counts.
        let used =
            content.iter().rposition(|byte| !matches!(byte, 0 | 0xff)).map_or(0, |at| at + 9);
        let used = used.min(content.len());
        let offset = (used > 0).then(|| rng.usize(0..used))?;
        Some(Self::FlippedBit { path: path.to_path_buf(), offset, bit: rng.u8(0..8) })
    }

    /// The image with the damage.
    pub fn apply(&self, image: &mut Image<'_>, old: &Image<'_>) {
        match self {
            Self::FlippedBit { path, offset, bit } => {
                image.edit(path, |content| content[*offset] ^= 1 << bit);
            }
            Self::OldCopy(directory) => image.replace_below(directory, old),
        }
    }

    /// Acknowledged edits that may be lost by it: a flipped bit in the last record that was written
    /// looks like a torn write, if no other directory has the record.
    pub fn loss_max(&self) -> i64 {
        let is_in_progress = |path: &Path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().contains("inprogress"))
        };
        match self {
            Self::FlippedBit { path, .. } if is_in_progress(path) => 1,
            _ => 0,
        }
    }
}
