//! `-move` and `-delete`: what is done about a file that has lost blocks.

use super::out::Out;
use super::request::{Remedy, Request};
use crate::audit::Line;
use crate::call_error::CallError;
use crate::service::Outcome;
use std::ops::Range;
use zerohop_namespace::{FileKind, FileStatus, LocatedBlocks};

/// Where the remains are put, below the path they had.
const LOST_FOUND: &str = "/lost+found";
const LOST_FOUND_MODE: u16 = 0o755;

/// Does what is to be done about damaged files.
#[derive(Default)]
pub(super) struct Mender {
    remedy: Remedy,
    has_failed: bool,
}

impl Mender {
    pub(super) fn new(remedy: Remedy) -> Self {
        Self { remedy, has_failed: false }
    }

    /// Whether something was not done that was asked for.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// A failure is logged and makes the whole check fail at its end, as Apache's; the other files
    /// get their turn.
    pub(super) fn mend(
        &mut self,
        request: &Request<'_>,
        out: &mut Out,
        path: &str,
        status: &FileStatus,
        blocks: &LocatedBlocks,
    ) {
        // A copy takes its time: what is known is sent before.
        out.flush();
        if blocks.under_construction {
            return tracing::info!("Fsck: ignoring open file {path}");
        }
        if self.remedy.moves
            && let Err(error) = self.copy_remains(request, out, path, status, blocks)
        {
            tracing::error!("Fsck: error processing {path}: {error}");
            self.has_failed = true;
        }
        if self.remedy.deletes && out.is_wanted() {
            let deleted = request.service.directories().delete(path, true).wait();
            let is_allowed = !matches!(&deleted, Err(error) if error.is_denied());
            request.audit_line(is_allowed, Line::path("delete", path));
            match deleted {
                Ok(_) => tracing::info!("Fsck: deleted corrupt file {path}"),
                Err(error) => {
                    tracing::error!("Fsck: error deleting {path}: {error}");
                    self.has_failed = true;
                }
            }
        }
    }

    /// A file for each run of blocks that are there: `/lost+found/PATH/0`, `/1` and so on.
    fn copy_remains(
        &mut self,
        request: &Request<'_>,
        out: &mut Out,
        path: &str,
        status: &FileStatus,
        blocks: &LocatedBlocks,
    ) -> Outcome<()> {
        let copier = request.core.file_copier.get().cloned();
        let copier = copier.ok_or_else(|| CallError::failed("this NameNode cannot copy files"))?;
        make_lost_found(request)?;
        let target = format!("{LOST_FOUND}{path}");
        if request.service.reads().file_info(&target).wait()?.is_some() {
            tracing::warn!("Fsck: {path} is not copied: {target} is there already");
            return Ok(());
        }
        make_directory(request, &target, status.permission)?;
        let runs = runs(blocks);
        let mut runs: Vec<&[Range<u64>]> = runs.iter().map(Vec::as_slice).rev().collect();
        let mut number = 0;
        while let Some(run) = runs.pop() {
            let to = format!("{target}/{number}");
            number += 1;
            request.check_wanted(out)?;
            if let Err(error) = copier.copy(request.service.caller().user(), path, &to, run) {
                tracing::error!("Fsck: {path} to {to}: {}", error.reason);
                self.has_failed = true;
                // What follows the bad block begins another file.
                if let Some(rest) = run.get(error.copied + 1..).filter(|rest| !rest.is_empty()) {
                    runs.push(rest);
                }
            }
        }
        tracing::info!("Fsck: copied the remains of {path} to {target}");
        Ok(())
    }
}

fn make_lost_found(request: &Request<'_>) -> Outcome<()> {
    match request.service.reads().file_info(LOST_FOUND).wait()? {
        None => make_directory(request, LOST_FOUND, LOST_FOUND_MODE),
        Some(status) if status.kind == FileKind::Directory => Ok(()),
        Some(_) => Err(CallError::failed("Cannot use /lost+found: a file with this name exists")),
    }
}

fn make_directory(request: &Request<'_>, path: &str, mode: u16) -> Outcome<()> {
    request.service.directories().mkdirs(path, mode, None, true).wait().map(drop)
}

/// The byte ranges of the blocks that have a replica; where one has none, a run ends.
fn runs(blocks: &LocatedBlocks) -> Vec<Vec<Range<u64>>> {
    let ranges: Vec<Option<Range<u64>>> = blocks
        .blocks
        .iter()
        .map(|located| {
            let range = located.offset..located.offset + located.block().len;
            (!located.locations.replicas.is_empty()).then_some(range)
        })
        .collect();
    let runs = ranges.split(Option::is_none).filter(|run| !run.is_empty());
    runs.map(|run| run.iter().flatten().cloned().collect()).collect()
}
