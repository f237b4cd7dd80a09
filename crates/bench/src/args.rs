//! The words after `zerohop bench`.

use crate::process::WatchedProcess;
use crate::suite::{Section, Suite};

/// Help for a terminal.
pub const USAGE: &str = "\
Usage: zerohop bench [OPTIONS] [SECTION...]
  Measures the cluster that the configuration names (or one of its own), beside what the machine
  allows, and prints a table: medians, CPU time of each process.
  Sections: raw, io, local, flush, metadata, small; all of them if none is named.
    --json                 prints JSON instead
    --size BYTES           bytes of each long file (suffixes k, m, g); 1g
    --runs N               runs of everything; 5
    --replication N[,N]    replications to write with; 1
    --operations N         metadata operations of each kind in a run; 16000
    --connections N        connections of the metadata load; 16
    --watch NAME=PID       a process whose CPU time is of interest; may be given several times
    --local DIRECTORY         a directory on the DataNodes' disk, for the raw limits";

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// JSON instead of a table.
    pub json: bool,
    /// Where the raw limits are measured.
    pub local_directory: Option<std::path::PathBuf>,
    sections: Vec<Section>,
    file_len: Option<u64>,
    runs: Option<usize>,
    replications: Vec<u16>,
    operations: Option<usize>,
    connections: Option<usize>,
    watched: Vec<WatchedProcess>,
}

impl Args {
    /// Reads the words; an error is a line to print before [`USAGE`].
    pub fn parse<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let mut args = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let word = word.as_ref();
            let mut value = || {
                let value = words.next().map(|value| value.as_ref().to_owned());
                value.ok_or_else(|| format!("{word} needs a value"))
            };
            match word {
                "--json" => args.json = true,
                "--size" => args.file_len = Some(bytes(&value()?)?),
                "--runs" => args.runs = Some(count(&value()?)?),
                "--operations" => args.operations = Some(count(&value()?)?),
                "--connections" => args.connections = Some(count(&value()?)?),
                "--local" => args.local_directory = Some(value()?.into()),
                "--replication" => {
                    for number in value()?.split(',') {
                        args.replications.push(count(number)?);
                    }
                }
                "--watch" => {
                    let text = value()?;
                    let process = WatchedProcess::parse(&text);
                    args.watched.push(process.ok_or_else(|| format!("{text} is not NAME=PID"))?);
                }
                name => {
                    let section = Section::from_name(name);
                    args.sections.push(section.ok_or_else(|| format!("unknown section {name}"))?);
                }
            }
        }
        Ok(args)
    }

    /// Whether a cluster is needed at all.
    pub fn needs_cluster(&self) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|section| *section != Section::Raw)
    }

    /// Sets what was asked for; the rest stays.
    pub fn apply(&self, suite: &mut Suite) {
        suite.file_len = self.file_len.unwrap_or(suite.file_len);
        suite.runs = self.runs.unwrap_or(suite.runs);
        suite.operations = self.operations.unwrap_or(suite.operations);
        suite.connections = self.connections.unwrap_or(suite.connections);
        suite.watched.extend(self.watched.iter().cloned());
        if !self.sections.is_empty() {
            suite.sections.clone_from(&self.sections);
        }
        if !self.replications.is_empty() {
            suite.replications.clone_from(&self.replications);
        }
        if let Some(directory) = &self.local_directory {
            suite.local_directory.clone_from(directory);
        }
    }
}

pub(crate) fn count<T: TryFrom<u64>>(text: &str) -> Result<T, String> {
    let wrong = || format!("{text} is not a number above 0");
    let number: u64 = text.parse().ok().filter(|number| *number > 0).ok_or_else(wrong)?;
    T::try_from(number).map_err(|_| wrong())
}

pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, shift) = match lower.as_bytes() {
        [.., b'k'] => (&lower[..lower.len() - 1], 10),
        [.., b'm'] => (&lower[..lower.len() - 1], 20),
        [.., b'g'] => (&lower[..lower.len() - 1], 30),
        _ => (lower.as_str(), 0),
    };
    let number: u64 = count(digits)?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("{text} is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_settings() {
        let words = "--json --size 256m --replication 1,3 --watch DataNode=7 io flush";
        let args = Args::parse(words.split(' ')).unwrap();
        assert!(args.json && args.needs_cluster());
        assert_eq!(args.file_len, Some(256 << 20));
        assert_eq!(args.replications, [1, 3]);
        assert_eq!(args.sections, [Section::Sequential, Section::Flush]);
        assert!(!Args::parse(["raw"]).unwrap().needs_cluster());
    }

    #[test]
    fn mistakes_are_named() {
        for (words, part) in [("--size", "needs a value"), ("--runs 0", "above 0"), ("all", "all")]
        {
            let error = Args::parse(words.split(' ')).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
