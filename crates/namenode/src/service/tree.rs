//! Directories, renames, deletions, links.

use super::answer::Answer;
use super::call::ServiceCall;
use super::removal;
use crate::audit::Line;
use zerohop_namespace::RenameOptions;

/// Directories, renames, deletions, links.
pub(crate) struct Directories<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Directories<'_> {
    /// Makes a directory, and its parents if `create_parent`. True, also if it was there.
    pub(crate) fn mkdirs(
        &self,
        path: &str,
        masked: u16,
        unmasked: Option<u16>,
        create_parent: bool,
    ) -> Answer<bool> {
        self.call.change(Line::path("mkdirs", path), |namespace, op| {
            namespace.directories(op).mkdirs(path, masked, unmasked, create_parent)
        })
    }

    /// `FileSystem.rename`: into an existing directory; false where it cannot be done.
    pub(crate) fn rename(&self, src: &str, dst: &str) -> Answer<bool> {
        self.call.change_once(Line::paths("rename", src, dst), |namespace, op| {
            namespace.directories(op).rename(src, dst)
        })
    }

    /// `FileContext.rename`: an exception says why it cannot be done.
    pub(crate) fn rename2(&self, src: &str, dst: &str, options: RenameOptions) -> Answer<()> {
        removal::rename2(self.call, src, dst, options)
    }

    /// Deletes a path; false if it was not there.
    pub(crate) fn delete(&self, path: &str, recursive: bool) -> Answer<bool> {
        removal::delete(self.call, path, recursive)
    }

    pub(crate) fn create_symlink(&self, target: &str, link: &str) -> Answer<()> {
        self.call.change_once(Line::paths("createSymlink", link, target), |namespace, op| {
            namespace.directories(op).create_symlink(target, link)
        })
    }

    pub(crate) fn link_target(&self, path: &str) -> Answer<String> {
        self.call.view(Line::path("getLinkTarget", path), |view| view.link_target(path))
    }
}
