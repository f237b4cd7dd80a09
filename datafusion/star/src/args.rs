//! The words after `zerohop bench star`.

use std::path::PathBuf;
use zerohop::Conf;
use zerohop_bench::WatchedProcess;

/// Help for a terminal.
pub const USAGE: &str = "\
Usage: zerohop bench star [OPTIONS]
  Makes a star schema of Parquet files (a fact table and 25 dimension tables) in a cluster and on the
  local disk, and asks two queries of DataFusion: about one date, and one that joins and aggregates
  everything. Each is run with local reads, over TCP and on the local files; the first run begins with
  files dropped from the page cache, the second follows at once. It prints the published table beside
  ours. Without a configured cluster it starts one of its own with one DataNode.
    --scale N              million rows of the fact table; 4
    --runs N               runs of everything; 3
    --busy                 also with a busy network: a second DataNode, from which the queries over TCP
                           read, is on another machine (a network namespace) behind a throttled link, and
                           other reads go over the same link. It needs a cluster of its own and root
    --link MBITS           the throttled link, in million bits a second; 1000
    --streams N            readers that make it busy; 8
    --json                 prints JSON instead
    --generate DIRECTORY   only writes the Parquet files, each table in a directory of its own there, and
                           the statements beside them
    --tables DIRECTORY     takes the files that --generate wrote, and leaves them; --scale says how many rows
    --directory DIRECTORY  where the local files are written, best on the DataNode's disk
    --watch NAME=PID       a process whose CPU time is of interest; may be given several times
  and where the cluster is: --config DIR, -conf FILE, -fs URI, -D KEY=VALUE";

/// The directory of the tables in HDFS; it is deleted at the end.
pub const BASE_DIRECTORY: &str = "/benchmarks/zerohop-star";

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Args {
    /// Rows of the fact table.
    pub facts: u64,
    /// Runs of everything.
    pub runs: usize,
    /// Also with a busy network.
    pub is_busy: bool,
    /// Million bits a second of the throttled link.
    pub link_mbits: u32,
    /// Readers that make the network busy.
    pub streams: usize,
    /// JSON instead of a table.
    pub json: bool,
    /// Where the local files are written.
    pub directory: Option<PathBuf>,
    /// Processes whose CPU time is measured, besides this one.
    pub watched: Vec<WatchedProcess>,
    /// A process on the other of two machines that this program made, whose link may be throttled.
    pub far: Option<u32>,
    /// Where the tables are written, and nothing else is done.
    pub generate: Option<PathBuf>,
    /// Where the tables are that were written before.
    pub tables: Option<PathBuf>,
    /// Why the network of a cluster of its own cannot be throttled.
    pub no_network: Option<String>,
    /// Where the cluster is.
    pub cluster: ClusterArgs,
    /// All words but those about where the cluster is.
    pub words: Vec<String>,
}

/// Hadoop's generic options.
#[derive(Clone, Debug, Default)]
pub struct ClusterArgs {
    /// The words themselves, to be passed on.
    pub words: Vec<String>,
    directory: Option<PathBuf>,
    files: Vec<PathBuf>,
    values: Vec<(String, String)>,
}

impl ClusterArgs {
    /// The configuration with all that was said about it.
    pub fn load(&self) -> Result<Conf, String> {
        let conf = match &self.directory {
            Some(directory) => Conf::load(directory),
            None => Conf::from_env(),
        };
        let mut conf = conf.map_err(|error| error.to_string())?;
        for file in &self.files {
            conf.add_file(file).map_err(|error| error.to_string())?;
        }
        self.values.iter().for_each(|(key, value)| conf.set_option(key, value));
        Ok(conf)
    }

