//! `-text`: files shown in plain, whatever they are packed in.

use std::io::Read;

use super::codec::Codec;
use super::item::Item;
use super::options::Options;
use super::seqfile;
use super::shell::Shell;
use super::store::{Input, OpenHow};
use super::stream::to_stdout;
use crate::failure::{Failure, Outcome};

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, usize::MAX, &["ignoreCrc"]).parse(args)?;
    let how = OpenHow { verify: !given.has("ignoreCrc") };
    shell.each_found(&given.rest, |shell, item| {
        item.found_file()?;
        let mut input = item.store.open(&item.path, how)?;
        let start = peek(&mut *input)?;
        show(shell, item, input, &start)
    })
}

/// The first bytes, after which the file is at its start again.
fn peek(input: &mut dyn Input) -> Outcome<Vec<u8>> {
    let mut start = Vec::new();
    (&mut *input).take(3).read_to_end(&mut start)?;
    input.seek_to(0)?;
    Ok(start)
}

fn show(shell: &mut Shell, item: &Item, mut input: Box<dyn Input>, start: &[u8]) -> Outcome {
    if start == b"SEQ" {
        let mut input = std::io::BufReader::with_capacity(1 << 18, input);
        return seqfile::lines(&mut input, &mut |line| shell.print(line.as_bytes()));
    }
    if start == b"Obj" {
        return Err(Failure::unsupported("Avro files are not supported; use avro-tools tojson"));
    }
    let codec = match start {
        [0x1f, 0x8b, ..] => Some(Codec::Gzip),
        _ => Codec::of_name(&item.path)?,
    };
    if codec == Some(Codec::Gzip) && start.len() == 3 && !start.starts_with(&[0x1f, 0x8b]) {
        return Err(Failure::io("incorrect header check"));
    }
    match codec {
        None => to_stdout(shell, &mut *input),
        Some(codec) => to_stdout(shell, &mut *codec.decode(Box::new(input))?),
    }
}
