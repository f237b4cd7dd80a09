//! `-cat` and `-head`

use std::io::Read;

use super::options::Options;
use super::shell::Shell;
use super::store::OpenHow;
use super::stream::to_stdout;
use crate::failure::Outcome;

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

pub fn head(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, 1, &[]).parse(args)?;
    shell.each_named(&given.rest, |shell, item| {
        let input = item.store.open(&item.path, OpenHow::default())?;
        to_stdout(shell, &mut input.take(HEAD_BYTES))
    })
}
