//! The NameNode's two directories, and what becomes of one of them while the NameNode is down.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use zerohop_interop::Outcome;
use zerohop_interop::cluster::Cluster;
use zerohop_interop::harm::{Explain, flip};
use zerohop_journal::op::OP_SIZE_MAX;
use zerohop_journal::segment;

/// Bytes of a segment's header and of the record that begins it.
const HEADER: usize = 8;
const FIRST_RECORD: usize = 17;

/// The names of the directories: nothing happens to the first.
pub const SETTING: &str = "file://{directory}/nn,file://{directory}/nn-copy";

/// Both directories, and an older copy of the first.
pub struct NameDirs {
    whole: PathBuf,
    /// The one that is damaged.
    pub damaged: PathBuf,
    old: PathBuf,
}

impl NameDirs {
    /// Those of a cluster.
    pub fn of(cluster: &Cluster) -> Self {
        let below = |name: &str| cluster.directory().join(name);
        Self { whole: below("nn"), damaged: below("nn-copy"), old: below("nn-old") }
    }

    /// Takes the copy that [`Self::put_old`] and [`Self::swap_old`] put back.
    pub fn keep_old(&self) -> Outcome {
        replace(&self.old, &self.whole)
    }

    /// One of the directories becomes its older self.
    pub fn put_old(&self) -> Outcome {
        replace(&self.damaged, &self.old)
    }

    /// Flips a bit of an image, a digest or a segment.
    pub fn flip_bit(&self, rng: &mut Rng) -> Outcome {
        let mut files = files(&self.damaged)?;
        files.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.starts_with("fsimage_") || name.starts_with("edits_")
        });
        let Some(path) = files.get(rng.usize(..files.len().max(1))) else { return Ok(()) };
        let content = fs::read(path).at("a file of the NameNode")?;
        // Little of the padding: most flips hit what counts.
        let used =
            content.iter().rposition(|byte| !matches!(byte, 0 | 0xff)).map_or(0, |at| at + 9);
        match used.min(content.len()) {
            0 => Ok(()),
            used => flip(path, rng.u64(..used as u64)),
        }
    }

    /// The last write to the edit log was cut short: behind the last record stands a part of another,
    /// in one directory or in both.
    pub fn tear(&self, rng: &mut Rng) -> Outcome {
        // Some clusters have one directory.
        let mut directories = vec![&self.whole, &self.damaged];
        directories.retain(|directory| directory.exists());
        for directory in &directories[rng.usize(..directories.len())..] {
            let mut files = files(directory)?;
            files.retain(|path| path.to_string_lossy().contains("edits_inprogress_"));
            for path in files {
                let Ok(scan) = segment::scan(&path, OP_SIZE_MAX) else { continue };
                let content = fs::read(&path).at("a segment")?;
                let Some(record) = content.get(HEADER..HEADER + FIRST_RECORD) else { continue };
                let torn = &record[..rng.usize(1..FIRST_RECORD)];
                let file = fs::File::options().write(true).open(&path).at("a segment")?;
                file.write_all_at(torn, scan.valid_len).at("a torn write")?;
            }
        }
        Ok(())
    }

    /// Both directories become their older selves; [`Self::swap_back`] undoes it.
    pub fn swap_old(&self) -> Outcome {
        for directory in [&self.whole, &self.damaged] {
            let aside = directory.with_extension("aside");
            let _ = fs::remove_dir_all(&aside);
            fs::rename(directory, &aside).at("setting a directory aside")?;
            replace(directory, &self.old)?;
        }
        Ok(())
    }

    /// The newer directories are put back.
    pub fn swap_back(&self) -> Outcome {
        for directory in [&self.whole, &self.damaged] {
            fs::remove_dir_all(directory).at("removing an old directory")?;
            fs::rename(directory.with_extension("aside"), directory).at("putting it back")?;
        }
        Ok(())
    }
}

fn files(directory: &Path) -> Outcome<Vec<PathBuf>> {
    let listed = fs::read_dir(directory.join("current")).at("a directory of the NameNode")?;
    let mut files: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    files.sort();
    Ok(files)
}

fn replace(target: &Path, source: &Path) -> Outcome {
    if target.exists() {
        fs::remove_dir_all(target).at("removing a directory")?;
    }
    copy(source, target).at("copying a directory of the NameNode")
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(drop)?,
        }
    }
    Ok(())
}
