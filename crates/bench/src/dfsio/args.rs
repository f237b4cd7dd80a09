//! The words after `zerohop bench dfsio`: those of TestDFSIO, and a few of our own.

use super::matrix::MatrixArgs;
use super::result::Test;
use super::size::parse_size;
use super::work::Work;
use crate::process::WatchedProcess;
use std::path::PathBuf;
use zerohop_client::blocking::FileSystem;

/// Help for a terminal: TestDFSIO's options; [`super::matrix::USAGE`] goes on.
pub const USAGE: &str = "\
Usage: zerohop bench dfsio [genericOptions] -read [-random | -backward | -skip [-skipSize Size]] |
  -write | -append | -truncate | -clean [-nrFiles N] [-size Size[B|KB|MB|GB|TB]]
  [-resFile resultFileName] [-bufferSize Bytes] [-storagePolicy storagePolicyName]
  On the cluster that the configuration names, or on one of its own that is gone afterwards.
    -nrFiles N       files, each moved by a thread; 1
    -size Size       of each file (also -fileSize); megabytes if no unit is given; 1MB
    -bufferSize N    bytes of each call; 1000000
    -skipSize Size   left out after each buffer of -skip; as much as the buffer
    -resFile FILE    results are appended to it; TestDFSIO_results.log
    -seq             one file after the other
    --no-verify      reads without checking checksums
  And what TestDFSIO does not have:
";

/// Where results go unless told otherwise.
const RESULT_FILE: &str = "TestDFSIO_results.log";

/// What was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    /// The test; `None` removes the files.
    pub test: Option<Test>,
    /// Files.
    pub files: usize,
    /// Bytes of each.
    pub size: u64,
    /// Bytes of each call.
    pub buffer_len: usize,
    /// Bytes left out by `-skip`, if they were given.
    pub skip_len: Option<u64>,
    /// Results are appended to it.
    pub result_file: PathBuf,
    /// One file after the other, and no result but the time.
    pub in_turn: bool,
    /// Of written files.
    pub storage_policy: Option<String>,
    /// Whether checksums are checked.
    pub verify: bool,
    /// The cluster was started for this: what a test reads is written first.
    pub is_own_cluster: bool,
    /// Processes whose CPU time is of interest.
    pub watched: Vec<WatchedProcess>,
    /// All the ways to read instead of a test.
    pub matrix: MatrixArgs,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            test: None,
            files: 1,
            size: 1 << 20,
            buffer_len: 1_000_000,
            skip_len: None,
            result_file: RESULT_FILE.into(),
            in_turn: false,
            storage_policy: None,
            verify: true,
            is_own_cluster: false,
            watched: Vec::new(),
            matrix: MatrixArgs::default(),
        }
    }
}

impl Args {
    /// Reads the words; an error is a line to print before [`USAGE`].
    pub fn parse<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let mut args = Self::default();
        let mut words = words.into_iter();
        let mut asked = None;
        let (mut files, mut size, mut buffer_len) = (None, None, None);
        while let Some(word) = words.next() {
            let word = word.as_ref();
            let mut value = || {
                let value = words.next().map(|value| value.as_ref().to_owned());
                value.ok_or_else(|| format!("{word} needs a value"))
            };
            if args.matrix.take(word, &mut value)? {
                continue;
            }
            // Hadoop's program does not care for the case of its options either.
            match word.to_ascii_lowercase().as_str() {
                "-write" => asked = Some(Some(Test::Write)),
                "-append" => asked = Some(Some(Test::Append)),
                "-truncate" => asked = Some(Some(Test::Truncate)),
                "-clean" => asked = Some(None),
                lower @ ("-random" | "-backward" | "-skip") => {
                    if asked != Some(Some(Test::Read)) {
                        return Err(format!("{word} goes with -read, behind it"));
                    }
                    asked = Some(Some(match lower {
                        "-random" => Test::ReadRandom,
                        "-backward" => Test::ReadBackward,
                        _ => Test::ReadSkip,
                    }));
                }
                "-nrfiles" => files = Some(above_zero(word, &value()?)?),
                "-size" | "-filesize" => size = Some(parse_size(&value()?)?),
                "-skipsize" => args.skip_len = Some(parse_size(&value()?)?),
                "-buffersize" => buffer_len = Some(above_zero(word, &value()?)?),
                "-resfile" => args.result_file = value()?.into(),
                "-storagepolicy" => args.storage_policy = Some(value()?),
                "--no-verify" => args.verify = false,
                "--own-cluster" => args.is_own_cluster = true,
                "--watch" => {
                    let text = value()?;
                    let process = WatchedProcess::parse(&text);
                    args.watched.push(process.ok_or_else(|| format!("{text} is not NAME=PID"))?);
                }
                "-erasurecodepolicy" => {
                    return Err(format!("{word}: erasure coding is not there yet"));
                }
                lower if lower.starts_with("-compression") => {
                    return Err(format!("{word}: this measures HDFS, not codecs; leave it out"));
                }
                lower if lower.starts_with("-seq") => args.in_turn = true,
                lower if lower.starts_with("-read") => asked = Some(Some(Test::Read)),
                _ => return Err(format!("Illegal argument: {word}")),
            }
        }
        if args.matrix.is_asked {
            (args.files, args.size, args.buffer_len) = (2, 1 << 30, 1 << 20);
            if size == Some(0) {
                return Err("--matrix has nothing to read in files of no bytes".to_owned());
            }
        } else {
            let tests = "-read, -write, -append, -truncate, -clean, --matrix";
            args.test = asked.ok_or_else(|| format!("Missing arguments: one of {tests}"))?;
        }
        args.files = files.unwrap_or(args.files);
        args.size = size.unwrap_or(args.size);
        args.buffer_len = buffer_len.unwrap_or(args.buffer_len);
        Ok(args)
    }

    /// The work on a file system; `base` is the directory of all tests.
    pub fn work(&self, fs: FileSystem, base: String) -> Work {
        Work {
            fs,
            base,
            files: self.files,
            size: self.size,
            buffer_len: self.buffer_len,
            // As TestDFSIO: nothing to skip is as much as a buffer.
            skip_len: self.skip_len.filter(|len| *len > 0).unwrap_or(self.buffer_len as u64),
            storage_policy: self.storage_policy.clone(),
            verify: self.verify,
            in_turn: self.in_turn,
        }
    }
}

