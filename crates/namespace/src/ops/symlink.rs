//! Symbolic links: refused, as Apache's default is; those of foreign images are shown.

use crate::fail::{io, not_found, unsupported};
use crate::resolve::DirOp;
use crate::tree::Body;
use crate::{Namespace, OpContext, Result};

impl Namespace {
    /// Always refused.
    ///
    /// # Errors
    /// `UnsupportedOperationException`.
    pub fn create_symlink(&mut self, _ctx: &OpContext, _target: &str, _link: &str) -> Result<()> {
        unsupported("Symlinks not supported")
    }

    /// Where a link points.
    ///
    /// # Errors
    /// As Hadoop's `getLinkTarget`.
    pub fn link_target(&self, ctx: &OpContext, path: &str) -> Result<String> {
        let located = self.resolve(ctx, path, DirOp::ReadLink)?;
        let Some(slot) = located.last() else {
            return not_found(format!("File does not exist: {path}"));
        };
        match &self.state.tree().get(slot).body {
            Body::Symlink(link) => Ok(String::from_utf8_lossy(&link.target).into_owned()),
            _ => io(format!("Path {path} is not a symbolic link")),
        }
    }
}