    /// Takes an option of this kind; false if the word is none.
    fn take(
        &mut self,
        word: &str,
        value: &mut dyn FnMut() -> Result<String, String>,
    ) -> Result<bool, String> {
        if !matches!(word, "--config" | "-conf" | "-fs" | "-D") {
            return Ok(false);
        }
        let text = value()?;
        self.words.extend([word.to_owned(), text.clone()]);
        match (word, text.split_once('=')) {
            ("--config", _) => self.directory = Some(text.into()),
            ("-conf", _) => self.files.push(text.into()),
            ("-fs", _) => self.values.push(("fs.defaultFS".to_owned(), text)),
            (_, Some((key, value))) => self.values.push((key.to_owned(), value.to_owned())),
            (_, None) => {
                return Err(format!(
                    "-D {text}: a key and its value are needed, as -D dfs.replication=2"
                ));
            }
        }
        Ok(true)
    }
}

impl Default for Args {
    fn default() -> Self {
        Self {
            facts: 4_000_000,
            runs: 3,
            is_busy: false,
            link_mbits: 1000,
            streams: 8,
            json: false,
            directory: None,
            watched: Vec::new(),
            far: None,
            generate: None,
            tables: None,
            no_network: None,
            cluster: ClusterArgs::default(),
            words: Vec::new(),
        }
    }
}

impl Args {
    /// Reads the words; an error is a line to print before [`USAGE`].
    pub fn parse<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let mut args = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let word = word.as_ref();
            let mut given = Vec::new();
            let mut value = || {
                let value = words.next().map(|value| value.as_ref().to_owned());
                given.extend(value.clone());
                value.ok_or_else(|| format!("{word} needs a value"))
            };
            if args.cluster.take(word, &mut value)? {
                continue;
            }
            match word {
                "--scale" => args.facts = million_rows(&value()?)?,
                "--runs" => args.runs = above_0(&value()?)?,
                "--busy" => args.is_busy = true,
                "--link" => args.link_mbits = above_0(&value()?)?,
                "--streams" => args.streams = above_0(&value()?)?,
                "--json" => args.json = true,
                "--generate" => args.generate = Some(value()?.into()),
                "--tables" => args.tables = Some(value()?.into()),
                "--directory" => args.directory = Some(value()?.into()),
                "--watch" => {
                    let text = value()?;
                    let process = WatchedProcess::parse(&text);
                    args.watched.push(process.ok_or_else(|| format!("{text} is not NAME=PID"))?);
                }
                // From this program to itself, within the cluster of its own.
                "--far" => args.far = Some(above_0(&value()?)?),
                "--no-network" => args.no_network = Some(value()?),
                _ => return Err(format!("there is no option {word}")),
            }
            args.words.push(word.to_owned());
            args.words.append(&mut given);
        }
        Ok(args)
    }
}

fn above_0<T: std::str::FromStr + PartialOrd + Default>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number > T::default());
    number.ok_or_else(|| format!("{text} is not a number above 0"))
}

/// Keys of the dimensions are 32 bits: the largest has a twentieth of the rows.
fn million_rows(text: &str) -> Result<u64, String> {
    let millions: f64 = above_0(text)?;
    match (millions * 1e6).round() {
        rows if (1.0..=4e10).contains(&rows) => Ok(rows as u64),
        _ => Err(format!("--scale {text}: between 0.000001 and 40000 million rows")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_settings() {
        let words = "--scale 0.5 --runs 7 --busy --json -D a=b -fs hdfs://nn:1 --watch DataNode=7";
        let args = Args::parse(words.split(' ')).unwrap();
        assert_eq!((args.facts, args.runs, args.watched.len()), (500_000, 7, 1));
        assert!(args.is_busy && args.json);
        assert_eq!(args.cluster.words, ["-D", "a=b", "-fs", "hdfs://nn:1"]);
        assert_eq!(args.cluster.values[1].1, "hdfs://nn:1");
        assert_eq!(args.words.join(" "), "--scale 0.5 --runs 7 --busy --json --watch DataNode=7");
    }

    #[test]
    fn mistakes_are_named() {
        for (words, part) in [
            ("--scale", "needs a value"),
            ("--scale 0", "above 0"),
            ("--scale nan", "above 0"),
            ("--scale 1e300", "between"),
            ("-D a", "its value"),
            ("fast", "no option fast"),
            ("--watch a", "NAME=PID"),
        ] {
            let error = Args::parse(words.split(' ')).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
