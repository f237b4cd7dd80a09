//! `/fsck`: what `hdfs fsck` prints. Apache's client shows the text as it is and takes its exit code from the last line.

mod asked;
mod mend;
mod result;

use super::date::java_date;
use super::page::{query, text};
use super::quiet::Remote;
use crate::core::Core;
use asked::{Options, Remedy};
use axum::extract::{ConnectInfo, RawQuery, State};
use axum::response::Response;
use result::Totals;
use std::collections::HashMap;
use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_namespace::blocks::ReplicaCounts;
use zerohop_namespace::{FileKind, FileStatus, LocatedBlock, LocatedBlocks, OpContext};
use zerohop_wire::{BlockId, ExtendedBlock, JavaException, RemoteException};

pub(super) async fn page(
    State(core): State<Arc<Core>>,
    ConnectInfo(Remote(remote)): ConnectInfo<Remote>,
    raw: RawQuery,
) -> Response {
    let query = query(raw);
    let report = tokio::task::spawn_blocking(move || Fsck::new(&core, &query, remote).run()).await;
    text("text/plain; charset=utf-8", report.unwrap_or_else(|error| error.to_string()))
}

struct Fsck<'a> {
    core: &'a Core,
    op: OpContext,
    path: String,
    block_ids: Option<String>,
    list_corrupt: bool,
    cookie: Option<String>,
    unsupported: Option<&'static str>,
    options: Options,
    remedy: Remedy,
    /// Something was not done that was asked for.
    has_failed: bool,
    remote: SocketAddr,
    out: String,
    totals: Totals,
}

impl<'a> Fsck<'a> {
    fn new(core: &'a Core, query: &HashMap<String, String>, remote: SocketAddr) -> Self {
        let has = |name: &str| query.contains_key(name);
        let user =
            query.get("user.name").or_else(|| query.get("ugi")).map_or("dr.who", String::as_str);
        let groups = core.groups.of(user);
        let params = &core.settings.namespace_params;
        let superuser = user == params.superuser || groups.contains(&params.supergroup);
        let now = core.clock.now();
        let op = OpContext { user: user.into(), groups, superuser, ..OpContext::internal(now) };
        Self {
            core,
            op,
            path: query.get("path").cloned().unwrap_or_else(|| "/".to_owned()),
            block_ids: query.get("blockId").cloned(),
            list_corrupt: has("listcorruptfileblocks"),
            cookie: query.get("startblockafter").cloned(),
            unsupported: ["replicate", "storagepolicies"].into_iter().find(|name| has(name)),
            remedy: Remedy::asked(has),
            has_failed: false,
            options: Options::asked(has),
            remote,
            out: String::new(),
            totals: Totals::new(params.replication_default, params.replication_min),
        }
    }

