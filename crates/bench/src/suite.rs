//! All workloads against one cluster, each beside its limit: what `zerohop bench` runs.

use crate::dfsio::matrix::ReadMode;
use crate::files::{self, Failure, FlushKind, Sequential, SmallFiles};
use crate::local::{LocalReads, local_reads};
use crate::measure::{Percentiles, median};
use crate::metadata::{Load, metadata};
use crate::process::WatchedProcess;
use crate::raw::{self, Scratch, SocketKind, StreamLimit};
use crate::report::{Report, Row};
use std::path::PathBuf;
use zerohop_client::blocking::FileSystem;
use zerohop_conf::Conf;

/// A part of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The checksum kernels and the raw limits alone; needs no cluster.
    Raw,
    /// Long files.
    Sequential,
    /// What local reads cost besides the reading.
    Local,
    /// hflush and hsync.
    Flush,
    /// The NameNode under load.
    Metadata,
    /// Short files.
    Small,
}

impl Section {
    /// All parts, in the order they run.
    pub const ALL: [Section; 6] = [
        Section::Raw,
        Section::Sequential,
        Section::Local,
        Section::Flush,
        Section::Metadata,
        Section::Small,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Section::Raw => "raw",
            Section::Sequential => "io",
            Section::Local => "local",
            Section::Flush => "flush",
            Section::Metadata => "metadata",
            Section::Small => "small",
        }
    }

    /// The part with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.name() == name)
    }
}

/// What to run, against what, how long.
#[derive(Clone)]
pub struct Suite {
    /// The client's configuration.
    pub conf: Conf,
    /// The cluster.
    pub fs: FileSystem,
    /// `host:port` of its NameNode.
    pub namenode: String,
    /// Processes whose CPU time is of interest.
    pub watched: Vec<WatchedProcess>,
    /// The parts to run.
    pub sections: Vec<Section>,
    /// A directory on the disk the DataNodes write to, for the raw limits.
    pub local_directory: PathBuf,
    /// The DataNodes' directories that can be opened from here, if any.
    pub data_directories: Vec<PathBuf>,
    /// Bytes of each long file.
    pub file_len: u64,
    /// Replications to write with.
    pub replications: Vec<u16>,
    /// Metadata operations of each kind in a run.
    pub operations: usize,
    /// Connections of the metadata load.
    pub connections: usize,
    /// Runs of everything.
    pub runs: usize,
}

impl Suite {
    /// The usual sizes.
    pub fn new(conf: Conf, fs: FileSystem, namenode: String, local_directory: PathBuf) -> Self {
        Self {
            conf,
            fs,
            namenode,
            watched: Vec::new(),
            sections: Section::ALL.to_vec(),
            local_directory,
            data_directories: Vec::new(),
            file_len: 1 << 30,
            replications: vec![1],
            operations: 16_000,
            connections: 16,
            runs: 5,
        }
    }

    /// Runs all parts; `progress` sees each figure as soon as it is there. The directory on the cluster
    /// is deleted at the end, also after a failure. Not to be called on a thread of a tokio runtime.
    pub fn run(&self, progress: &mut dyn FnMut(&Row)) -> Result<Report, Failure> {
        let directory = format!("/zerohop-bench-{}", std::process::id());
        let mut out = Out { report: Report::new(), progress };
        let done = self.sections.iter().try_for_each(|section| {
            // What the part before wrote would reach the disk during this one.
            rustix::fs::sync();
            match section {
                Section::Raw => self.raw(&mut out),
                Section::Sequential => self.sequential(&directory, &mut out),
                Section::Local => self.local(&directory, &mut out),
                Section::Flush => self.flush(&directory, &mut out),
                Section::Metadata => self.metadata(&directory, &mut out),
                Section::Small => self.small(&directory, &mut out),
            }
        });
        let cleaned = match self.sections.iter().all(|section| *section == Section::Raw) {
            true => Ok(true),
            false => self.fs.delete(&directory, true),
        };
        done?;
        cleaned?;
        Ok(out.report)
    }

    fn raw(&self, out: &mut Out<'_>) -> Result<(), Failure> {
        for row in crate::checksum::checksum_rows(64 << 10, 4 << 30, self.runs) {
            out.add(row);
        }
        let source = Scratch::create(&self.local_directory, self.file_len.min(1 << 30))?;
        let runs = raw::read_cached(&source, 1 << 20, self.runs)?;
        out.add(Row::new("read(2) of a cached file, 1 MiB buffer", "MB/s", runs));
        let (_, tried) = raw::stream_best(&source, SocketKind::Tcp, self.file_len, self.runs)?;
        tried.iter().for_each(|limit| out.add(limit.row()));
        Ok(())
    }

