//! Both clusters and what to do on them.

use std::path::PathBuf;

use zerohop_interop::Kind;

use crate::args::Args;
use crate::clusters::Cluster;
use crate::load::Load;

/// Both clusters and what to do on them.
pub struct Both {
    pub apache: Cluster,
    pub ours: Cluster,
    pub load: Load,
    pub args: Args,
    /// A directory on the DataNodes' disk.
    pub directory: PathBuf,
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
