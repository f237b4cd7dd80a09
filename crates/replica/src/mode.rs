//! `dfs.datanode.data.dir.perm`: who may look into the directories of a volume, and read its files.

use crate::error::{Error, Result};
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// The permissions of a volume's directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryMode(u32);

impl Default for DirectoryMode {
    /// 700.
    fn default() -> Self {
        Self(0o700)
    }
}

impl DirectoryMode {
    /// Reads an octal number, as Hadoop's configuration has it. The owner must be able to use the
    /// directory.
    pub fn parse(text: &str) -> Option<Self> {
        let mode = u32::from_str_radix(text.trim(), 8).ok()?;
        (mode <= 0o1777 && mode & 0o700 == 0o700).then_some(Self(mode))
    }

    /// The permissions of block and meta files: who may not list the directory may not read the
    /// files either, even through another path to them.
    pub(crate) fn of_files(self) -> u32 {
        self.0 & 0o666
    }

    /// Makes a directory, and those above it, that are not there yet.
    pub(crate) fn create(self, directory: &Path) -> Result<()> {
        let made = DirBuilder::new().recursive(true).mode(self.0).create(directory);
        made.map_err(|e| Error::io("volume", "create the directory", directory, e))
    }

    /// Makes a volume's directory. Those above it are not the volume's: they get the usual permissions.
    pub(crate) fn create_root(self, directory: &Path) -> Result<()> {
        if let Some(parent) = directory.parent() {
            let made = fs::create_dir_all(parent);
            made.map_err(|e| Error::io("volume", "create the directory", parent, e))?;
        }
        self.create(directory)
    }

    /// Gives a directory these permissions, if it has others.
    pub(crate) fn apply(self, directory: &Path) -> Result<()> {
        let io = |e| Error::io("volume", "set the permissions of", directory, e);
        let found = fs::metadata(directory).map_err(io)?.permissions().mode() & 0o7777;
        if found == self.0 {
            return Ok(());
        }
        fs::set_permissions(directory, Permissions::from_mode(self.0)).map_err(io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_octal_and_leave_the_owner_in() {
        assert_eq!(DirectoryMode::parse("700"), Some(DirectoryMode::default()));
        assert_eq!(DirectoryMode::parse(" 0750 ").map(DirectoryMode::of_files), Some(0o640));
        for wrong in ["", "077", "800", "rwx------", "10700"] {
            assert_eq!(DirectoryMode::parse(wrong), None, "{wrong}");
        }
    }
}
