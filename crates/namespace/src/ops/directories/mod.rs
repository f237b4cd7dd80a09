//! `mkdirs`, `rename`, `delete` and `createSymlink`.

mod delete;
mod rename;

use super::directory_rules::Modes;
use super::new_directories::NewDirectories;
use crate::Result;
use crate::access::{Check, WRITE};
use crate::call::Call;
use crate::error::{AlreadyExists, Unsupported, refuse};
use crate::limits::check_path_length;
use crate::resolve::DirOp;
use crate::subtree::Subtrees;

/// Makes directories, renames and deletes.
pub struct Directories<'n> {
    pub(crate) call: Call<'n>,
}

impl<'n> Directories<'n> {
    fn new_directories(&mut self) -> NewDirectories<'_, 'n> {
        NewDirectories { call: &mut self.call }
    }

    fn subtrees(&self) -> Subtrees<'_> {
        Subtrees { access: self.call.access() }
    }

    /// Makes a directory and, with `create_parent`, its missing parents; true also if it exists already.
    ///
    /// # Errors
    /// As Hadoop's `mkdirs`: a file in the way, no permission, a quota, an invalid name.
    pub fn mkdirs(
        &mut self,
        path: &str,
        masked: u16,
        unmasked: Option<u16>,
        create_parent: bool,
    ) -> Result<bool> {
        check_path_length("mkdirs", path)?;
        self.call.begin(|| format!("Cannot create directory {path}"))?;
        let located = self.call.access().resolve(path, DirOp::Create)?;
        if let Some(slot) = located.last() {
            if self.call.state.tree().get(slot).as_file().is_some() {
                return refuse(AlreadyExists::FileForDirectory { path: path.to_owned() });
            }
            return Ok(true);
        }
        check_path_length("mkdirs", &located.path)?;
        self.call.access().check(&located, Check { ancestor: Some(WRITE), ..Check::default() })?;
        if !create_parent {
            self.call.rules().verify_parent(&located)?;
        }
        self.call.check_object_limit(0)?;
        let modes = Modes { masked, unmasked };
        let parent =
            self.new_directories().create_missing_parents(&located, modes.with_owner_write())?;
        self.new_directories().create_directory(parent, &located, located.depth, modes)?;
        Ok(true)
    }

    /// Always refused, as Apache's default is.
    ///
    /// # Errors
    /// `Error::Unsupported`.
    pub fn create_symlink(&mut self, _target: &str, _link: &str) -> Result<()> {
        refuse(Unsupported::Symlinks)
    }
}
