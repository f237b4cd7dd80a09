//! What can be wrong with a configuration.

use std::path::PathBuf;

use crate::{Refusals, Source};

/// A configuration that cannot be used. Each message names the place and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ConfError {
    /// A configuration file or directory that cannot be read.
    #[error("cannot read configuration {}: {source}; check the path and its permissions", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that is not a Hadoop configuration.
    #[error("{}:{line}: {problem}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong and what to do.
        problem: String,
    },
    /// A value that does not fit its key.
    #[error("{key}: `{value}' from {origin} is not {expected}")]
    Value {
        /// The key.
        key: String,
        /// The text found.
        value: String,
        /// Where it was found.
        origin: Source,
        /// What would fit.
        expected: &'static str,
    },
    /// A key without default that must be set.
    #[error("{key} is not set; set it in core-site.xml or hdfs-site.xml, or with -D {key}=VALUE")]
    Missing {
        /// The key.
        key: String,
    },
    /// Values that promise protection or exclusivity which is not implemented.
    #[error("{0}")]
    Refused(Refusals),
    /// Variables that lead to each other without end.
    #[error(
        "{key}: Variable substitution depth too large: {depth} {value}; write the value without so many variables"
    )]
    Depth {
        /// The key.
        key: String,
        /// The limit.
        depth: usize,
        /// The value before substitution.
        value: String,
    },
}
