//! Symbolic links: refused, as Apache's default is; those of foreign images are shown.

use crate::error::{NotFound, PathError, Unsupported, refuse};
use crate::resolve::DirOp;
use crate::tree::Body;
use crate::{Namespace, OpContext, Result};

impl Namespace {
    /// Always refused.
    ///
    /// # Errors
    /// `Error::Unsupported`.
    pub fn create_symlink(&mut self, _ctx: &OpContext, _target: &str, _link: &str) -> Result<()> {
        refuse(Unsupported::Symlinks)
    }

    /// Where a link points.
    ///
    /// # Errors
    /// As Hadoop's `getLinkTarget`.
    pub fn link_target(&self, ctx: &OpContext, path: &str) -> Result<String> {
        let located = self.resolve(ctx, path, DirOp::ReadLink)?;
        let Some(slot) = located.last() else {
            return refuse(NotFound::File { path: path.to_owned() });
        };
        match &self.state.tree().get(slot).body {
            Body::Symlink(link) => Ok(String::from_utf8_lossy(&link.target).into_owned()),
            _ => refuse(PathError::NotASymlink { path: path.to_owned() }),
        }
    }
}
