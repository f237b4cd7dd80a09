//! `bench star`: passed on to a program of its own, so that this one does not carry DataFusion.

use std::convert::Infallible;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cluster;
use crate::failure::{Failure, Outcome, complain};
use crate::settings::Settings;

const PROGRAM: &str = "zerohop-star";
/// By this it finds us again, for a cluster of its own.
const OWN_VARIABLE: &str = "ZEROHOP";

/// Runs the program in place of this one.
pub fn run(settings: Settings, words: Vec<String>) -> i32 {
    match become_program(settings, words) {
        Ok(never) => match never {},
        Err(failure) => complain("bench star", &failure),
    }
}

fn become_program(mut settings: Settings, mut words: Vec<String>) -> Outcome<Infallible> {
    settings.take(&mut words)?;
    let own = std::env::current_exe()?;
    let program = find(own.parent())?;
    let mut command = Command::new(&program);
    command.env(OWN_VARIABLE, own);
    let running = cluster::find(&settings)?.and_then(|conf| conf.directory().map(PathBuf::from));
    if let Some(directory) = settings.directory.as_ref().or(running.as_ref()) {
        command.arg("--config").arg(directory);
    }
    for file in &settings.files {
        command.arg("-conf").arg(file);
    }
    for (name, value) in &settings.values {
        command.arg("-D").arg(format!("{name}={value}"));
    }
    let error = command.args(&words).exec();
    Err(Failure::io(format!("cannot run {}: {error}", program.display())))
}

/// The program beside this one, or on PATH.
fn find(beside: Option<&Path>) -> Outcome<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = beside.map(PathBuf::from).into_iter().chain(std::env::split_paths(&path));
    let mut programs = directories.map(|directory| directory.join(PROGRAM));
    programs.find(|program| program.is_file()).ok_or_else(|| {
        Failure::io(format!(
            "the program {PROGRAM} is neither beside zerohop nor on PATH: `make star` builds it from the \
             sources, as datafusion/target/release/{PROGRAM}"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_looked_for_beside_this_one() {
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join(PROGRAM);
        std::fs::write(&program, "").unwrap();
        assert_eq!(find(Some(directory.path())).unwrap(), program);
    }
}
