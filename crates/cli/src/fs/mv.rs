//! `-mv`

use super::destination::{Destination, remote_destination};
use super::options::Options;
use super::shell::Shell;
use crate::failure::{Failure, Outcome};

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let mut given = Options::new(2, usize::MAX, &[]).parse(args)?;
    let target = remote_destination(shell, &mut given.rest)?;
    let sources = shell.expand_all(&given.rest)?;
    Destination::check(&target, &sources, false)?;
    shell.each(&sources, |_, source| {
        source.found()?;
        let to = Destination::of(&target, source)?;
        Destination::check_not_inside(source, &to)?;
        if source.store.uri() != to.store.uri() {
            return Err(Failure::path(&source.text, "Does not match target filesystem"));
        }
        if to.exists() {
            return Err(Failure::exists(&to.text));
        }
        match source.store.rename(&source.path, &to.path)? {
            true => Ok(()),
            false => Err(Failure::path(&source.text, "Input/output error")),
        }
    })
}
