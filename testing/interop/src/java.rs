//! Runs one of Apache's programs over a cluster to its end.

use std::path::Path;
use std::time::Duration;

use crate::process::{Process, tail};
use crate::tools::Java;
use crate::{Outcome, tools};

/// How a program ended and what it printed.
pub struct Finished {
    /// Its exit code; -1 after a signal.
    pub code: i32,
    /// Standard output and error, in the order they came.
    pub output: String,
}

/// Runs `class` with `args`, the configuration directory first on its class path.
pub fn run(class: &str, args: &[&str], conf: &Path, limit: Duration) -> Outcome<Finished> {
    let java = Java::get()?;
    let mut command = java.command(1024);
    command
        .args(["-cp", &format!("{}:{}", conf.display(), java.class_path)])
        .arg("-Dhadoop.root.logger=WARN,console")
        .arg(class)
        .args(args);
    let log = tempfile::NamedTempFile::new_in(tools::out()).map_err(|e| e.to_string())?;
    let status = Process::daemon(class, command, log.path())?.finish(limit)?;
    let output = std::fs::read_to_string(log.path()).unwrap_or_default();
    Ok(Finished { code: status.code().unwrap_or(-1), output })
}

impl Finished {
    /// The output if the exit code was 0.
    pub fn ok(self, what: &str) -> Outcome<String> {
        match self.code {
            0 => Ok(self.output),
            code => {
                let lines: Vec<&str> = self.output.lines().collect();
                let from = lines.len().saturating_sub(40);
                Err(format!("{what}: exit code {code}\n{}", lines[from..].join("\n")))
            }
        }
    }
}

/// The end of a log, for messages of callers.
pub fn log_tail(path: &Path) -> String {
    tail(path, 25)
}
