//! Status, listings, locations.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::audit::Line;
use crate::ha::OperationCategory;
use zerohop_namespace::error::{LimitError, NotFound};
use zerohop_namespace::{DirectoryListing, FileStatus, LocatedBlocks, Namespace, Result, View};

/// Where a batched listing continues.
#[derive(Default)]
pub(crate) struct BatchedCursor {
    /// The directory's place in the request.
    pub(crate) index: usize,
    /// The last name that was given.
    pub(crate) after: bytes::Bytes,
}

/// A part of a batched listing.
#[derive(Default)]
pub(crate) struct BatchedListing {
    /// The directory's place in the request, and a page of it.
    pub(crate) pages: Vec<(usize, Result<DirectoryListing>)>,
    /// Where to continue; None at the end.
    pub(crate) next: Option<BatchedCursor>,
}

/// Status, listings and block locations.
pub(crate) struct Reads<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Reads<'_> {
    pub(crate) fn file_info(&self, path: &str) -> Answer<Option<FileStatus>> {
        self.call.view(Line::path("getfileinfo", path), |view| view.file_info(path))
    }

    /// As `file_info`, of a link itself.
    pub(crate) fn file_link_info(&self, path: &str) -> Answer<Option<FileStatus>> {
        self.call.view(Line::path("getfileinfo", path), |view| view.file_link_info(path))
    }

    pub(crate) fn located_file_info(&self, path: &str) -> Answer<Option<FileStatus>> {
        let line = Line::path("open", path);
        self.call.view_located(
            line,
            |view| view.located_file_info(path),
            |status| status.as_ref().filter(|status| lacks_replicas(status)).map(|_| path.into()),
        )
    }

    /// A page of a directory, from the name after `after`; None if there is no such path.
    pub(crate) fn listing(
        &self,
        path: &str,
        after: &[u8],
        need_location: bool,
    ) -> Answer<Option<DirectoryListing>> {
        let line = Line::path("listStatus", path);
        let listed = &self.call.core.activity.listed;
        let list = |view: View<'_>| {
            let page = view.listing(path, after, need_location)?;
            listed.add(page.as_ref().map_or(0, |page| page.entries.len() as u64));
            Ok(page)
        };
        self.call.view_located(line, list, |page| page.as_ref().and_then(first_lacking))
    }

    /// Pages of several directories, until about `dfs.ls.limit` entries are collected.
    pub(crate) fn batched_listing(
        &self,
        paths: &[String],
        start: BatchedCursor,
        need_location: bool,
    ) -> Answer<BatchedListing> {
        let settings = &self.call.core.settings;
        let (entries_max, paths_max) =
            (settings.namespace_params.list_limit, settings.batched_listing_max);
        let line = Line::path("listStatus", paths.first().map_or("", |path| path));
        let list = |view: View<'_>| {
            let count = paths.len();
            if count > paths_max {
                return Err(LimitError::ListedPaths { count, limit: paths_max }.into());
            }
            Ok(batched(view, paths, start, need_location, entries_max))
        };
        self.call.view_located(line, list, |found: &BatchedListing| {
            found.pages.iter().flat_map(|(_, page)| page).find_map(first_lacking)
        })
    }

    /// The blocks in a range of a file. An access time that is due is an edit of its own, which this answer does not wait for;
    /// where none can be made, the active NameNode is to be asked.
    pub(crate) fn block_locations(
        &self,
        path: &str,
        offset: u64,
        len: u64,
    ) -> Answer<LocatedBlocks> {
        let mut due = None;
        let look = |view: View<'_>| {
            let (blocks, touch) = view.block_locations(path, offset, len)?;
            due = touch;
            Ok(blocks)
        };
        let answer = self.call.view_located(Line::path("open", path), look, |blocks| {
            has_unknown(blocks).then(|| path.to_owned())
        });
        if let (Some(file), Answer::Ready(Ok(_))) = (due, &answer) {
            if let Err(refused) = self.call.core.ha.check(OperationCategory::Write) {
                return Answer::Ready(Err(refused.into()));
            }
            let op = self.call.op();
            let touch = |namespace: &mut Namespace| namespace.attributes(&op).touch(file);
            _ = self.call.core.write_as(OperationCategory::Write, |namespace| Ok(touch(namespace)));
        }
        answer
    }

    pub(crate) fn is_file_closed(&self, path: &str) -> Answer<bool> {
        self.call.view(Line::path("isFileClosed", path), |view| view.is_file_closed(path))
    }

    pub(crate) fn preferred_block_size(&self, path: &str) -> Answer<u64> {
        self.call.view(Line::path("", path), |view| view.preferred_block_size(path))
    }
}

/// Whether one of the blocks has no replica that is known.
fn has_unknown(blocks: &LocatedBlocks) -> bool {
    blocks.blocks.iter().any(|block| block.locations.replicas.is_empty())
}

fn lacks_replicas(status: &FileStatus) -> bool {
    status.locations.as_ref().is_some_and(has_unknown)
}

/// The first file of a page with a block that has no replica.
fn first_lacking(page: &DirectoryListing) -> Option<String> {
    page.entries.iter().find(|entry| lacks_replicas(entry)).map(|entry| entry.path.clone())
}

fn batched(
    view: View<'_>,
    paths: &[String],
    start: BatchedCursor,
    need_location: bool,
    entries_max: usize,
) -> BatchedListing {
    let (mut cursor, mut pages, mut count) = (start, Vec::new(), 0);
    while let Some(path) = paths.get(cursor.index) {
        if count >= entries_max {
            return BatchedListing { pages, next: Some(cursor) };
        }
        let mut next = BatchedCursor { index: cursor.index + 1, ..BatchedCursor::default() };
        let page = match view.listing(path, &cursor.after, need_location) {
            Ok(Some(page)) => {
                count += page.entries.len().max(1);
                if let Some(last) = page.entries.last().filter(|_| page.remaining > 0) {
                    let after = last.path.clone().into_bytes().into();
                    next = BatchedCursor { index: cursor.index, after };
                }
                Ok(page)
            }
            Ok(None) => Err(NotFound::Listed { path: path.clone() }.into()),
            Err(error) => Err(error),
        };
        pages.push((cursor.index, page));
        cursor = next;
    }
    BatchedListing { pages, next: None }
}
