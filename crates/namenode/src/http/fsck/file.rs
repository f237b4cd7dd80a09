//! One file: its line, its blocks, what is wrong with it.

use super::block::replica_info;
use super::mend::Mender;
use super::out::Out;
use super::policies::PolicySummary;
use super::request::Request;
use super::result::Totals;
use crate::service::Outcome;
use std::fmt::Write;
use zerohop_namespace::blocks::{BlockCheck, Misplaced};
use zerohop_namespace::{Error, FileStatus, LocatedBlock, LocatedBlocks};
use zerohop_wire::{Block, BlockId, ExtendedBlock};

/// A block as it was found; `None` if it was deleted since.
type Checked = Option<(BlockCheck, Option<Misplaced>)>;

/// Replicas that can be read, now or after a maintenance.
fn found(check: &(BlockCheck, Option<Misplaced>)) -> u32 {
    let counts = &check.0.counts;
    counts.live + counts.decommissioned + counts.decommissioning + counts.maintenance
}

/// The files checked so far, for one request.
pub(super) struct FileChecks<'a> {
    pub(super) request: Request<'a>,
    pub(super) out: Out,
    pub(super) totals: Totals,
    /// Asked for by `-storagepolicies`.
    pub(super) policies: Option<PolicySummary>,
    pub(super) mender: Mender,
}

