//! What the NameNode has still to do, written to a file in its log directory (`metaSave`).

use super::answer::{Answer, Outcome};
use super::call::{ServiceCall, audit, on_blocking_thread};
use crate::audit::Line;
use crate::call_error::CallError;
use crate::ha::OperationCategory as Category;
use std::fmt::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use zerohop_namespace::Namespace;
use zerohop_namespace::blocks::{AdminState, BlockCheck, Limited, NodeFilter, NodeReport};
use zerohop_wire::BlockId;

/// Blocks of a list that are written. The namespace is locked for readers meanwhile, and an operator reads the first ones.
const LISTED_MAX: usize = 10_000;

/// Writes blocks that lack replicas, copies and deletions that are outstanding, and the DataNodes to the file `name` in the
/// directory that HADOOP_LOG_DIR names; replaces the file. For the superuser.
pub(super) fn metasave(call: &ServiceCall<'_>, name: &str) -> Answer<()> {
    let checked = call.check_superuser().and_then(|()| Ok(call.core.ha.check(Category::Read)?));
    let path = match checked.and_then(|()| file_in_log_directory(name)) {
        Ok(path) => path,
        Err(error) => return Answer::Ready(Err(error)),
    };
    let (core, caller) = (call.core.clone(), call.caller.clone());
    Answer::later(async move {
        let for_work = core.clone();
        let work = move || {
            let text = for_work.read(|namespace| report(namespace, LISTED_MAX));
            zerohop_system::files::write(&path, text)
                .map_err(|source| CallError::Write { path, source })
        };
        let outcome = on_blocking_thread(work).await.and_then(|done| done);
        audit(&core, &caller, &outcome, Line::of("metaSave"));
        outcome
    })
}

/// A name that leads out of the directory is refused: the NameNode would write over any file of its user.
fn file_in_log_directory(name: &str) -> Outcome<PathBuf> {
    let mut components = Path::new(name).components();
    if !matches!((components.next(), components.next()), (Some(Component::Normal(_)), None)) {
        return Err(CallError::NotAFileName { name: name.to_owned() });
    }
    match std::env::var_os("HADOOP_LOG_DIR").filter(|directory| !directory.is_empty()) {
        Some(directory) => Ok(Path::new(&directory).join(name)),
        None => Err(CallError::NoLogDirectory),
    }
}

fn report(namespace: &Namespace, max: usize) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_report(&mut text, namespace, max);
    text
}

fn write_report(out: &mut String, namespace: &Namespace, max: usize) -> fmt::Result {
    let (inodes, blocks) = (namespace.stats().inodes, namespace.blocks().block_count());
    writeln!(
        out,
        "{inodes} files and directories, {blocks} blocks = {} total filesystem objects",
        inodes + blocks
    )?;
    let nodes = namespace.blocks().datanodes().reports(NodeFilter::All);
    let live = nodes.iter().filter(|node| node.alive).count();
    writeln!(out, "Live Datanodes: {live}\nDead Datanodes: {}", nodes.len() - live)?;

    let backlog = namespace.blocks().lookup().backlog(max);
    let waiting = &backlog.waiting;
    writeln!(out, "Metasave: Blocks waiting for reconstruction: {}", waiting.total)?;
    write_blocks(out, namespace, waiting)?;
    writeln!(out, "Metasave: Blocks currently missing: {}", backlog.missing.total)?;
    write_blocks(out, namespace, &backlog.missing)?;
    // None is postponed here (docs/compat.md).
    writeln!(out, "Mis-replicated blocks that have been postponed:")?;
    writeln!(out, "Metasave: Blocks being reconstructed: {}", backlog.copying.total)?;
    for copying in &backlog.copying.first {
        let (block, seconds, copies) = (copying.block, copying.age_ms / 1000, copying.copies);
        writeln!(out, "{block} Age: {seconds} s NumReconstructInProgress: {copies}")?;
    }
    write_rest(out, &backlog.copying)?;

    let deletions: u64 = backlog.deletions.iter().map(|(_, replicas)| replicas.total).sum();
    let from = backlog.deletions.len();
    writeln!(out, "Metasave: Blocks {deletions} waiting deletion from {from} datanodes.")?;
    for (node, replicas) in &backlog.deletions {
        let listed: Vec<String> = replicas.first.iter().map(ToString::to_string).collect();
        writeln!(
            out,
            "{}\nLength: {} blocks={}",
            node.xfer_addr(),
            replicas.total,
            listed.join(" ")
        )?;
        write_rest(out, replicas)?;
    }
    writeln!(out, "Corrupt Blocks:")?;
    for check in
        backlog.corrupt.first.iter().filter_map(|id| namespace.blocks().lookup().inspect(*id))
    {
        write_corrupt(out, &check)?;
    }
    write_rest(out, &backlog.corrupt)?;
    writeln!(out, "Metasave: Number of datanodes: {}", nodes.len())?;
    nodes.iter().try_for_each(|node| write_datanode(out, node))
}

fn write_blocks(out: &mut String, namespace: &Namespace, blocks: &Limited<BlockId>) -> fmt::Result {
    for check in blocks.first.iter().filter_map(|id| namespace.blocks().lookup().inspect(*id)) {
        let path = namespace.path_of(check.stored.file);
        let (path, counts) = (path.as_deref().unwrap_or("[orphaned]"), check.counts);
        let leaving = counts.decommissioning + counts.decommissioned;
        let missing = if counts.live + leaving == 0 { " MISSING" } else { "" };
        write!(
            out,
            "{path}: {}{missing} (replicas: live: {} decommissioning and decommissioned: {leaving} corrupt: {} in excess: {} \
             maintenance mode: {}) ",
            check.stored.block, counts.live, counts.corrupt, counts.excess, counts.maintenance
        )?;
        for replica in &check.replicas {
            let state = if replica.corrupt.is_some() { "(corrupt)" } else { "" };
            write!(out, " {}{state} : ", replica.location.node.id.xfer_addr())?;
        }
        writeln!(out)?;
    }
    write_rest(out, blocks)
}

fn write_corrupt(out: &mut String, check: &BlockCheck) -> fmt::Result {
    let block = check.stored.block;
    for replica in &check.replicas {
        let Some(reason) = replica.corrupt else { continue };
        writeln!(
            out,
            "Block={block}\tSize={}\tNode={}\tStorageID={}\tTotalReplicas={}\tReason={}",
            block.len,
            replica.location.node.id.xfer_addr(),
            replica.location.storage_id,
            check.replicas.len(),
            reason.name(),
        )?;
    }
    Ok(())
}

fn write_datanode(out: &mut String, node: &NodeReport) -> fmt::Result {
    let stats = &node.info.stats;
    let admin = match stats.admin {
        AdminState::Normal => "IN",
        AdminState::DecommissionInProgress => "DP",
        AdminState::Decommissioned => "DD",
        AdminState::EnteringMaintenance => "EM",
        AdminState::InMaintenance => "IM",
    };
    let (capacity, used, remaining) = (stats.capacity, stats.dfs_used, stats.remaining);
    let life = if node.alive { "live" } else { "dead" };
    writeln!(
        out,
        "{} {admin} {life} capacity {capacity} used {used} remaining {remaining}",
        node.info.id.xfer_addr()
    )
}

/// Says that a list was cut.
fn write_rest<T>(out: &mut String, list: &Limited<T>) -> fmt::Result {
    match list.total.saturating_sub(list.first.len() as u64) {
        0 => Ok(()),
        rest => writeln!(out, "... and {rest} more"),
    }
}
