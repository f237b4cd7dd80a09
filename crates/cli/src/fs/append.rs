//! `-appendToFile`

use std::io::Read;

use super::destination::remote_destination;
use super::interrupt::Closed;
use super::options::Options;
use super::shell::Shell;
use super::store::{CreateHow, OpenHow};
use super::stream::pump;
use crate::failure::{Failure, Outcome};

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    if args.len() < 2 {
        return Err(Failure::io("missing destination argument"));
    }
    let mut given = Options::new(2, usize::MAX, &["n"]).parse(args)?;
    let target = remote_destination(shell, &mut given.rest)?;
    let stdin = given.rest.iter().any(|source| source == "-");
    if stdin && given.rest.len() > 1 {
        return Err(Failure::io("stdin (-) must be the sole input argument when present"));
    }
    let mut inputs: Vec<Box<dyn Read>> = Vec::new();
    for source in given.rest.iter().filter(|source| *source != "-") {
        let item = shell.local_source(source)?;
        item.found_file()?;
        inputs.push(Box::new(item.store.open(&item.path, OpenHow::default())?));
    }
    if stdin {
        inputs.push(Box::new(std::io::stdin()));
    }
    if !target.exists() {
        target.store.create(&target.path, CreateHow::default())?.finish()?;
    }
    let output = target.store.append(&target.path, given.has("n"))?;
    Closed::with(output, |output| {
        inputs.iter_mut().try_for_each(|input| pump(&mut **input, output, &mut |_| {}).map(|_| ()))
    })
}
