//! Files joined to the end of another.

use crate::access::{Check, READ, WRITE};
use crate::fail::{fail, illegal, io};
use crate::limits::check_text;
use crate::quota::{Counts, space};
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::walk::{is_reserved_inodes, is_reserved_raw};
use crate::{Namespace, OpContext, Result};
use zerohop_journal::op::ConcatDelete;
use zerohop_wire::JavaException;

/// Files that readers of an edit log accept in one `OP_CONCAT_DELETE` (`MAX_CONCAT_SRC`).
const SOURCES_MAX: usize = 1024 * 1024;

/// What an `OP_CONCAT_DELETE` takes besides names, bytes, rounded up.
const EDIT_LEN: usize = 64;

impl Namespace {
    /// Moves the blocks of `sources` to the end of `target`; the sources are gone.
    ///
    /// # Errors
    /// As Hadoop's `concat`.
    pub fn concat(&mut self, ctx: &OpContext, target: &str, sources: &[String]) -> Result<()> {
        check_concat_paths(target, sources)?;
        self.begin(ctx, || format!("Cannot concat {target}"))?;
        self.check_concat_edit(target, sources)?;
        let located = self.resolve(ctx, target, DirOp::Write)?;
        self.check_access_to(ctx, &located, WRITE)?;
        let slot = self.state.file_at(located.last(), target)?;
        if self.state.writer(slot).is_some() {
            return illegal(format!("concat: target file {target} is under construction"));
        }
        let slots = self.check_sources(ctx, (target, slot), sources)?;
        let delta = self.concat_delta(slot, &slots);
        self.state.verify_quota(self.state.tree().get(slot).parent, &delta, None)?;
        let op = ConcatDelete {
            target: target.to_owned(),
            sources: sources.to_vec(),
            timestamp_ms: self.wall_ms() as i64,
        };
        self.commit_call(ctx, op).map(drop)
    }

    /// The edit names all sources: it must be one that can be read again.
    fn check_concat_edit(&self, target: &str, sources: &[String]) -> Result<()> {
        check_text("The path", target)?;
        sources.iter().try_for_each(|source| check_text("The path", source))?;
        // A letter of four bytes takes six there.
        let len = |path: &str| 2 + path.len() / 2 * 3 + 2;
        let total = EDIT_LEN + len(target) + sources.iter().map(|path| len(path)).sum::<usize>();
        if total > self.params.op_size_max || sources.len() > SOURCES_MAX {
            return io(format!(
                "Cannot concat {} files in one call: their names make an edit of up to {total} bytes, more than \
                 dfs.namenode.max.op.size={}, or they are more than {SOURCES_MAX}. Use several calls",
                sources.len(),
                self.params.op_size_max
            ));
        }
        Ok(())
    }

    fn check_sources(
        &self,
        ctx: &OpContext,
        target: (&str, Slot),
        sources: &[String],
    ) -> Result<Vec<Slot>> {
        let mut slots: Vec<Slot> = Vec::with_capacity(sources.len());
        let mut twice = false;
        for source in sources {
            let located = self.resolve(ctx, source, DirOp::Write)?;
            let check = Check { access: Some(READ), ..Check::default() };
            self.check(ctx, &located, check)?;
            self.check(ctx, &located, Check { parent: Some(WRITE), ..Check::default() })?;
            let slot = self.state.file_at(located.last(), source)?;
            self.check_source(source, slot, target)?;
            twice |= slots.contains(&slot);
            slots.push(slot);
        }
        if twice {
            return illegal("concat: at least two of the source files are the same");
        }
        Ok(slots)
    }

    fn check_source(&self, source: &str, slot: Slot, (target, into): (&str, Slot)) -> Result<()> {
        if self.state.tree().get(slot).parent != self.state.tree().get(into).parent {
            return illegal(format!(
                "Source file {source} is not in the same directory with the target {target}"
            ));
        }
        if slot == into {
            return illegal(format!(
                "concat: the src file {source} is the same with the target file {target}"
            ));
        }
        if self.state.writer(slot).is_some() || self.state.last_block(slot).is_none() {
            return illegal(format!(
                "concat: source file {source} is invalid or empty or underConstruction"
            ));
        }
        let (size, limit) = (self.state.block_size(slot), self.state.block_size(into));
        if size > limit {
            return illegal(format!(
                "concat: source file {source} has preferred block size {size} which is greater than the target file's \
                 preferred block size {limit}"
            ));
        }
        Ok(())
    }

    fn concat_delta(&self, target: Slot, sources: &[Slot]) -> Counts {
        let replication =
            |slot: Slot| self.state.tree().get(slot).as_file().map_or(0, |file| file.replication());
        let mut delta = Counts::default();
        for source in sources {
            let bytes = self.state.file_len(*source) as i64;
            delta.add(&space(self.state.effective_policy(target), replication(target), bytes));
            delta.add(
                &space(self.state.effective_policy(*source), replication(*source), bytes).negated(),
            );
        }
        delta.names = -(sources.len() as i64);
        delta
    }
}

fn check_concat_paths(target: &str, sources: &[String]) -> Result<()> {
    if target.is_empty() {
        return fail(JavaException::IllegalArgument, "Target file name is empty");
    }
    if sources.is_empty() {
        return fail(JavaException::IllegalArgument, "No sources given");
    }
    let reserved = |path: &&str| is_reserved_raw(path) || is_reserved_inodes(path);
    let mut all = std::iter::once(target).chain(sources.iter().map(String::as_str));
    match all.find(reserved) {
        Some(path) => {
            io(format!("Concat operation doesn't support .reserved relative path : {path}"))
        }
        None => Ok(()),
    }
}