    fn line(&mut self, text: impl AsRef<str>) {
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    fn run(mut self) -> String {
        let started = self.core.clock.now();
        let (user, remote) = (self.op.user.clone(), self.remote.ip());
        let by = format!("FSCK started by {user} (auth:SIMPLE) from /{remote}");
        if let Some(ids) = self.block_ids.take() {
            self.line(format!("{by} at {}", java_date(started.wall_ms)));
            ids.split_whitespace().for_each(|id| self.block(id));
            return self.out;
        }
        self.line(format!("{by} for path {} at {}", self.path, java_date(started.wall_ms)));
        if let Err(error) = self.checked(started.mono_ms) {
            self.ended(started.mono_ms);
            self.line(error.message);
            _ = write!(self.out, "\n\nFsck on path '{}' FAILED", self.path);
        }
        self.out
    }

    fn ended(&mut self, started_ms: u64) {
        let now = self.core.clock.now();
        self.line(format!(
            "FSCK ended at {} in {} milliseconds",
            java_date(now.wall_ms),
            now.mono_ms - started_ms
        ));
    }

    fn checked(&mut self, started_ms: u64) -> Result<(), RemoteException> {
        if let Some(name) = self.unsupported {
            let message = format!("fsck -{name} is not supported by this NameNode");
            return Err(JavaException::UnsupportedOperation.with(message));
        }
        let Some(status) = self.core.read(|namespace| namespace.file_info(&self.op, &self.path))?
        else {
            _ = write!(self.out, "\n\nPath '{}' does not exist", self.path);
            return Ok(());
        };
        if self.list_corrupt {
            return self.corrupt_files();
        }
        self.check(&self.path.clone(), &status)?;
        self.summary(started_ms)
    }

    fn summary(&mut self, started_ms: u64) -> Result<(), RemoteException> {
        let (nodes, racks) = self
            .core
            .read(|namespace| (namespace.blocks.stats().live_nodes, namespace.blocks.rack_count()));
        let verdict = if self.totals.is_healthy() { "HEALTHY" } else { "CORRUPT" };
        self.line(format!("\nStatus: {verdict}"));
        self.line(format!(" Number of data-nodes:\t{nodes}"));
        self.line(format!(" Number of racks:\t\t{racks}"));
        self.line(format!(" Total dirs:\t\t\t{}", self.totals.dirs));
        self.line(format!(" Total symlinks:\t\t{}", self.totals.symlinks));
        self.line("\nReplicated Blocks:");
        self.line(self.totals.to_string());
        self.line("\nErasure Coded Block Groups:");
        self.line(result::NO_ERASURE_CODING);
        self.ended(started_ms);
        if self.has_failed {
            return Err(JavaException::Io.with("fsck encountered internal errors!"));
        }
        _ = write!(self.out, "\n\nThe filesystem under path '{}' is {verdict}", self.path);
        Ok(())
    }

    fn check(&mut self, path: &str, status: &FileStatus) -> Result<(), RemoteException> {
        match status.kind {
            FileKind::Directory => self.folder(path),
            FileKind::File => self.file(path, status),
            FileKind::Symlink => {
                self.totals.symlinks += 1;
                if self.options.files {
                    self.line(format!("{path} <symlink>"));
                }
                Ok(())
            }
        }
    }

    fn folder(&mut self, path: &str) -> Result<(), RemoteException> {
        if self.options.files {
            self.line(format!("{path} <dir>"));
        }
        self.totals.dirs += 1;
        let mut after = Vec::new();
        loop {
            // One page at a time: nobody waits for the whole walk.
            let page =
                self.core.read(|namespace| namespace.listing(&self.op, path, &after, false))?;
            let Some(page) = page else { return Ok(()) };
            let base = if path == "/" { "" } else { path };
            for entry in &page.entries {
                self.check(&format!("{base}/{}", entry.name), entry)?;
            }
            match page.entries.last() {
                Some(last) if page.remaining > 0 => after = last.name.clone().into_bytes(),
                _ => return Ok(()),
            }
        }
    }

    fn file(&mut self, path: &str, status: &FileStatus) -> Result<(), RemoteException> {
        let found = self.core.read(|namespace| {
            let (blocks, _) = namespace.block_locations(&self.op, path, 0, status.len.max(1))?;
            let ids = blocks.blocks.iter().map(|block| block.block().id);
            let counts: Vec<_> = ids.map(|id| namespace.blocks.replica_counts(id)).collect();
            Ok((blocks, counts))
        });
        let (blocks, counts) = match found {
            Ok(found) => found,
            Err(error) => {
                let error: RemoteException = error;
                // Deleted since it was listed.
                return if error.class.ends_with("FileNotFoundException") {
                    Ok(())
                } else {
                    Err(error)
                };
            }
        };
        if blocks.under_construction && !self.options.open_files {
            self.totals.add_open(status.len, blocks.blocks.len() as u64);
            return Ok(());
        }
        self.totals.files += 1;
        self.totals.size += status.len;
        self.totals.blocks += blocks.blocks.len() as u64;
        self.file_line(path, status, &blocks);
        self.blocks(path, status, &blocks, &counts);
        Ok(())
    }

    fn file_line(&mut self, path: &str, status: &FileStatus, blocks: &LocatedBlocks) {
        let FileStatus { len, replication, .. } = status;
        let text = format!(
            "{path} {len} bytes, replicated: replication={replication}, {} block(s)",
            blocks.blocks.len()
        );
        if self.options.open_files && blocks.under_construction {
            _ = write!(self.out, "{text}, OPENFORWRITE: ");
        } else if self.options.files {
            _ = write!(self.out, "{text}: ");
        } else if self.totals.files.is_multiple_of(100) {
            self.out.push('.');
        }
    }

    fn blocks(
        &mut self,
        path: &str,
        status: &FileStatus,
        blocks: &LocatedBlocks,
        counts: &[ReplicaCounts],
    ) {
        let open_last =
            blocks.last.as_ref().filter(|_| !blocks.last_complete).map(LocatedBlock::block);
        let mut report = String::new();
        let mut file = Damage::default();
        let complete =
            blocks.blocks.iter().zip(counts).filter(|(block, _)| Some(block.block()) != open_last);
        let mut number = 0;
        for (located, counts) in complete {
            self.one_block(path, status, located, counts, &mut file, (number, &mut report));
            number += 1;
        }
        if let (Some(block), Some(last)) = (open_last, &blocks.last) {
            let (name, expected) = (self.name(block), last.locations.replicas.len());
            _ = write!(
                report,
                "\nUnder Construction Block:\n{number}. {name} len={} Expected_repl={expected}",
                block.len
            );
            report.push_str(&self.replica_info(last));
        }
        if file.missing > 0 || file.corrupt > 0 {
            self.mend(path, status, blocks);
        }
        self.file_verdict(path, &file);
        if self.options.files && self.options.blocks {
            self.line(report);
        }
    }

    fn name(&self, block: zerohop_wire::Block) -> String {
        ExtendedBlock { pool: self.core.identity.pool.clone(), block }.to_string()
    }

    fn one_block(
        &mut self,
        path: &str,
        status: &FileStatus,
        located: &LocatedBlock,
        counts: &ReplicaCounts,
        file: &mut Damage,
        (number, report): (usize, &mut String),
    ) {
        let block = located.block();
        let name = self.name(block);
        let replicas =
            counts.live + counts.decommissioned + counts.decommissioning + counts.maintenance;
        let is_corrupt = located.locations.corrupt;
        let target = u32::from(status.replication);
        self.totals.add_block(counts, replicas, target);
        if is_corrupt {
            self.totals.add_corrupt(block.len);
            file.corrupt += 1;
            file.corrupt_size += block.len;
            let text = format!(
                "\n{path}: CORRUPT blockpool {} block blk_{}",
                self.core.identity.pool, block.id
            );
            self.line(text);
        }
        if replicas < target && replicas > 0 {
            file.under_replicated += 1;
            if !self.options.files {
                _ = write!(self.out, "\n{path}: ");
            }
            self.line(format!(
                " Under replicated {name}. Target Replicas is {target} but found {} live replica(s), {} decommissioned \
                 replica(s), {} decommissioning replica(s).",
                counts.live, counts.decommissioned, counts.decommissioning
            ));
        }
        _ = write!(report, "{number}. {name} len={}", block.len);
        if replicas == 0 && !is_corrupt {
            report.push_str(" MISSING!");
            self.totals.add_missing(block.len);
            file.missing += 1;
            file.missing_size += block.len;
        } else {
            _ = write!(report, " Live_repl={}", counts.live);
            report.push_str(&self.replica_info(located));
        }
        report.push('\n');
    }

    fn replica_info(&self, located: &LocatedBlock) -> String {
        let Options { locations, racks, replica_details, .. } = self.options;
        if !locations && !racks && !replica_details {
            return String::new();
        }
        let one = |replica: &zerohop_namespace::blocks::ReplicaLocation| {
            let place = if racks {
                format!("{}/{}", replica.node.rack, replica.node.id.xfer_addr())
            } else {
                let (address, storage) = (replica.node.id.xfer_addr(), &replica.storage_id);
                format!(
                    "DatanodeInfoWithStorage[{address},{storage},{}]",
                    replica.kind.as_str_name()
                )
            };
            let state = if located.locations.corrupt { "CORRUPT" } else { "LIVE" };
            if replica_details { format!("{place}({state})") } else { place }
        };
        let places: Vec<_> = located.locations.replicas.iter().map(one).collect();
        format!("  [{}]", places.join(", "))
    }

    fn file_verdict(&mut self, path: &str, file: &Damage) {
        let is_damaged = file.missing > 0 || file.corrupt > 0;
        self.totals.corrupt_files += u64::from(is_damaged);
        let (before, after) =
            if self.options.files { (" ".to_owned(), "\n") } else { (format!("\n{path}: "), ".") };
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
        if self.options.files && !is_damaged && file.under_replicated == 0 {
            self.line(" OK");
        }
    }

    fn corrupt_files(&mut self) -> Result<(), RemoteException> {
        let cookie = self.cookie.as_deref();
        let (files, next) = self
            .core
            .read(|namespace| namespace.list_corrupt_file_blocks(&self.op, &self.path, cookie))?;
        self.line(format!("Cookie:\t{next}"));
        files.iter().for_each(|file| self.line(file));
        let count = match (files.len(), next.as_str()) {
            (0, "0") => "no".to_owned(),
            (0, _) => "no more".to_owned(),
            (some, _) => some.to_string(),
        };
        self.line(format!(
            "\n\nThe filesystem under path '{}' has {count} CORRUPT files\n",
            self.path
        ));
        Ok(())
    }

    /// `-blockId blk_<id>...`
    fn block(&mut self, name: &str) {
        let digits =
            name.strip_prefix("blk_").map(|rest| rest.split('_').next().unwrap_or_default());
        let Some(id) = digits.and_then(|digits| digits.parse().ok()).map(BlockId) else {
            return self.line(format!("Incorrect blockId format: {name}"));
        };
        self.line("");
        let found = self.core.read(|namespace| {
            let stored = namespace.blocks.get(id)?;
            let path = namespace.path_of(stored.file).unwrap_or_default();
            Some((
                stored,
                path,
                namespace.blocks.replica_counts(id),
                namespace.blocks.locations(id, "")?,
            ))
        });
        let Some((stored, path, counts, locations)) = found else {
            return self.line(format!("Block {name} does not exist"));
        };
        self.line(format!("Block Id: {name}"));
        self.line(format!("Block belongs to: {path}"));
        self.line(format!("No. of Expected Replica: {}", stored.replication));
        self.line(format!("No. of live Replica: {}", counts.live));
        self.line(format!("No. of excess Replica: {}", counts.excess));
        self.line("No. of stale Replica: 0");
        self.line(format!("No. of decommissioned Replica: {}", counts.decommissioned));
        self.line(format!("No. of decommissioning Replica: {}", counts.decommissioning));
        self.line(format!("No. of corrupted Replica: {}", counts.corrupt));
        for replica in &locations.replicas {
            let state = if locations.corrupt { "is CORRUPT" } else { "is HEALTHY" };
            let (host, rack) = (&replica.node.id.host, &replica.node.rack);
            self.line(format!("Block replica on datanode/rack: {host}{rack} {state}"));
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
}
