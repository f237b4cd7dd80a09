//! The options that go with `--matrix`.

use super::cell::Op;
use super::read_mode::ReadMode;
use std::path::PathBuf;
use std::time::Duration;

/// Help for a terminal.
pub const USAGE: &str = "    --matrix         reads by tcp, domain-socket, local and local-mapped; verified and not; from a
                     warm and a dropped page cache; beside read(2) and pread(2) of the same bytes.
                     Here -nrFiles is 2, -size 1GB, -bufferSize 1048576 unless given
    --runs N         runs of each row that count; 5, from a dropped cache 3
    --paths A,B      only these of tcp, domain-socket, local, local-mapped
    --ops A,B        only these of read, scan, random-read, vectored-read
    --time MS        of each random run; 100
    --local DIRECTORY   on the DataNode's disk, for the plain files; the temporary directory
    --json[=FILE]    the rows as JSON instead of the table, or besides it into a file
    --csv[=FILE]     the same as CSV
    --html[=FILE]    one page with charts; dfsio-matrix.html
    --watch NAME=PID a DataNode's process, for its CPU time";

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sink {
    /// Standard output, instead of the table.
    Output,
    /// A file, besides the table.
    File(PathBuf),
}

/// What `--matrix` is to do.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixArgs {
    /// Whether it was asked for at all.
    pub is_asked: bool,
    /// Runs that count, of rows with a warm cache.
    pub runs: usize,
    /// The same of rows with a dropped one, which take most of the time.
    pub runs_dropped: usize,
    /// How blocks are read.
    pub modes: Vec<ReadMode>,
    /// Which operations.
    pub ops: Vec<Op>,
    /// Of each random run.
    pub time: Duration,
    /// For the plain files.
    pub local_directory: Option<PathBuf>,
    /// JSON, if asked for.
    pub json: Option<Sink>,
    /// CSV, if asked for.
    pub csv: Option<Sink>,
    /// The page, if asked for.
    pub html: Option<PathBuf>,
}

impl Default for MatrixArgs {
    fn default() -> Self {
        Self {
            is_asked: false,
            runs: 5,
            runs_dropped: 3,
            modes: ReadMode::ALL.to_vec(),
            ops: Op::ALL.to_vec(),
            time: Duration::from_millis(100),
            local_directory: None,
            json: None,
            csv: None,
            html: None,
        }
    }
}

impl MatrixArgs {
    /// Takes a word if it is one of these options; `value` gives the word behind it.
    pub fn take(
        &mut self,
        word: &str,
        value: &mut dyn FnMut() -> Result<String, String>,
    ) -> Result<bool, String> {
        let (option, file) = match word.split_once('=') {
            Some((option, file)) => (option, Some(PathBuf::from(file))),
            None => (word, None),
        };
        let sink = |file: Option<PathBuf>| file.map_or(Sink::Output, Sink::File);
        match option {
            "--matrix" => self.is_asked = true,
            "--json" => self.json = Some(sink(file)),
            "--csv" => self.csv = Some(sink(file)),
            "--html" => self.html = Some(file.unwrap_or_else(|| "dfsio-matrix.html".into())),
            "--local" => self.local_directory = Some(value()?.into()),
            "--runs" => {
                self.runs = number(word, &value()?)? as usize;
                self.runs_dropped = self.runs;
            }
            "--time" => self.time = Duration::from_millis(number(word, &value()?)?),
            "--paths" => self.modes = list(&value()?, ReadMode::from_name, "path")?,
            "--ops" => self.ops = list(&value()?, Op::from_name, "operation")?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether the table is printed.
    pub fn has_table(&self) -> bool {
        self.json != Some(Sink::Output) && self.csv != Some(Sink::Output)
    }
}

fn number(option: &str, text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{option} {text}: a number above 0 is needed"))
}

fn list<T>(text: &str, find: fn(&str) -> Option<T>, what: &str) -> Result<Vec<T>, String> {
    text.split(',').map(|name| find(name).ok_or_else(|| format!("{name} is no {what}"))).collect()
}
