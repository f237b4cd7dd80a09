//! `doctor`: why local reads do not go locally, and what helps.
//!
//! It walks the way of a local read: the client's [`client`] configuration, a file's [`target`]
//! blocks, the [`datanode`] of this machine that has them and its settings, the [`socket`] between
//! them; it asks ([`ask`]) for descriptors and reads ([`verify`]) what they lead to. Nothing is
//! taken for granted because a step before it was well: a wrong setting and a full disk may meet.

mod ask;
mod client;
mod datanode;
mod legacy;
mod native;
mod read;
mod report;
mod socket;
mod target;
mod verify;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use zerohop_client::blocking::FileSystem;
use zerohop_client::{DatanodeInfo, DatanodeReportType, LocatedBlock};
use zerohop_conf::{Conf, keys};
use zerohop_proto::hdfs::Status;
use zerohop_transport::domain::effective_path;

use crate::failure::{Failure, Outcome, complain};
use crate::fs::{Location, pop_flag};
use crate::settings::Settings;
use ask::{Files, NoDescriptors, Slots};
use report::{Generation, Report};
use target::{READ_MAX, Target};
use verify::Damage;

pub const USAGE: &str = "Usage: doctor [--json] [PATH]
\tFinds out why reads do not go locally (short-circuit), and tells the fix of each fault.
\tReads PATH, or a file that it makes and removes; the exit code is 0 only if local reads work.";

pub fn run(mut settings: Settings, mut words: Vec<String>) -> i32 {
    let json = pop_flag("--json", &mut words);
    let mut work = || {
        settings.take_all(&mut words)?;
        if words.iter().any(|word| matches!(word.as_str(), "-h" | "-help" | "--help")) {
            sayln!("{USAGE}");
            return Ok(0);
        }
        let path = match words.as_slice() {
            [] => None,
            [path] if !path.starts_with('-') => Some(path.as_str()),
            _ => return Err(Failure::usage(USAGE)),
        };
        let conf = settings.load_for_cluster()?;
        Location::default_of(&conf)?;
        let mut report = Report::default();
        examine(&conf, path, &mut report)?;
        match json {
            true => sayln!("{:#}", report.json()),
            false => report.print(),
        }
        Ok(i32::from(!report.works()))
    };
    work().unwrap_or_else(|failure| complain("doctor", &failure))
}

fn examine(conf: &Conf, path: Option<&str>, report: &mut Report) -> Outcome {
    client::examine(conf, report)?;
    native::examine(report);
    let configured = conf.get(&keys::DFS_DOMAIN_SOCKET_PATH)?.trim().to_owned();
    let legacy = conf.get(&keys::DFS_CLIENT_USE_LEGACY_BLOCKREADER_LOCAL)?;
    if configured.is_empty() && !legacy {
        socket::unset(&client::site(conf), report);
    }
    let (sockets, known) = Default::default();
    let mut doctor = Doctor { conf, configured, legacy, report, sockets, known };
    match target::find(conf, path, doctor.report) {
        Ok(target) => {
            doctor.blocks(&target)?;
            read::examine(&target, doctor.report);
        }
        Err(namenode) => doctor.without_file(namenode.as_ref())?,
    }
    // What the DataNode would give is not in force where the client does not ask for it.
    if !conf.get(&keys::DFS_CLIENT_READ_SHORTCIRCUIT)? {
        report.generation = Generation::None;
    }
    Ok(())
}

/// What is known while blocks are looked at one by one.
struct Doctor<'a> {
    conf: &'a Conf,
    /// dfs.domain.socket.path, empty if it is not set.
    configured: String,
    /// Whether the client opens paths (HDFS-2246), and leaves the socket alone.
    legacy: bool,
    report: &'a mut Report,
    sockets: socket::ExaminedSockets,
    /// DataNodes whose settings were looked at.
    known: HashSet<String>,
}

