//! `failing-disk`: runs a program whose writes, or reads and writes, below a directory fail, as on a
//! broken disk, or that is killed at one of them.
#![allow(clippy::print_stderr, clippy::print_stdout, reason = "people read what it prints")]

use clap::Parser;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use zerohop_simulation::calls::observe_program;

/// Runs a program; calls by which it changes files below a directory fail, and with --reads those by
/// which it reads them.
#[derive(Parser)]
struct Options {
    /// The directory
    #[arg(long)]
    below: PathBuf,
    /// Calls that succeed before
    #[arg(long, default_value_t = 0)]
    after: u64,
    /// Calls that fail then, by default all
    #[arg(long, default_value_t = u64::MAX)]
    count: u64,
    /// Calls that read fail too
    #[arg(long)]
    reads: bool,
    /// Only calls for paths that contain this text
    #[arg(long, default_value = "")]
    containing: String,
    /// Kill the process group before the first call that would fail
    #[arg(long)]
    kill: bool,
    /// EIO, ENOSPC or EROFS
    #[arg(long, default_value = "EIO", value_parser = errno)]
    errno: i32,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<std::ffi::OsString>,
}

fn errno(name: &str) -> Result<i32, String> {
    match name {
        "EIO" => Ok(libc::EIO),
        "ENOSPC" => Ok(libc::ENOSPC),
        "EROFS" => Ok(libc::EROFS),
        _ => Err(format!("{name} is not one of EIO, ENOSPC, EROFS")),
    }
}

fn main() -> ExitCode {
    let Options { below, after, count, reads, containing, kill, errno, program } = Options::parse();
    let Some((program, arguments)) = program.split_first() else { return ExitCode::FAILURE };
    // The kernel names open files by their real paths.
    let real = below.canonicalize().unwrap_or_else(|_| below.clone());
    let mut command = Command::new(program);
    command.args(arguments);
    // The signal goes to the whole process group; the calls are answered until the program has ended.
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    let mut calls = 0;
    let ended = observe_program(command, reads, |path| {
        if !path.starts_with(&below) && !path.starts_with(&real) {
            return None;
        }
        if !path.to_string_lossy().contains(&containing) {
            return None;
        }
        calls += 1;
        if kill && calls > after {
            // SAFETY: kill takes no pointers.
            unsafe { libc::kill(0, libc::SIGKILL) };
        }
        (calls > after && calls - after <= count).then_some(errno)
    });
    eprintln!("failing-disk: {} of {calls} calls failed", calls.saturating_sub(after).min(count));
    match ended {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("failing-disk: {error}");
            ExitCode::FAILURE
        }
    }
}
