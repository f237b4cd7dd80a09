//! A cluster for this measurement alone: a process of its own, so that its CPU time is not the client's.

use crate::args::Args;
use crate::failure::Result;
use crate::network;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Names the program `zerohop`; `zerohop bench star` sets it.
const PROGRAM_VARIABLE: &str = "ZEROHOP";

/// Runs this program again within a cluster of its own, with the network that `args` ask for.
pub fn run(args: &Args) -> Result<i32> {
    let zerohop = find_zerohop()?;
    let network = args.is_busy.then(network::can_be_throttled);
    let mut inner = vec![quoted(&std::env::current_exe()?.to_string_lossy())];
    inner.extend(args.words.iter().map(|word| quoted(word)));
    match &network {
        Some(Ok(())) => inner.push("--own-network".to_owned()),
        Some(Err(why)) => inner.extend(["--no-network".to_owned(), quoted(why)]),
        None => {}
    }
    inner.push("--watch cluster=$PPID".to_owned());
    let mut command = match network {
        Some(Ok(())) => network::command_in_namespace(&zerohop),
        _ => Command::new(&zerohop),
    };
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
