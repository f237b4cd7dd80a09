//! The words after `zerohop bench rest`.

use super::plan::{RestPlan, Section};
use crate::args::{bytes, count};
use crate::process::WatchedProcess;
use std::path::PathBuf;
use std::time::Duration;

/// Help for a terminal.
pub const USAGE: &str = "\
Usage: zerohop bench rest [OPTIONS] [SECTION...]
  Measures REST: a long file beside zerohop fs and beside sendfile(2), appends, short files, many connections.
  The server is a gateway of its own, in front of the cluster that the configuration names, or of one of its own;
  or the one that --url names: ours, Apache's HttpFS, or WebHDFS on a NameNode's port.
  Sections: files, append, lines, short, connections; all of them if none is named.
    --url URL              http://HOST:PORT of a server that is running
    --json                 prints JSON instead
    --size BYTES           bytes of the long file (suffixes k, m, g); 2000000000
    --runs N               runs of everything; 3
    --seconds N            how long a run of appends or of short reads takes; 4
    --writers N            writers of lines of 4 KiB; 8
    --connections N        connections that are open at once; 1000
    --active N             those of them that send requests, 20 a second each; 100
    --watch NAME=PID       a process whose CPU time is of interest; the one named gateway is the server
    --local DIRECTORY      a directory for the file that is put and got";

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Args {
    /// The server, if one is running.
    pub url: Option<String>,
    /// JSON instead of a table.
    pub json: bool,
    /// Where the file lies that is put and got.
    pub local_directory: Option<PathBuf>,
    sections: Vec<Section>,
    size: Option<u64>,
    runs: Option<usize>,
    seconds: Option<u64>,
    writers: Option<usize>,
    connections: Option<usize>,
    active: Option<usize>,
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
                "--url" => args.url = Some(value()?),
                "--json" => args.json = true,
                "--size" => args.size = Some(bytes(&value()?)?),
                "--runs" => args.runs = Some(count(&value()?)?),
                "--seconds" => args.seconds = Some(count(&value()?)?),
                "--writers" => args.writers = Some(count(&value()?)?),
                "--connections" => args.connections = Some(count(&value()?)?),
                "--active" => args.active = Some(count(&value()?)?),
                "--local" => args.local_directory = Some(value()?.into()),
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

    /// Sets what was asked for; the rest stays.
    pub fn apply(&self, plan: &mut RestPlan) {
        plan.size = self.size.unwrap_or(plan.size);
        plan.runs = self.runs.unwrap_or(plan.runs);
        plan.time = self.seconds.map_or(plan.time, Duration::from_secs);
        plan.writers = self.writers.unwrap_or(plan.writers);
        plan.connections = self.connections.unwrap_or(plan.connections);
        plan.active = self.active.unwrap_or(plan.active);
        plan.watched.extend(self.watched.iter().cloned());
        if !self.sections.is_empty() {
            plan.sections.clone_from(&self.sections);
        }
        if let Some(directory) = &self.local_directory {
            plan.local_directory.clone_from(directory);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_settings() {
        let words = "--url http://a:1 --size 2g --seconds 9 --watch gateway=7 --json files short";
        let args = Args::parse(words.split(' ')).unwrap();
        assert_eq!((args.url.as_deref(), args.size), (Some("http://a:1"), Some(2 << 30)));
        assert_eq!((args.seconds, args.json), (Some(9), true));
        assert_eq!(args.sections, [Section::Files, Section::Short]);
        for wrong in ["--url", "--seconds 0", "--watch 7", "raw"] {
            assert!(Args::parse(wrong.split(' ')).is_err(), "{wrong}");
        }
    }
}