    fn sequential(&self, directory: &str, out: &mut Out<'_>) -> Result<(), Failure> {
        let source = Scratch::create(&self.local_directory, self.file_len.min(1 << 30))?;
        let (best, _) = raw::stream_best(&source, SocketKind::Tcp, self.file_len, self.runs)?;
        drop(source);
        let against = |row: Row| row.against(best.name(), best.median());
        out.add(StreamLimit::row(&best));
        for replication in &self.replications {
            let work = self.files(directory, 1, *replication);
            out.add(against(files::write(&work, &self.watched)?));
        }
        // Beside TCP without HDFS: local reads have a section of their own.
        let fs = FileSystem::connect(&ReadMode::Tcp.configure(&self.conf), None)?;
        for readers in [1, 2] {
            let work = Sequential { fs: fs.clone(), ..self.files(directory, readers, 1) };
            files::write(&Sequential { runs: 1, ..work.clone() }, &[])?;
            out.add(against(files::read(&work, &self.watched)?));
        }
        Ok(())
    }

    fn files(&self, directory: &str, files: usize, replication: u16) -> Sequential {
        Sequential {
            fs: self.fs.clone(),
            directory: format!("{directory}/io"),
            file_len: self.file_len,
            files,
            buffer_len: 1 << 20,
            replication,
            runs: self.runs,
        }
    }

    fn local(&self, directory: &str, out: &mut Out<'_>) -> Result<(), Failure> {
        let work = LocalReads {
            conf: self.conf.clone(),
            directory: directory.to_owned(),
            file_len: self.file_len,
            local_directory: self.local_directory.clone(),
            data_directories: self.data_directories.clone(),
            runs: self.runs,
        };
        local_reads(&work, &mut |row| out.add(row))
    }

    fn flush(&self, directory: &str, out: &mut Out<'_>) -> Result<(), Failure> {
        let path = format!("{directory}/flushed");
        let len = 4096;
        let trip = raw::round_trip(len, 64, 20_000)?;
        let disk = raw::append_and_sync(&self.local_directory, len, 500)?;
        out.add(Row::latency("raw loopback TCP round trip of 4 KiB", trip));
        out.add(Row::latency("raw 4 KiB append and fdatasync", disk));
        let Percentiles { p50_us: trip, .. } = trip;
        for replication in &self.replications {
            let row = files::flush(&self.fs, &path, FlushKind::Hflush, (len, 5000), *replication)?;
            out.add(row.against("one round trip", trip));
            let row = files::flush(&self.fs, &path, FlushKind::Hsync, (len, 500), *replication)?;
            out.add(row.against("append, fdatasync and two round trips", disk.p50_us + 2.0 * trip));
        }
        Ok(())
    }

    fn metadata(&self, directory: &str, out: &mut Out<'_>) -> Result<(), Failure> {
        let load = Load {
            namenode: self.namenode.clone(),
            user: self.fs.user().clone(),
            directory: format!("{directory}/metadata"),
            connections: self.connections,
            operations: self.operations,
            runs: self.runs,
        };
        // One thread makes more calls than two that wake each other, and leaves a core to the server.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut raw = Vec::new();
        for _ in 0..self.runs {
            raw.push(raw::small_calls(self.connections, 2 * self.operations)?);
        }
        let each = |pick: fn(&raw::SmallCalls) -> f64| raw.iter().map(pick).collect::<Vec<_>>();
        let limit = Row::new("raw small calls over loopback TCP", "ops/s", each(|r| r.per_second))
            .cost("answering", median(&each(|r| r.server_us)), "us/op")
            .cost("calling", median(&each(|r| r.client_us)), "us/op");
        let most = limit.value;
        out.add(limit);
        let rows = runtime.block_on(metadata(&load, &self.watched))?;
        rows.into_iter().for_each(|row| out.add(row.against("raw small calls", most)));
        Ok(())
    }

    fn small(&self, directory: &str, out: &mut Out<'_>) -> Result<(), Failure> {
        let work = SmallFiles {
            fs: self.fs.clone(),
            directory: format!("{directory}/small"),
            len: 1024,
            threads: 8,
            files: 250,
            runs: self.runs,
        };
        files::small_files(&work, &self.watched)?.into_iter().for_each(|row| out.add(row));
        Ok(())
    }
}

struct Out<'a> {
    report: Report,
    progress: &'a mut dyn FnMut(&Row),
}

impl Out<'_> {
    fn add(&mut self, row: Row) {
        (self.progress)(&row);
        self.report.rows.push(row);
    }
}
