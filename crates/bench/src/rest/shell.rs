//! Commands of a shell as whole processes.

use crate::process::children_cpu_s;
use std::ffi::OsString;
use std::io;
use std::process::{Command, Stdio};
use std::time::Instant;

/// How a shell is started, such as `zerohop --config DIR fs`.
#[derive(Clone, Debug, Default)]
pub struct Shell(Vec<OsString>);

impl Shell {
    /// The program and the words in front of its commands.
    pub fn new(words: Vec<OsString>) -> Self {
        Self(words)
    }

    /// Runs a command to its end; wall and CPU seconds of the process.
    pub(super) fn time<S: Into<OsString>>(
        &self,
        words: impl IntoIterator<Item = S>,
    ) -> io::Result<(f64, f64)> {
        let (program, before) = self.0.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(before).args(words.into_iter().map(Into::into));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let (cpu, start) = (children_cpu_s(), Instant::now());
        let output = command.output()?;
        let took = start.elapsed().as_secs_f64();
        match output.status.success() {
            true => Ok((took, children_cpu_s() - cpu)),
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                Err(io::Error::other(format!("{command:?}: {said}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_timed_and_its_failure_is_told() {
        let shell = Shell::new(["sh", "-c"].map(OsString::from).to_vec());
        let (took, cpu) = shell.time(["exit 0"]).unwrap();
        assert!(took > 0.0 && cpu >= 0.0);
        let error = shell.time(["echo why >&2; exit 3"]).unwrap_err().to_string();
        assert!(error.contains("why"), "{error}");
    }
}
