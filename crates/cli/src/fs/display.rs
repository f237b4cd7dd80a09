//! `-cat` and `-head`

use std::io::{Read, Write};

use super::item::Item;
use super::options::Options;
use super::shell::Shell;
use super::store::OpenHow;
use crate::failure::{Failure, Outcome};

/// Bytes moved by one call.
pub const BUFFER: usize = 1 << 20;
const HEAD_BYTES: u64 = 1024;

pub fn cat(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, usize::MAX, &["ignoreCrc", "v"]).parse(args)?;
    let how = OpenHow { verify: !given.has("ignoreCrc") };
    let done = shell.each_found(&given.rest, |shell, item| {
        item.found_file()?;
        let mut input = item.store.open(&item.path, how)?;
        to_stdout(shell, &mut *input)
    });
    if given.has("v") {
        shell.report_reads();
    }
    done
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

pub fn head(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, 1, &[]).parse(args)?;
    one_file(shell, &given.rest, |shell, item| {
        let input = item.store.open(&item.path, OpenHow::default())?;
        to_stdout(shell, &mut input.take(HEAD_BYTES))
    })
}

/// Runs `action` on the one file that is named, without globbing.
pub fn one_file(
    shell: &mut Shell,
    args: &[String],
    mut action: impl FnMut(&mut Shell, Item) -> Outcome,
) -> Outcome {
    for arg in args {
        let item = shell.item(arg)?;
        item.found_file()?;
        action(shell, item)?;
    }
    Ok(())
}
