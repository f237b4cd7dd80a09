//! `-checksum`

use super::options::Options;
use super::shell::Shell;
use crate::failure::Outcome;

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, usize::MAX, &["v"]).parse(args)?;
    shell.each_found(&given.rest, |shell, item| {
        let status = item.found_file()?;
        let sum = match item.store.checksum(&item.path)? {
            Some(sum) => format!("{}\t{}", sum.algorithm, hex::encode(&sum.bytes)),
            None => "NONE".to_owned(),
        };
        match given.has("v") {
            true => shell.line(format!("{}\t{sum}\tBlockSize={}", item.text, status.block_size)),
            false => shell.line(format!("{}\t{sum}", item.text)),
        }
    })
}
