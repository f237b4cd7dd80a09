//! The words after `zerohop bench codec`.

use std::path::PathBuf;

/// Help for a terminal.
pub const USAGE: &str = "\
Usage: zerohop bench codec [OPTIONS]
  Measures decompression beside the C libraries (libz, libzstd, liblz4, libsnappy, liblzo2) and the programs
  (gzip, bzip2, zstd, lz4, lzop) that are installed, and compression on several threads beside one.
    --json                 prints JSON instead
    --file FILE            what is compressed; else text like a log
    --size MIB             so many MiB of it; 64
    --runs N               runs of everything; 5
    --threads N            threads that compress; as many as there are processors";

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecArgs {
    /// JSON instead of a table.
    pub json: bool,
    /// What is compressed.
    pub file: Option<PathBuf>,
    /// Bytes of it.
    pub length: usize,
    /// Runs of everything.
    pub runs: usize,
    /// Threads that compress.
    pub threads: usize,
}

impl CodecArgs {
    /// Reads the words; an error is a line to print before [`USAGE`].
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut args = CodecArgs { json: false, file: None, length: 64 << 20, runs: 5, threads };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--json" {
                args.json = true;
                continue;
            }
            let value =
                words.next().ok_or_else(|| format!("{word}: no such option, or no value"))?;
            let number = || match value.parse::<usize>() {
                Ok(number) if (1..=4096).contains(&number) => Ok(number),
                _ => Err(format!("{word} {value}: a number from 1 to 4096 is needed")),
            };
            match word.as_str() {
                "--file" => args.file = Some(value.into()),
                "--size" => args.length = number()? << 20,
                "--runs" => args.runs = number()?,
                "--threads" => args.threads = number()?,
                _ => return Err(format!("{word} is no option")),
            }
        }
        Ok(args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_arguments() {
        let parse = |text: &str| {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            CodecArgs::parse(&words)
        };
        let args = parse("--json --size 8 --runs 3 --threads 2 --file /a").unwrap();
        assert_eq!((args.json, args.length, args.runs, args.threads), (true, 8 << 20, 3, 2));
        for text in ["--size", "--size x", "--size 0", "--what 3", "x"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