impl Doctor<'_> {
    /// Without a file no block says which DataNode to ask; the sockets of this machine's DataNodes can be
    /// looked at all the same.
    fn without_file(&mut self, namenode: Option<&FileSystem>) -> Outcome {
        if self.configured.is_empty() || self.legacy {
            return Ok(());
        }
        let live = namenode.and_then(|fs| fs.datanode_report(DatanodeReportType::Live).ok());
        let here =
            live.unwrap_or_default().into_iter().filter(|n| datanode::is_this_machine(n.ip()));
        let mut paths: Vec<PathBuf> =
            here.map(|node| effective_path(&self.configured, node.transfer_port())).collect();
        if paths.is_empty() {
            // Only the superuser is told of DataNodes; their sockets can be seen by others too.
            paths = socket::present(Path::new(&self.configured));
        }
        if paths.is_empty() {
            self.report.skipped(
                "socket-file",
                format!(
                    "no socket is at {}, and no DataNode's port is known; is the DataNode of this machine running?",
                    self.configured
                ),
            );
        }
        for path in paths {
            socket::examine(&path, &mut self.sockets, self.report);
        }
        Ok(())
    }

    fn blocks(&mut self, target: &Target) -> Outcome {
        let (mut read, mut left) = (0, target.blocks.len());
        for block in &target.blocks {
            if read >= READ_MAX {
                break;
            }
            if !self.block(block)? {
                return Ok(());
            }
            read += block.block.block.len;
            left -= 1;
        }
        let more =
            if left > 0 { format!("; {left} more block(s) not read") } else { String::new() };
        self.report.verified = true;
        let found = format!("{}: {read} bytes are what their checksums say{more}", target.path);
        self.report.ok("verified-read", found);
        Ok(())
    }

    /// Looks at one block and reads it; whether that went well.
    fn block(&mut self, located: &LocatedBlock) -> Outcome<bool> {
        let shown = format!("blk_{}", located.block.block.id.0);
        let nodes: Vec<&DatanodeInfo> =
            located.nodes().filter(|node| datanode::is_this_machine(node.ip())).collect();
        if nodes.is_empty() {
            // In a container the addresses tell nothing; the socket does.
            return self.elsewhere(located, &shown);
        }
        if self.legacy {
            return self.by_path(located, &nodes, &shown);
        }
        for node in &nodes {
            if self.known.insert(node.uuid().to_owned()) {
                self.settings(node)?;
            }
        }
        if self.configured.is_empty() {
            return Ok(false);
        }
        let mut good = false;
        for node in nodes {
            let path = effective_path(&self.configured, node.transfer_port());
            good |= socket::examine(&path, &mut self.sockets, self.report)
                && self.read(located, &path, &node.to_string());
        }
        Ok(good)
    }

    /// Reads a block as the legacy client does.
    fn by_path(
        &mut self,
        located: &LocatedBlock,
        nodes: &[&DatanodeInfo],
        shown: &str,
    ) -> Outcome<bool> {
        let mut good = false;
        for node in nodes {
            let is_new = self.known.insert(node.uuid().to_owned());
            let files = legacy::examine(self.conf, node, located, is_new, self.report)?;
            good |=
                files.is_some_and(|files| self.verified(&files, located.block.block.len, shown));
        }
        Ok(good)
    }

    fn elsewhere(&mut self, located: &LocatedBlock, shown: &str) -> Outcome<bool> {
        let names: Vec<String> = located.nodes().map(ToString::to_string).collect();
        let names = names.join(", ");
        let paths: HashSet<PathBuf> = located
            .nodes()
            .filter(|_| !self.configured.is_empty() && !self.legacy)
            .map(|node| effective_path(&self.configured, node.transfer_port()))
            .collect();
        let here: Vec<&PathBuf> = paths.iter().filter(|path| path.exists()).collect();
        if here.is_empty() {
            self.report.fault(
                "datanode",
                format!("{shown} has no replica on this machine: {names}"),
                "run this on one of those machines, or name a file whose blocks are here; in a container, mount the DataNode's socket",
            );
            return Ok(false);
        }
        let mut good = false;
        for path in here {
            good |= socket::examine(path, &mut self.sockets, self.report)
                && self.read(located, path, &names);
        }
        Ok(good)
    }

    fn settings(&mut self, node: &DatanodeInfo) -> Outcome {
        self.report.ok("datanode", format!("{node} is on this machine"));
        match datanode::settings(node) {
            Ok(theirs) => datanode::compare(self.conf, node, &theirs, self.report),
            Err(failure) => {
                self.report.skipped("datanode-settings", failure.to_string());
                Ok(())
            }
        }
    }

    /// Asks for a replica and reads it.
    fn read(&mut self, located: &LocatedBlock, path: &Path, node: &str) -> bool {
        let block = &located.block;
        let shown = format!("blk_{}", block.block.id.0);
        let Ok(slots) = self.slots(path) else { return false };
        let slot = slots.as_ref().and_then(|slots| slots.claim(0));
        let files = match ask::files(path, block, slot) {
            Ok(files) => files,
            Err(no) => {
                self.refused(no, path, node, &shown);
                return false;
            }
        };
        let first = self.report.generation == Generation::None;
        match (slots.as_ref(), slot) {
            (Some(slots), Some(slot)) if !slots.is_valid(slot) => {
                let fix = "read again: the replica changed meanwhile";
                self.report.fault("descriptors", format!("{shown} was taken back at once"), fix);
                return false;
            }
            (Some(_), Some(_)) if first => self.report.generation = Generation::Slots,
            _ if first => self.report.generation = Generation::Descriptors,
            _ => {}
        }
        self.report.ok("descriptors", format!("{shown}: DataNode {node} passed two"));
        self.verified(&files, block.block.len, &shown)
    }

    fn verified(&mut self, files: &Files, len: u64, shown: &str) -> bool {
        let damage = match verify::verify(&files.data, &files.meta, len) {
            Ok(checksum) => {
                let (kind, bytes) = (checksum.kind().name(), checksum.bytes_per_checksum());
                self.report.ok("meta-file", format!("{shown}: {kind} of {bytes} bytes"));
                return true;
            }
            Err(damage) => damage,
        };
        let name = match damage {
            Damage::Meta(_) => "meta-file",
            Damage::Data(_) => "checksum",
        };
        let fix = "zerohop fs -cat FILE > /dev/null reports the replica, and the NameNode copies a good one; without another replica, restore the file and remove this one";
        self.report.fault(name, format!("{shown}: {damage}"), fix);
        false
    }

    /// A segment, or none where the DataNode has no shared memory: reads go on without. `Err` where
    /// there is no point in going on.
    fn slots(&mut self, path: &Path) -> Result<Option<Slots>, ()> {
        match ask::slots(path) {
            Ok(slots) => {
                self.report.ok("shared-memory", "the DataNode gave a segment of slots");
                Ok(Some(slots))
            }
            Err(NoDescriptors::Refused(Status::ErrorUnsupported, text)) => {
                self.report.warning(
                    "shared-memory",
                    format!("the DataNode has none: {text}"),
                    "give it room in dfs.datanode.shared.file.descriptor.paths (/dev/shm), and restart it",
                );
                Ok(None)
            }
            Err(NoDescriptors::Refused(_, text)) => {
                self.report.fault(
                    "shared-memory",
                    format!("the DataNode could make no segment: {text}; Apache's clients give up local reads then"),
                    "make room in dfs.datanode.shared.file.descriptor.paths (/dev/shm)",
                );
                Ok(None)
            }
            Err(NoDescriptors::Answer(problem)) => {
                self.no_datanode(path, &problem);
                Err(())
            }
        }
    }

    fn no_datanode(&mut self, path: &Path, problem: &str) {
        let who = socket::listener_of(path);
        let shown = path.display();
        self.report.fault(
            "listener",
            format!("{who} at {shown} does not answer as a DataNode does: {problem}"),
            format!("stop that process, rm {shown}, and restart the DataNode"),
        );
    }

    fn refused(&mut self, no: NoDescriptors, path: &Path, node: &str, shown: &str) {
        let (status, text) = match no {
            NoDescriptors::Answer(problem) => return self.no_datanode(path, &problem),
            NoDescriptors::Refused(status, text) => (status, text),
        };
        let who = socket::listener_of(path);
        let (name, fix) = match status {
            Status::ErrorUnsupported => (
                "descriptors",
                "set dfs.client.read.shortcircuit to true in the DataNode's hdfs-site.xml, and restart it".to_owned(),
            ),
            Status::ErrorAccessToken => (
                "descriptors",
                "this version has no block tokens (dfs.block.access.token.enable)".to_owned(),
            ),
            _ if text.contains("meta") || text.contains("Meta") => (
                "meta-file",
                "remove the replica's block file and restart the DataNode: the NameNode copies a good one".to_owned(),
            ),
            _ => (
                "descriptors",
                format!(
                    "if {who} is not DataNode {node}, put _PORT into dfs.domain.socket.path on both sides; else see the DataNode's log"
                ),
            ),
        };
        let found = format!("{shown}: {who} refuses ({}): {text}", status.as_str_name());
        self.report.fault(name, found, fix);
    }
}