fn above_zero(option: &str, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{option} {text}: a number above 0 is needed"))
}

#[cfg(test)]
mod tests {
    use super::super::matrix::{ReadMode, Sink};
    use super::*;

    fn parse(words: &str) -> Result<Args, String> {
        Args::parse(words.split_whitespace())
    }

    #[test]
    fn options_are_those_of_testdfsio() {
        let words =
            "-read -skip -nrFiles 3 -fileSize 2GB -bufferSize 4096 -skipSize 1KB -resFile r";
        let args = parse(words).unwrap();
        assert_eq!(args.test, Some(Test::ReadSkip));
        assert_eq!((args.files, args.size, args.buffer_len), (3, 2 << 30, 4096));
        assert_eq!((args.skip_len, args.result_file), (Some(1024), "r".into()));
        let args = parse("-WRITE -nrfiles 2 -SIZE 10").unwrap();
        assert_eq!((args.test, args.files, args.size), (Some(Test::Write), 2, 10 << 20));
        assert_eq!(parse("-clean").unwrap().test, None);
        for (words, test) in [
            ("-reading", Test::Read),
            ("-read -random", Test::ReadRandom),
            ("-read -backward", Test::ReadBackward),
            ("-append -seq", Test::Append),
            ("-truncate", Test::Truncate),
            ("-write -read", Test::Read),
        ] {
            assert_eq!(parse(words).unwrap().test, Some(test), "{words}");
        }
    }

    #[test]
    fn defaults_are_those_of_testdfsio() {
        let args = parse("-write").unwrap();
        assert_eq!((args.files, args.size, args.buffer_len), (1, 1 << 20, 1_000_000));
        assert_eq!(args.result_file, std::path::Path::new("TestDFSIO_results.log"));
    }

    #[test]
    fn the_matrix_has_sizes_of_its_own() {
        let args = parse("--matrix --runs 7 --json --csv=a.csv --html --paths tcp,local").unwrap();
        assert_eq!((args.files, args.size, args.buffer_len), (2, 1 << 30, 1 << 20));
        assert_eq!(args.matrix.runs, 7);
        assert_eq!(args.matrix.json, Some(Sink::Output));
        assert_eq!(args.matrix.csv, Some(Sink::File("a.csv".into())));
        assert_eq!(args.matrix.html, Some("dfsio-matrix.html".into()));
        assert_eq!(args.matrix.modes, [ReadMode::Tcp, ReadMode::Local]);
        assert!(!args.matrix.has_table());
        let args = parse("-size 8MB --matrix -nrFiles 1 --html=Page.html").unwrap();
        assert_eq!((args.files, args.size), (1, 8 << 20));
        assert!(args.matrix.has_table() && args.matrix.html == Some("Page.html".into()));
    }

    #[test]
    fn mistakes_are_named() {
        for (words, part) in [
            ("", "Missing arguments"),
            ("-nrFiles 3", "Missing arguments"),
            ("-random", "goes with -read"),
            ("-write -random", "goes with -read"),
            ("-read -size", "needs a value"),
            ("-read -size x", "no size"),
            ("-read -nrFiles 0", "above 0"),
            ("-read -bufferSize 1k", "above 0"),
            ("-write -compression gzip", "leave it out"),
            ("--matrix --paths pigeon", "pigeon is no path"),
            ("--matrix --runs 0", "above 0"),
            ("--matrix -size 0", "no bytes"),
            ("-read nonsense", "Illegal argument: nonsense"),
        ] {
            let error = parse(words).unwrap_err();
            assert!(error.contains(part), "{words}: {error}");
        }
    }
}
