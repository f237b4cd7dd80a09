//! Where a value comes from.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The table of keys.
    Default,
    /// A property of a file.
    File {
        /// The file, an included one where the property stands there.
        path: Arc<Path>,
        /// Line of the property, from 1.
        line: usize,
    },
    /// An option of the command line (`-D`, `-fs`, ...).
    CommandLine,
    /// The program itself.
    Program,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("the default"),
            Source::File { path, line } => write!(f, "{}:{line}", path.display()),
            Source::CommandLine => f.write_str("the command line"),
            Source::Program => f.write_str("the program"),
        }
    }
}
