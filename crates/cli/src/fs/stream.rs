//! Moves bytes to their end: into a file, to standard output.

use std::io::{Read, Write};

use super::shell::Shell;
use super::store::{BUFFER, Output};
use crate::failure::{Failure, Outcome};

/// Copies everything; tells of each piece that is through.
pub fn pump(
    input: &mut dyn Read,
    output: &mut dyn Output,
    through: &mut dyn FnMut(u64),
) -> Outcome<u64> {
    let mut buffer = Vec::new();
    let mut total = 0;
    loop {
        let count = match output.write_from(input, &mut buffer) {
            Ok(0) => return Ok(total),
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::io(error.to_string())),
        };
        total += count as u64;
        through(count as u64);
    }
}

/// Copies everything that is left to standard output, past the line buffer.
pub fn to_stdout(shell: &mut Shell, input: &mut dyn Read) -> Outcome {
    shell.flush()?;
    let mut out = std::io::stdout().lock();
    let mut raw = StdoutFile::new(&mut out);
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Failure::io(error.to_string())),
        };
        raw.write_all(&buffer[..count])?;
    }
}

/// Standard output without Rust's line buffer, which would copy and split what goes through it.
struct StdoutFile<'a> {
    _lock: &'a mut std::io::StdoutLock<'static>,
}

impl<'a> StdoutFile<'a> {
    fn new(lock: &'a mut std::io::StdoutLock<'static>) -> Self {
        StdoutFile { _lock: lock }
    }
}

impl Write for StdoutFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
