//! Listings, in pages.

use super::View;
use super::status::{reserved_status, status_of};
use crate::access::READ_EXECUTE;
use crate::blocks::policy;
use crate::error::{PathError, refuse};
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::walk::{is_exact_reserved, is_reserved};
use crate::{CorruptFile, DirectoryListing, FileStatus, Result};
use std::borrow::Cow;

impl View<'_> {
    /// The entries of a directory after `start_after`, or the file itself; none if the path does not exist.
    ///
    /// A page has at most `dfs.ls.limit` entries, and with locations at most as many replicas.
    ///
    /// # Errors
    /// As Hadoop's `getListing`; `Error::Path` where `start_after` names an inode that is
    /// gone.
    pub fn listing(
        self,
        path: &str,
        start_after: &[u8],
        need_location: bool,
    ) -> Result<Option<DirectoryListing>> {
        let located = self.access().resolve(path, DirOp::Read)?;
        if is_exact_reserved(&located.path) {
            let entries = vec![
                reserved_status(self.params, ".inodes", 0o770),
                reserved_status(self.params, "raw", 0o770),
            ];
            return Ok(Some(DirectoryListing { entries, remaining: 0 }));
        }
        let Some(slot) = located.last() else { return Ok(None) };
        let Some(directory) = self.state.tree().get(slot).as_directory() else {
            let entry =
                self.entry(slot, String::new(), self.state.effective_policy(slot), need_location);
            return Ok(Some(DirectoryListing { entries: vec![entry], remaining: 0 }));
        };
        self.access().check_access_to(&located, READ_EXECUTE)?;
        let start = self.start_name(start_after)?;
        let (children, count) = self.state.tree().children_after(directory, &start);
        let inherited = self.state.effective_policy(slot);
        let mut entries = Vec::with_capacity(count.min(self.params.list_limit));
        let mut budget = self.params.list_limit as i64;
        for child in children.take(self.params.list_limit) {
            if budget <= 0 {
                break;
            }
            let entry = self.child_entry(child, inherited, need_location);
            let blocks = entry.locations.as_ref().map_or(0, |located| located.blocks.len());
            budget -= blocks as i64 * i64::from(entry.replication);
            entries.push(entry);
        }
        let remaining = (count - entries.len()) as u32;
        Ok(Some(DirectoryListing { entries, remaining }))
    }

    fn child_entry(self, child: Slot, inherited: u8, need_location: bool) -> FileStatus {
        let policy = match self.state.local_policy(child) {
            policy::UNSPECIFIED => inherited,
            local => local,
        };
        let name = self.state.tree().name(child).to_owned();
        self.entry(child, name, policy, need_location)
    }

    fn entry(self, slot: Slot, name: String, policy: u8, need_location: bool) -> FileStatus {
        let mut status = status_of(self.state, slot, name, policy);
        if need_location {
            status.locations = self.locator().all_locations(slot);
        }
        status
    }

    /// Clients may continue after an inode number instead of a name.
    fn start_name<'a>(self, start_after: &'a [u8]) -> Result<Cow<'a, [u8]>> {
        let path = std::str::from_utf8(start_after).unwrap_or_default();
        if !is_reserved(path) {
            return Ok(Cow::Borrowed(start_after));
        }
        match self.state.paths().walk(path) {
            Ok(located) => Ok(Cow::Owned(located.name().as_bytes().to_vec())),
            Err(_) => refuse(PathError::StartAfter { path: path.to_owned() }),
        }
    }

    /// Files with corrupt blocks at or below `path`, and the cookie to go on with.
    ///
    /// # Errors
    /// `Error::Denied` for all but the superuser.
    pub fn list_corrupt_file_blocks(
        self,
        path: &str,
        cookie: Option<&str>,
    ) -> Result<(Vec<CorruptFile>, String)> {
        self.access().check_superuser("listCorruptFileBlocks")?;
        let from = cookie.and_then(|cookie| cookie.parse().ok()).unwrap_or(0);
        let top = path.trim_end_matches('/');
        let is_below = |found: &str| {
            found.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut next = from;
        let mut found = Vec::new();
        // Only blocks below `path` count for the size of a page: an empty page is the end.
        for (place, file, block) in self.state.blocks().lookup().corrupt_blocks(from) {
            next = place.saturating_add(1);
            let Some(path) = self
                .state
                .tree()
                .find(file)
                .map(|slot| self.state.tree().path(slot))
                .filter(|path| is_below(path))
            else {
                continue;
            };
            let Some(stored) = self.state.blocks().get(block) else { continue };
            found.push(CorruptFile { block, replication: stored.replication, path });
            if found.len() >= self.params.corrupt_files_batch {
                break;
            }
        }
        Ok((found, next.to_string()))
    }
}