impl FileChecks<'_> {
    /// Checks a file, and writes what is to be said of it.
    pub(super) fn check(&mut self, path: &str, status: &FileStatus) -> Outcome<()> {
        let op = self.request.service.op();
        let found = self.request.core.read(|namespace| {
            let (blocks, _) = namespace.view(&op).block_locations(path, 0, status.len.max(1))?;
            let checks = blocks.blocks.iter().map(|located| {
                let check = namespace.blocks().lookup().inspect(located.block().id)?;
                let replicas = &located.locations.replicas;
                Some((
                    check,
                    namespace.blocks().datanodes().misplaced(replicas, status.replication),
                ))
            });
            Ok((checks.collect(), blocks))
        });
        let (checks, blocks): (Vec<_>, _) = match found {
            Ok(found) => found,
            // Deleted since it was listed.
            Err(Error::NotFound(_)) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if blocks.under_construction && !self.request.options.open_files {
            self.totals.add_open(status.len, blocks.blocks.len() as u64);
            return Ok(());
        }
        self.totals.files += 1;
        self.totals.size += status.len;
        self.totals.blocks += blocks.blocks.len() as u64;
        self.file_line(path, status, &blocks);
        self.blocks(path, status, &blocks, &checks);
        Ok(())
    }

    fn file_line(&mut self, path: &str, status: &FileStatus, blocks: &LocatedBlocks) {
        let FileStatus { len, replication, .. } = status;
        let text = format!(
            "{path} {len} bytes, replicated: replication={replication}, {} block(s)",
            blocks.blocks.len()
        );
        if self.request.options.open_files && blocks.under_construction {
            _ = write!(self.out, "{text}, OPENFORWRITE: ");
        } else if self.request.options.files {
            _ = write!(self.out, "{text}: ");
        } else if self.totals.files.is_multiple_of(100) {
            self.out.push(".");
        }
    }

    fn blocks(
        &mut self,
        path: &str,
        status: &FileStatus,
        blocks: &LocatedBlocks,
        checks: &[Checked],
    ) {
        let open_last =
            blocks.last.as_ref().filter(|_| !blocks.last_complete).map(LocatedBlock::block);
        let mut report = String::new();
        let mut file = Damage::default();
        let complete = blocks
            .blocks
            .iter()
            .zip(checks)
            .filter(|(block, _)| Some(block.block()) != open_last)
            .filter_map(|(block, check)| Some((block, check.as_ref()?)));
        let mut number = 0;
        for (located, check) in complete {
            self.one_block(path, status, located, check, &mut file);
            let is_corrupt = located.locations.corrupt;
            _ = write!(
                report,
                "{number}. {} len={}",
                self.name(located.block()),
                located.block().len
            );
            if found(check) == 0 && !is_corrupt {
                report.push_str(" MISSING!");
            } else {
                _ = write!(report, " Live_repl={}", check.0.counts.live);
                report.push_str(&replica_info(&self.request, &check.0));
            }
            report.push('\n');
            number += 1;
        }
        let last = open_last.and_then(|block| {
            let check =
                self.request.core.read(|namespace| namespace.blocks().lookup().inspect(block.id));
            Some((block, check?))
        });
        if let Some((block, check)) = last {
            let (name, expected) = (self.name(block), check.replicas.len());
            _ = write!(
                report,
                "\nUnder Construction Block:\n{number}. {name} len={} Expected_repl={expected}",
                block.len
            );
            report.push_str(&replica_info(&self.request, &check));
        }
        if file.missing > 0 || file.corrupt > 0 {
            self.mender.mend(&self.request, &mut self.out, path, status, blocks);
        }
        self.file_verdict(path, &file);
        if self.request.options.files && self.request.options.blocks {
            self.out.line(report);
        }
        if self.request.options.replicate {
            self.replicate(path, &file.misplaced);
        }
    }

    fn name(&self, block: Block) -> String {
        ExtendedBlock { pool: self.request.core.identity.pool.clone(), block }.to_string()
    }

    fn one_block(
        &mut self,
        path: &str,
        status: &FileStatus,
        located: &LocatedBlock,
        check: &(BlockCheck, Option<Misplaced>),
        file: &mut Damage,
    ) {
        let block = located.block();
        let (name, replicas) = (self.name(block), found(check));
        let is_corrupt = located.locations.corrupt;
        let target = u32::from(status.replication);
        self.totals.add_block(&check.0, replicas, target);
        if is_corrupt {
            self.totals.add_corrupt(block.len);
            file.corrupt += 1;
            file.corrupt_size += block.len;
            let text = format!(
                "\n{path}: CORRUPT blockpool {} block blk_{}",
                self.request.core.identity.pool, block.id
            );
            self.out.line(text);
        }
        if replicas < target && replicas > 0 {
            file.under_replicated += 1;
            if !self.request.options.files {
                _ = write!(self.out, "\n{path}: ");
            }
            let found = self.found_replicas(&check.0);
            self.out.line(format!(
                " Under replicated {name}. Target Replicas is {target} but found {found}"
            ));
        }
        if let Some(Misplaced { racks_missing, racks }) = check.1 {
            file.misplaced.push(block.id);
            self.totals.add_misplaced();
            if !self.request.options.files {
                let start = if file.under_replicated == 0 { "\n" } else { "" };
                _ = write!(self.out, "{start}{path}: ");
            }
            self.out.line(format!(
                " Replica placement policy is violated for {name}. Block should be additionally replicated on \
                 {racks_missing} more rack(s). Total number of racks in the cluster: {racks}"
            ));
        }
        if let Some(policies) = &mut self.policies {
            policies.add(&located.locations.replicas, status.storage_policy);
        }
        if replicas == 0 && !is_corrupt {
            self.totals.add_missing(block.len);
            file.missing += 1;
            file.missing_size += block.len;
        }
    }

    /// The words of Hadoop's, which runs two sentences together where maintenance is shown.
    fn found_replicas(&self, check: &BlockCheck) -> String {
        let counts = &check.counts;
        let words = format!(
            "{} live replica(s), {} decommissioned replica(s), {} decommissioning replica(s)",
            counts.live, counts.decommissioned, counts.decommissioning
        );
        if !self.request.options.maintenance {
            return format!("{words}.");
        }
        let (entering, away) = (check.entering_maintenance(), check.in_maintenance());
        format!(
            "{words}{entering}, entering maintenance replica(s) and {away} in maintenance replica(s)."
        )
    }

    /// Queues blocks in too few racks for copies.
    fn replicate(&mut self, path: &str, misplaced: &[BlockId]) {
        if misplaced.is_empty() {
            return;
        }
        let (queued, _) = self.request.core.write(|namespace| {
            misplaced.iter().filter(|id| namespace.blocks_mut().requeue(**id)).count()
        });
        if queued < misplaced.len() {
            tracing::warn!(
                "Fsck: {queued} of {} badly placed blocks of {path} were queued: the NameNode orders no copies yet",
                misplaced.len()
            );
        }
        self.totals.queued += queued as u64;
    }

    fn file_verdict(&mut self, path: &str, file: &Damage) {
        let is_damaged = file.missing > 0 || file.corrupt > 0;
        self.totals.corrupt_files += u64::from(is_damaged);
        let (before, after) = if self.request.options.files {
            (" ".to_owned(), "\n")
        } else {
            (format!("\n{path}: "), ".")
        };
        if file.missing > 0 {
            let Damage { missing, missing_size, .. } = file;
            _ = write!(
                self.out,
                "{before}MISSING {missing} blocks of total size {missing_size} B{after}"
            );
        }
        if file.corrupt > 0 {
            let Damage { corrupt, corrupt_size, .. } = file;
            _ = write!(
                self.out,
                "{before}CORRUPT {corrupt} blocks of total size {corrupt_size} B{after}"
            );
        }
        if self.request.options.files
            && !is_damaged
            && file.under_replicated == 0
            && file.misplaced.is_empty()
        {
            self.out.line(" OK");
        }
    }
}

/// What is wrong with one file.
#[derive(Default)]
struct Damage {
    missing: u64,
    missing_size: u64,
    corrupt: u64,
    corrupt_size: u64,
    under_replicated: u64,
    /// Complete blocks in too few racks.
    misplaced: Vec<BlockId>,
}
