//! What to measure, against which server, how long.

use super::service::Service;
use super::shell::Shell;
use crate::process::WatchedProcess;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::path::PathBuf;
use std::time::Duration;

/// The name of the process whose memory and CPU time count as the server's.
pub const GATEWAY: &str = "gateway";

/// A part of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// A long file is put and got.
    Files,
    /// Appends of 10 MB.
    Append,
    /// Appends of 4 KiB.
    Lines,
    /// Reads of 1 KiB.
    Short,
    /// Many connections, few of which are active.
    Connections,
}

impl Section {
    /// All parts, in the order they run.
    pub const ALL: [Section; 5] =
        [Section::Files, Section::Append, Section::Lines, Section::Short, Section::Connections];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Section::Files => "files",
            Section::Append => "append",
            Section::Lines => "lines",
            Section::Short => "short",
            Section::Connections => "connections",
        }
    }

    /// The part with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|section| section.name() == name)
    }
}

/// What to measure, against which server, how long.
#[derive(Clone, Debug)]
pub struct RestPlan {
    /// The server.
    pub service: Service,
    /// Processes whose CPU time is of interest. The memory of the one named [`GATEWAY`] is measured.
    pub watched: Vec<WatchedProcess>,
    /// The shell that puts and gets the same file, if there is one for the server's cluster.
    pub shell: Option<Shell>,
    /// The parts to run.
    pub sections: Vec<Section>,
    /// A directory on the cluster; it is deleted at the end.
    pub directory: String,
    /// A directory on this machine, for the file that is put and got.
    pub local_directory: PathBuf,
    /// Bytes of the long file.
    pub size: u64,
    /// Runs of everything.
    pub runs: usize,
    /// How long each run of appends, and of reads of short files, takes.
    pub time: Duration,
    /// Writers of lines.
    pub writers: usize,
    /// Connections that are open at once.
    pub connections: usize,
    /// Those of them that are active.
    pub active: usize,
}

impl RestPlan {
    /// The usual sizes.
    pub fn new(service: Service, local_directory: PathBuf) -> Self {
        Self {
            service,
            watched: Vec::new(),
            shell: None,
            sections: Section::ALL.to_vec(),
            directory: format!("/zerohop-bench-rest-{}", std::process::id()),
            local_directory,
            size: 2_000_000_000,
            runs: 3,
            time: Duration::from_secs(4),
            writers: 8,
            connections: 1000,
            active: 100,
        }
    }

    /// The server's process, if it is watched.
    pub(super) fn gateway(&self) -> Option<&WatchedProcess> {
        self.watched.iter().find(|process| process.name == GATEWAY)
    }

    /// A path below the directory.
    pub(super) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.directory)
    }
}

/// Permits this process, and those that it starts, as many open files as the system permits.
pub fn permit_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it is refused, the connections that lack are reported as failures.
    let _ = setrlimit(Resource::Nofile, limit);
}
