//! `concat`.

use super::Files;
use crate::Result;
use crate::access::{Check, READ, WRITE};
use crate::error::{ConcatError, LimitError, refuse};
use crate::limits::check_text;
use crate::quota::{Counts, space};
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::walk::{is_reserved_inodes, is_reserved_raw};
use zerohop_journal::op::ConcatDelete;

/// Files that readers of an edit log accept in one `OP_CONCAT_DELETE` (`MAX_CONCAT_SRC`).
const SOURCES_MAX: usize = 1024 * 1024;

/// What an `OP_CONCAT_DELETE` takes besides names, bytes, rounded up.
const EDIT_LEN: usize = 64;

impl Files<'_> {
    /// Moves the blocks of `sources` to the end of `target`, and removes the sources.
    ///
    /// # Errors
    /// As Hadoop's `concat`.
    pub fn concat(&mut self, target: &str, sources: &[String]) -> Result<()> {
        check_concat_paths(target, sources)?;
        self.call.begin(|| format!("Cannot concat {target}"))?;
        self.check_concat_edit(target, sources)?;
        let located = self.call.access().resolve(target, DirOp::Write)?;
        self.call.access().check_access_to(&located, WRITE)?;
        let slot = self.call.state.paths().file_at(located.last(), target)?;
        if self.call.state.files().writer(slot).is_some() {
            return refuse(ConcatError::TargetOpen { path: target.to_owned() });
        }
        let slots = self.check_sources((target, slot), sources)?;
        let delta = self.concat_delta(slot, &slots);
        self.call.state.ledger().verify_quota(
            self.call.state.tree().get(slot).parent,
            &delta,
            None,
        )?;
        let op = ConcatDelete {
            target: target.to_owned(),
            sources: sources.to_vec(),
            timestamp_ms: self.call.wall_ms() as i64,
        };
        self.call.commit_call(op).map(drop)
    }

    /// Refuses more names than one edit can hold.
    fn check_concat_edit(&self, target: &str, sources: &[String]) -> Result<()> {
        check_text("The path", target)?;
        sources.iter().try_for_each(|source| check_text("The path", source))?;
        // A character of four bytes takes six in an edit.
        let len = |path: &str| 2 + path.len() / 2 * 3 + 2;
        let total = EDIT_LEN + len(target) + sources.iter().map(|path| len(path)).sum::<usize>();
        if total > self.call.params.op_size_max || sources.len() > SOURCES_MAX {
            return refuse(LimitError::Concat {
                files: sources.len(),
                edit_len: total,
                edit_len_max: self.call.params.op_size_max,
                files_max: SOURCES_MAX,
            });
        }
        Ok(())
    }

    fn check_sources(&self, target: (&str, Slot), sources: &[String]) -> Result<Vec<Slot>> {
        let mut slots: Vec<Slot> = Vec::with_capacity(sources.len());
        let mut twice = false;
        for source in sources {
            let located = self.call.access().resolve(source, DirOp::Write)?;
            let check = Check { access: Some(READ), ..Check::default() };
            self.call.access().check(&located, check)?;
            self.call
                .access()
                .check(&located, Check { parent: Some(WRITE), ..Check::default() })?;
            let slot = self.call.state.paths().file_at(located.last(), source)?;
            self.check_source(source, slot, target)?;
            twice |= slots.contains(&slot);
            slots.push(slot);
        }
        if twice {
            return refuse(ConcatError::SourceTwice);
        }
        Ok(slots)
    }

    fn check_source(&self, source: &str, slot: Slot, (target, into): (&str, Slot)) -> Result<()> {
        let (path, target) = (|| source.to_owned(), || target.to_owned());
        if self.call.state.tree().get(slot).parent != self.call.state.tree().get(into).parent {
            return refuse(ConcatError::OtherDirectory { path: path(), target: target() });
        }
        if slot == into {
            return refuse(ConcatError::SourceIsTarget { path: path(), target: target() });
        }
        if self.call.state.files().writer(slot).is_some()
            || self.call.state.files().last_block(slot).is_none()
        {
            return refuse(ConcatError::EmptyOrOpen { path: path() });
        }
        let (block_size, target_block_size) =
            (self.call.state.files().block_size(slot), self.call.state.files().block_size(into));
        if block_size > target_block_size {
            return refuse(ConcatError::LargerBlocks {
                path: path(),
                block_size,
                target_block_size,
            });
        }
        Ok(())
    }

    fn concat_delta(&self, target: Slot, sources: &[Slot]) -> Counts {
        let replication = |slot: Slot| {
            self.call.state.tree().get(slot).as_file().map_or(0, |file| file.replication())
        };
        let mut delta = Counts::default();
        for source in sources {
            let bytes = self.call.state.ledger().file_len(*source) as i64;
            delta.add(&space(self.call.state.effective_policy(target), replication(target), bytes));
            delta.add(
                &space(self.call.state.effective_policy(*source), replication(*source), bytes)
                    .negated(),
            );
        }
        delta.names = -(sources.len() as i64);
        delta
    }
}

fn check_concat_paths(target: &str, sources: &[String]) -> Result<()> {
    if target.is_empty() {
        return refuse(ConcatError::NoTarget);
    }
    if sources.is_empty() {
        return refuse(ConcatError::NoSources);
    }
    let reserved = |path: &&str| is_reserved_raw(path) || is_reserved_inodes(path);
    let mut all = std::iter::once(target).chain(sources.iter().map(String::as_str));
    match all.find(reserved) {
        Some(path) => refuse(ConcatError::ReservedPath { path: path.to_owned() }),
        None => Ok(()),
    }
}
