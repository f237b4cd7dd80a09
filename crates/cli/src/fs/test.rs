//! `-test`: an exit code and no output.

use super::options::Options;
use super::shell::Shell;
use crate::failure::{Failure, Kind, Outcome};

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, 1, &["e", "d", "f", "s", "z", "w", "r"]).parse(args)?;
    let flag = match given.flag_count() {
        0 => return Err(Failure::usage("No test flag given")),
        1 => given.any_flag().unwrap_or_default().to_owned(),
        _ => return Err(Failure::usage("Only one test flag is allowed")),
    };
    let items = shell.expand_all(&given.rest)?;
    shell.each(&items, |shell, item| {
        let holds = match (&item.status, flag.as_str()) {
            (None, _) => false,
            (Some(_), "e") => true,
            (Some(status), "d") => status.is_dir(),
            (Some(status), "f") => status.is_file(),
            (Some(status), "s") => status.length > 0,
            (Some(status), "z") => status.length == 0,
            (Some(_), "w") => allowed(item.store.access(&item.path, 2))?,
            (Some(_), _) => allowed(item.store.access(&item.path, 4))?,
        };
        if !holds {
            shell.exit_code = 1;
        }
        Ok(())
    })
}

fn allowed(answer: Outcome) -> Outcome<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(failure) if matches!(failure.kind, Kind::Denied | Kind::NotFound) => Ok(false),
        Err(failure) => Err(failure),
    }
}
