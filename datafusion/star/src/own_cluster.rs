//! A cluster for this measurement alone: processes of their own, so that their CPU time is not the client's.

use crate::args::Args;
use crate::failure::Result;
use crate::network::Machines;
use crate::two_machines;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the program `zerohop`; `zerohop bench star` sets it.
const PROGRAM_VARIABLE: &str = "ZEROHOP";

/// Runs this program again within a cluster of its own, with the network that `args` ask for.
pub fn run(args: &Args) -> Result<i32> {
    let zerohop = find_zerohop()?;
    match args.is_busy.then(Machines::start) {
        Some(Ok(machines)) => two_machines::run(args, &zerohop, &machines),
        Some(Err(why)) => up(args, &zerohop, Some(&why)),
        None => up(args, &zerohop, None),
    }
}

/// One process with a DataNode, on this machine's own network.
fn up(args: &Args, zerohop: &Path, no_network: Option<&str>) -> Result<i32> {
    let mut inner = vec![quoted(&std::env::current_exe()?.to_string_lossy())];
    inner.extend(args.words.iter().map(|word| quoted(word)));
    if let Some(why) = no_network {
        inner.extend(["--no-network".to_owned(), quoted(why)]);
    }
    inner.push("--watch cluster=$PPID".to_owned());
    let mut command = Command::new(zerohop);
    command.args(&args.cluster.words);
    command.args(["up", "--datanodes", "1", "--port", "0", "--http-port", "0", "--rest-port", "0"]);
    let status = command.arg("--exec").arg(inner.join(" ")).status();
    let status = status.map_err(|error| format!("cannot run {}: {error}", zerohop.display()))?;
    Ok(status.code().unwrap_or(1))
}

fn find_zerohop() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os(PROGRAM_VARIABLE) {
        return Ok(program.into());
    }
    let beside = std::env::current_exe()?.parent().map(PathBuf::from);
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    let directories = beside.into_iter().chain(std::env::split_paths(&path));
    let mut programs = directories.map(|directory| directory.join("zerohop"));
    let found = programs.find(|program| program.is_file());
    Ok(found.ok_or_else(|| {
        format!(
            "there is no program zerohop beside this one or on PATH: name it by {PROGRAM_VARIABLE}, or name \
             a cluster with -fs hdfs://HOST:PORT"
        )
    })?)
}

/// A word for the shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
