//! The workloads, each on both clusters in turn.

mod copy;
mod data;
mod local;
mod metadata;
mod nnbench;
mod shell;

use zerohop_interop::{Kind, Outcome};

use crate::args::Args;
use crate::clusters::Cluster;
use crate::load::Load;
use crate::table::Pair;

/// A part of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Long files.
    Io,
    /// Reads that do not leave the machine.
    Local,
    /// hflush and hsync.
    Flush,
    /// Small files, by Apache's client on both.
    Small,
    /// The NameNodes under our load generator.
    Metadata,
    /// The NameNodes under Apache's load generator.
    Nnbench,
    /// A command of the shell as a whole process.
    Shell,
    /// put, get and cp.
    Copy,
}

impl Section {
    /// All parts, in the order they run.
    pub const ALL: [Section; 8] = [
        Section::Io,
        Section::Local,
        Section::Flush,
        Section::Small,
        Section::Metadata,
        Section::Nnbench,
        Section::Shell,
        Section::Copy,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Section::Io => "io",
            Section::Local => "local",
            Section::Flush => "flush",
            Section::Small => "small",
            Section::Metadata => "metadata",
            Section::Nnbench => "nnbench",
            Section::Shell => "shell",
            Section::Copy => "copy",
        }
    }

    /// Runs it.
    pub fn run(self, both: &Both, add: &mut dyn FnMut(Pair)) -> Outcome {
        match self {
            Section::Io => data::io(both, add),
            Section::Local => local::run(both, add),
            Section::Flush => data::flush(both, add),
            Section::Small => data::small(both, add),
            Section::Metadata => metadata::run(both, add),
            Section::Nnbench => nnbench::run(both, add),
            Section::Shell => shell::run(both, add),
            Section::Copy => copy::run(both, add),
        }
    }
}

/// Both clusters and what to do on them.
pub struct Both {
    pub apache: Cluster,
    pub ours: Cluster,
    pub load: Load,
    pub args: Args,
    /// A folder on the DataNodes' disk.
    pub folder: std::path::PathBuf,
}

impl Both {
    /// The cluster of a kind.
    pub fn cluster(&self, kind: Kind) -> &Cluster {
        match kind {
            Kind::Apache => &self.apache,
            Kind::Ours => &self.ours,
        }
    }
}
