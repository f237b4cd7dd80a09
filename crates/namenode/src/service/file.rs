//! Files being written: from create or append to complete.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::audit::Line;
use zerohop_namespace::{CreateFlags, CreateRequest, FileStatus, LocatedBlock};
use zerohop_wire::{Block, InodeId};

/// The request of `complete`; it may be held for a while.
pub(crate) struct CompleteCall {
    pub(crate) path: String,
    pub(crate) file: InodeId,
    pub(crate) client_name: String,
    pub(crate) last: Option<Block>,
}

/// Files created, written, cut and joined.
pub(crate) struct Files<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Files<'_> {
    pub(crate) fn create(&self, request: &CreateRequest<'_>) -> Answer<FileStatus> {
        self.call.change_once(Line::path("create", request.path), |namespace, op| {
            namespace.files(op).create(request)
        })
    }

    /// Opens a file for append; the last block, if the append continues it, and the file.
    pub(crate) fn append(
        &self,
        path: &str,
        client_name: &str,
        flags: CreateFlags,
    ) -> Answer<(Option<LocatedBlock>, FileStatus)> {
        self.call.change_once(Line::path("append", path), |namespace, op| {
            namespace.files(op).append(path, client_name, flags)
        })
    }

    /// Truncates a file; false if the last block must be recovered first.
    pub(crate) fn truncate(&self, path: &str, new_len: u64, client_name: &str) -> Answer<bool> {
        self.call.change_once(Line::path("truncate", path), |namespace, op| {
            namespace.files(op).truncate(path, new_len, client_name)
        })
    }

    pub(crate) fn concat(&self, target: &str, sources: &[String]) -> Answer<()> {
        let first = sources.first().map_or("", |source| source);
        self.call.change_once(Line::paths("concat", first, target), |namespace, op| {
            namespace.files(op).concat(target, sources)
        })
    }

    /// Closes a file. Held while replicas of its blocks are not reported yet; false if they were not in time.
    pub(crate) fn complete(&self, call: CompleteCall) -> Answer<bool> {
        self.call.held(
            call,
            // Not in the audit log: `FSNamesystem.completeFile` writes none.
            |_| Line::default(),
            |namespace, op, call| {
                namespace.file_writes(op).complete(
                    &call.path,
                    call.file,
                    &call.client_name,
                    call.last,
                )
            },
            |namespace, call, outcome| match outcome {
                Ok(false) => namespace.lacking_block(&call.path, call.file),
                _ => None,
            },
        )
    }

    /// Makes the length of a file being written durable; -1 if the client does not say it.
    pub(crate) fn fsync(
        &self,
        path: &str,
        file: InodeId,
        client_name: &str,
        last_block_len: i64,
    ) -> Answer<()> {
        self.call.change(Line::default(), |namespace, op| {
            namespace.file_writes(op).fsync(path, file, client_name, last_block_len)
        })
    }
}
