//! Standard error that may be closed or full.
//!
//! `eprintln!` panics if nobody can read the line, for example with `2>/dev/full` or a pipe whose reader has ended. What
//! a program reports beside its work must not end the work.

use std::fmt::Arguments;
use std::io::{self, Write};

/// A writer to standard error that ignores failures.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _nobody_reads_it = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes text at once, so that lines of several threads do not mix.
pub fn write(text: Arguments<'_>) {
    let _nobody_reads_it = io::stderr().lock().write_fmt(text);
}

/// Like `eprint!`, but a failure to write is ignored.
#[macro_export]
macro_rules! note {
    ($($arg:tt)*) => { $crate::stderr::write(format_args!($($arg)*)) };
}

/// Like `eprintln!`, but a failure to write is ignored.
#[macro_export]
macro_rules! noteln {
    () => { $crate::stderr::write(format_args!("\n")) };
    ($($arg:tt)*) => { $crate::stderr::write(format_args!("{}\n", format_args!($($arg)*))) };
}
