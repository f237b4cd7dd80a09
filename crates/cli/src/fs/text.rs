//! `-text`: files shown in plain, whatever they are packed in.

use std::io::{self, Read};
use std::ops::Range;

use zerohop_codec::files::{avro, orc, parquet, sequence};
use zerohop_codec::lzo::{LzoIndex, LzopSplit};
use zerohop_codec::{Codec, Codecs};

use super::item::Item;
use super::options::Options;
use super::seekable::Seekable;
use super::shell::Shell;
use super::store::{Input, OpenHow};
use super::stream::to_stdout;
use crate::codecs;
use crate::failure::{Failure, Outcome};

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, usize::MAX, &["ignoreCrc"]).valued(&["range"]).parse(args)?;
    let how = OpenHow { verify: !given.has("ignoreCrc") };
    let range = given.value("range").map(parse_range).transpose()?;
    let codecs = codecs::configured(&shell.conf)?;
    shell.each_found(&given.rest, |shell, item| {
        item.found_file()?;
        match &range {
            Some(range) => show_split(shell, item, how, &codecs, range.clone()),
            None => show(shell, item, how, &codecs),
        }
    })
}

/// `START-END`, in bytes; an end that is missing is the end of the file.
fn parse_range(text: &str) -> Outcome<Range<u64>> {
    let wrong =
        || Failure::usage(format!("-range {text}: START-END in bytes is needed, as 0-134217728"));
    let (start, end) = text.split_once('-').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
    Ok(number(start)?..if end.is_empty() { u64::MAX } else { number(end)? })
}

/// The first bytes, after which the file is at its start again.
fn peek(input: &mut dyn Input) -> Outcome<Vec<u8>> {
    let mut start = Vec::new();
    (&mut *input).take(4).read_to_end(&mut start)?;
    input.seek_to(0)?;
    Ok(start)
}

fn show(shell: &mut Shell, item: &Item, how: OpenHow, codecs: &Codecs) -> Outcome {
    let mut input = item.store.open(&item.path, how)?;
    let start = peek(&mut *input)?;
    let is_gzip = start.starts_with(&[0x1f, 0x8b]);
    let named = codecs.of_file(&item.path);
    // The order is that of Apache's shell; heads of columnar files are ours.
    match named {
        _ if start.len() < 2 => to_stdout(shell, &mut *input),
        _ if is_gzip => unpacked(shell, input, Codec::Gzip),
        _ if start.starts_with(sequence::MAGIC) => {
            sequence::write_lines(input, shell).map_err(failure)
        }
        _ if start.starts_with(avro::MAGIC) => avro::write_lines(input, shell).map_err(failure),
        Some(Codec::Gzip) if start.len() > 2 => Err(Failure::io("incorrect header check")),
        Some(codec) => unpacked(shell, input, codec),
        None if start.starts_with(orc::MAGIC) => {
            orc::write_summary(Seekable::open(item, how)?, shell).map_err(failure)
        }
        None if start.starts_with(parquet::MAGIC) => {
            parquet::write_summary(Seekable::open(item, how)?, shell).map_err(failure)
        }
        None => to_stdout(shell, &mut *input),
    }
}

fn unpacked(shell: &mut Shell, input: Box<dyn Input>, codec: Codec) -> Outcome {
    let mut plain = codec.decoder(input).map_err(failure)?;
    to_stdout(shell, &mut plain)
}

/// The lines of the blocks that begin in a range: what a task of a job reads of an lzop file.
fn show_split(
    shell: &mut Shell,
    item: &Item,
    how: OpenHow,
    codecs: &Codecs,
    range: Range<u64>,
) -> Outcome {
    if codecs.of_file(&item.path) != Some(Codec::Lzop) {
        return Err(Failure::path(&item.text, "-range reads .lzo files by their index only"));
    }
    let [text, path] = [&item.text, &item.path].map(|name| LzoIndex::name_of(name));
    let index = Item::at(&item.store, text, path)?;
    if !index.exists() {
        let problem = "has no index; make it with: zerohop fs -lzoindex";
        return Err(Failure::path(&item.text, problem));
    }
    let index = LzoIndex::read(index.store.open(&index.path, how)?).map_err(failure)?;
    let split = LzopSplit::new(Seekable::open(item, how)?, &index, range).map_err(failure)?;
    split.map_or(Ok(()), |mut split| to_stdout(shell, &mut split))
}

fn failure(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::Unsupported => Failure::unsupported(error.to_string()),
        _ => Failure::from(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_bytes() {
        assert_eq!(parse_range("5-70").unwrap(), 5..70);
        assert_eq!(parse_range("5-").unwrap(), 5..u64::MAX);
        for text in ["", "5", "-5", "a-b", "5-6-7"] {
            assert!(parse_range(text).is_err(), "{text}");
        }
    }
}
