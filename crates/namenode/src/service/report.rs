//! Figures of the file system and of its DataNodes.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::audit::Line;
use crate::ha::OperationCategory as Category;
use zerohop_namespace::CorruptFile;
use zerohop_namespace::blocks::{BlockStats, NodeFilter, NodeReport};

/// Figures of blocks and DataNodes, and corrupt files.
pub(crate) struct Reports<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Reports<'_> {
    pub(crate) fn block_stats(&self) -> Answer<BlockStats> {
        self.call.read(Line::default(), |namespace, _| Ok(namespace.blocks().stats()))
    }

    /// DataNodes in some state, for the superuser. `command` is the call's name in the audit log.
    pub(crate) fn datanodes(
        &self,
        command: &'static str,
        filter: NodeFilter,
    ) -> Answer<Vec<NodeReport>> {
        self.call.read_as(Category::Unchecked, Line::of(command), |namespace, op| {
            self.call.core.check_superuser(op)?;
            Ok(namespace.blocks().datanodes().reports(filter))
        })
    }

    /// A page of the files with blocks that have no good replica, and the cookie of the next page.
    pub(crate) fn corrupt_file_blocks(
        &self,
        path: &str,
        cookie: Option<&str>,
    ) -> Answer<(Vec<CorruptFile>, String)> {
        self.call.view(Line::path("listCorruptFileBlocks", path), |view| {
            view.list_corrupt_file_blocks(path, cookie)
        })
    }
}
