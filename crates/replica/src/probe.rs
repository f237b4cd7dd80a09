//! What a DataNode asks a volume's disk while the volume is in use. Each question may take as long as
//! the disk likes, for ever if it hangs; nothing is locked meanwhile.

use crate::error::{Error, Result};
use crate::version::{VolumeVersion, inconsistent};
use std::fs;
use std::path::PathBuf;

/// Bytes of the file system below a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// All of it.
    pub capacity: u64,
    /// Bytes that are free.
    pub free: u64,
    /// What an ordinary user may still take of that.
    pub available: u64,
}

/// A volume's directory, and what its VERSION file says.
#[derive(Clone, Debug)]
pub struct VolumeProbe {
    root: PathBuf,
    version: Option<VolumeVersion>,
}

impl VolumeProbe {
    pub(crate) fn new(root: PathBuf, version: Option<VolumeVersion>) -> Self {
        Self { root, version }
    }

    /// `DS-<uuid>`; empty before the volume is formatted.
    pub fn storage_id(&self) -> &str {
        self.version.as_ref().map_or("", |version| &version.storage_id)
    }

    /// The space on its file system.
    pub fn space(&self) -> Result<Space> {
        let found = rustix::fs::statvfs(&self.root);
        let found = found.map_err(|e| Error::io("volume", "ask the space of", &self.root, e))?;
        let bytes = |blocks: u64| blocks * found.f_frsize;
        let (free, available) = (bytes(found.f_bfree), bytes(found.f_bavail));
        Ok(Space { capacity: bytes(found.f_blocks), free, available })
    }

    /// Whether it is still there, and no other one in its place. An error is one of the volume unless
    /// [`Error::is_end_of_volume`] says otherwise.
    pub fn look(&self) -> Result<()> {
        let path = self.root.join("current/VERSION");
        let found = VolumeVersion::read(&path)?;
        // A volume that was not formatted when this was made may be just now.
        if self.version.is_none() || found == self.version {
            return Ok(());
        }
        let text = match found {
            Some(found) => format!("it is another volume now, {}", found.storage_id),
            None => "it is gone".to_owned(),
        };
        Err(inconsistent(&path, text)
            .advise("mount the disk again and restart the DataNode, or take the directory out"))
    }

    /// Whether it can still be listed and written: what a DataNode asks after an I/O error.
    pub fn check_disk(&self) -> Result<()> {
        self.look()?;
        let current = self.root.join("current");
        let io = |verb| move |e: std::io::Error| Error::io("volume", verb, &self.root, e);
        fs::read_dir(&current).map_err(io("list"))?;
        let probe = current.join(".disk-check");
        fs::write(&probe, b"probe").map_err(io("write to"))?;
        fs::remove_file(&probe).map_err(io("delete from"))
    }
}

#[cfg(test)]
mod tests {
    use crate::Volume;

    /// The disk was looked at while the DataNode formatted it, and then taken for another one.
    #[test]
    fn a_volume_that_is_formatted_meanwhile_is_the_same() {
        let directory = tempfile::tempdir().unwrap();
        let mut volume = Volume::open(directory.path()).unwrap();
        let (before, _) = (volume.probe(), volume.claim("CID-1", "uuid-1").unwrap());
        before.look().unwrap();
        let known = volume.probe();
        known.look().unwrap();
        let path = directory.path().join("current/VERSION");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("DS-", "DS-x")).unwrap();
        assert!(known.look().unwrap_err().to_string().contains("it is another volume now"));
        std::fs::remove_file(&path).unwrap();
        assert!(known.look().unwrap_err().to_string().contains("it is gone"));
    }
}
