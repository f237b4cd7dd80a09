//! Parses the options of `DistCpOptionSwitch` with the rules of Hadoop's GNU parser: options precede paths.

use zerohop_conf::{Conf, keys};

use super::attributes::Attributes;
use crate::failure::{Failure, Outcome};

/// Default of `-m`.
const THREADS: usize = 4;

/// Options without a value.
const FLAGS: [&str; 15] = [
    "append",
    "async",
    "atomic",
    "delete",
    "direct",
    "i",
    "json",
    "overwrite",
    "skipcrccheck",
    "update",
    "updateRoot",
    "useTrash",
    "useiterator",
    "v",
    "p",
];

/// Options with a value in the next word.
const VALUED: [&str; 13] = [
    "bandwidth",
    "blocksperchunk",
    "copybuffersize",
    "f",
    "filelimit",
    "filters",
    "log",
    "m",
    "numListstatusThreads",
    "sizelimit",
    "strategy",
    "tmp",
    "xtrack",
];

/// Hadoop options that are refused, each with the reason.
const REFUSED: [(&str, &str); 4] = [
    ("async", "the copy runs in this process; start the command in the background"),
    ("diff", "snapshot reports are not implemented; use -update, which compares the files"),
    ("rdiff", "snapshot reports are not implemented; use -update, which compares the files"),
    ("xtrack", "Hadoop changes the format of its files with each version"),
];

/// Keys that name a Java class.
const CLASSES: [&str; 2] = ["distcp.filters.class", "distcp.copy.listing.class"];

/// The parsed command line.
#[derive(Debug, Clone, Default)]
pub struct DistcpOptions {
    pub update: bool,
    pub overwrite: bool,
    pub append: bool,
    pub delete: bool,
    /// Move to the trash instead of deleting (HDFS-9913).
    pub use_trash: bool,
    pub skip_checksums: bool,
    /// Without a checksum comparison, copy files of equal length if the source is newer.
    pub compare_times: bool,
    pub ignore_failures: bool,
    pub atomic: bool,
    /// Parent of the work directory of `-atomic`.
    pub work: Option<String>,
    pub direct: bool,
    pub update_root: bool,
    /// File that lists the sources.
    pub listing: Option<String>,
    /// Local file with patterns of paths to exclude.
    pub filters: Option<String>,
    pub log: Option<String>,
    pub verbose: bool,
    /// Read limit of each thread, in bytes per second.
    pub bandwidth: Option<f64>,
    pub threads: usize,
    pub keep: Attributes,
    pub json: bool,
    pub sources: Vec<String>,
    pub target: String,
}

impl DistcpOptions {
    pub fn parse(conf: &Conf, words: Vec<String>) -> Outcome<DistcpOptions> {
        let mut asked = DistcpOptions {
            threads: THREADS,
            compare_times: conf.get(&keys::DISTCP_UPDATE_MODIFICATION_TIME)?,
            filters: conf.get(&keys::DISTCP_FILTERS_FILE)?,
            ..DistcpOptions::default()
        };
        if let Some(class) = CLASSES.iter().find(|name| conf.get_raw(name).is_some()) {
            return Err(Failure::usage(format!(
                "{class}: Java classes cannot be loaded; unset the key"
            )));
        }
        if let Some(rate) = conf.get(&keys::DISTCP_MAP_BANDWIDTH_MB)? {
            asked.set_bandwidth(&rate)?;
        }
        let paths = asked.take_options(words)?;
        asked.take_paths(paths)?;
        asked.check()?;
        Ok(asked)
    }

    /// Applies the options and returns the remaining words.
    fn take_options(&mut self, words: Vec<String>) -> Outcome<Vec<String>> {
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next_if(|word| word.starts_with('-') && word != "-") {
            if word == "--" {
                return Ok(words.collect());
            }
            let bare = word.trim_start_matches('-');
            let (name, value) = match bare.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (bare, None),
            };
            if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
                return Err(Failure::usage(format!("-{name} is refused: {why}")));
            }
            if FLAGS.contains(&name) && value.is_none() {
                self.set_flag(name)?;
            } else if VALUED.contains(&name) {
                let next = value.or_else(|| words.next_if(|word| !is_option(word)));
                let value = next.ok_or_else(|| {
                    Failure::usage(format!("Missing argument for option: {name}"))
                })?;
                self.set_value(name, value.trim())?;
            } else {
                self.set_attached(&word)?;
            }
        }
        let paths: Vec<String> = words.collect();
        match paths.iter().find(|path| is_option(path)) {
            // Hadoop takes it for a path, and the last word for the target.
            Some(late) => Err(Failure::usage(format!(
                "{late} follows a path; put options first (write a path of that name as ./{late})"
            ))),
            None => Ok(paths),
        }
    }

    fn set_flag(&mut self, name: &str) -> Outcome {
        let flag = match name {
            "append" => &mut self.append,
            "atomic" => &mut self.atomic,
            "delete" => &mut self.delete,
            "direct" => &mut self.direct,
            "i" => &mut self.ignore_failures,
            "json" => &mut self.json,
            "overwrite" => &mut self.overwrite,
            "skipcrccheck" => &mut self.skip_checksums,
            "update" => &mut self.update,
            "updateRoot" => &mut self.update_root,
            "useTrash" => &mut self.use_trash,
            "v" => &mut self.verbose,
            "p" => {
                self.keep.add("rbugpct")?;
                return Ok(());
            }
            // `-useiterator`: listings are always read page by page.
            _ => return Ok(()),
        };
        *flag = true;
        Ok(())
    }

    fn set_value(&mut self, name: &str, value: &str) -> Outcome {
        let number = |what: &str| {
            let number = value.parse::<i32>();
            number.map_err(|_| Failure::usage(format!("{what} is invalid: {value}")))
        };
        match name {
            "f" => self.listing = Some(value.to_owned()),
            "filters" => self.filters = Some(value.to_owned()),
            "log" => self.log = Some(value.to_owned()),
            "tmp" => self.work = Some(value.to_owned()).filter(|path| !path.is_empty()),
            "m" => {
                self.threads = usize::try_from(number("Number of maps")?).unwrap_or(1).max(1);
            }
            "bandwidth" => self.set_bandwidth(value)?,
            "copybuffersize" => drop(number("copyBufferSize")?),
            "numListstatusThreads" => drop(number("Number of liststatus threads")?),
            "blocksperchunk" if number("blocksPerChunk")? > 0 => {
                // Files are copied whole, with the same blocks that Hadoop's chunks would have.
                self.keep.block_size = true;
                self.append = false;
            }
            // A strategy assigns files to machines; Hadoop ignores both limits.
            _ => {}
        }
        Ok(())
    }

    fn set_bandwidth(&mut self, value: &str) -> Outcome {
        let rate = value.parse::<f64>().ok().filter(|rate| *rate > 0.0);
        let rate = rate.ok_or_else(|| {
            Failure::usage(format!("Bandwidth {value} is invalid (should be > 0)"))
        })?;
        self.bandwidth = Some(rate * 1024.0 * 1024.0);
        Ok(())
    }

    /// Applies an option with its value in the same word: `-pugp`, `-m8`.
    fn set_attached(&mut self, word: &str) -> Outcome {
        let letters = word.strip_prefix("-p").filter(|rest| !rest.is_empty());
        if let Some(letters) = letters {
            return self.keep.add(letters.trim_start_matches('='));
        }
        match word.strip_prefix("-m") {
            Some(number) if number.parse::<i32>().is_ok() => self.set_value("m", number),
            _ => Err(Failure::usage(format!("unknown option: {word}"))),
        }
    }

    fn take_paths(&mut self, mut paths: Vec<String>) -> Outcome {
        let target = paths.pop();
        let problem = match (&target, &self.listing, paths.is_empty()) {
            (None, ..) => "Target path not specified",
            (_, Some(_), false) => "Both source file listing and source paths present",
            (_, None, true) => "Neither source file listing nor source paths present",
            _ => "",
        };
        if !problem.is_empty() {
            return Err(Failure::usage(problem));
        }
        self.sources = paths.iter().map(|path| path.trim().to_owned()).collect();
        self.target = target.unwrap_or_default().trim().to_owned();
        Ok(())
    }

    fn check(&self) -> Outcome {
        let problem = match self {
            _ if !self.atomic && self.work.is_some() => {
                "-tmp work-path can only be specified along with -atomic"
            }
            _ if self.update && self.atomic => {
                "Atomic commit can't be used with sync folder or overwrite options"
            }
            _ if self.delete && !self.is_sync() => {
                "Delete missing is applicable only with update or overwrite options"
            }
            _ if self.overwrite && self.update => {
                "Overwrite and update options are mutually exclusive"
            }
            _ if self.append && !self.update => "Append is valid only with update options",
            _ if self.append && self.skip_checksums => "Append is disallowed when skipping CRC",
            _ if self.verbose && self.log.is_none() => "-v is valid only with -log option",
            // Hadoop would leave the copy in the work directory.
            _ if self.atomic && self.delete => "-atomic and -delete exclude each other",
            _ if self.use_trash && !self.delete => "-useTrash needs -delete",
            _ => return Ok(()),
        };
        Err(Failure::usage(problem))
    }

    /// Returns `true` if the entries of a source directory go directly into the target.
    pub fn is_sync(&self) -> bool {
        self.update || self.overwrite
    }

    /// Returns `true` if a source directory whose entries go directly into the target is not copied itself.
    pub fn skips_root(&self) -> bool {
        self.is_sync() && !self.update_root
    }
}

fn is_option(word: &str) -> bool {
    let bare = word.trim_start_matches('-');
    let name = bare.split_once('=').map_or(bare, |(name, _)| name);
    let known = |name: &str| {
        FLAGS.contains(&name)
            || VALUED.contains(&name)
            || REFUSED.iter().any(|(refused, _)| *refused == name)
    };
    bare.len() < word.len() && known(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Kind;

    fn parse(text: &str) -> Outcome<DistcpOptions> {
        let words = text.split_whitespace().map(str::to_owned).collect();
        DistcpOptions::parse(&Conf::new(), words)
    }

    #[test]
    fn options_that_contradict_or_are_not_obeyed_are_refused_by_name() {
        for (text, problem) in [
            ("", "Target path not specified"),
            ("/a", "Neither source file listing"),
            ("-f /list /a /b", "Both source file listing"),
            ("-update -overwrite /a /b", "mutually exclusive"),
            ("-delete /a /b", "Delete missing"),
            ("-append /a /b", "Append is valid only"),
            ("-update -append -skipcrccheck /a /b", "disallowed"),
            ("-atomic -update /a /b", "Atomic commit"),
            ("-atomic -overwrite -delete /a /b", "exclude each other"),
            ("-tmp /w /a /b", "-tmp"),
            ("-v /a /b", "-v is valid"),
            ("-useTrash /a /b", "-useTrash"),
            ("-update -diff s1 s2 /a /b", "-diff is refused"),
            ("-update -rdiff s1 s2 /a /b", "-rdiff is refused"),
            ("-xtrack /d /a /b", "-xtrack is refused"),
            ("-async /a /b", "-async is refused"),
            ("-m", "Missing argument"),
            ("-log -update /a /b", "Missing argument"),
            ("-m x /a /b", "Number of maps"),
            ("-bandwidth 0 /a /b", "Bandwidth"),
            ("-bandwidth x /a /b", "Bandwidth"),
            ("-foo /a /b", "unknown option: -foo"),
            ("-pz /a /b", "No enum constant"),
            ("/a /b -delete", "put options first"),
        ] {
            let refused = parse(text).unwrap_err();
            assert!(refused.kind == Kind::Usage && refused.text.contains(problem), "{refused}");
        }
    }

    #[test]
    fn options_are_read_as_hadoops_parser_reads_them() {
        let asked = parse("--update -m=3 -pUg -bandwidth 0.5 -strategy dynamic -useiterator /a /b");
        let asked = asked.unwrap();
        assert!(asked.update && asked.keep.user && asked.keep.group && !asked.keep.times);
        assert_eq!((asked.threads, asked.bandwidth), (3, Some(524_288.0)));
        assert_eq!((asked.sources, asked.target.as_str()), (vec!["/a".to_owned()], "/b"));
        let asked = parse("-p -m -3 -- -delete /b").unwrap();
        assert!(asked.keep.times && asked.keep.checksum_type && !asked.keep.acl);
        assert_eq!((asked.threads, asked.sources), (1, vec!["-delete".to_owned()]));
        let asked = parse("-update -append -blocksperchunk 2 -m8 /a /b").unwrap();
        assert!(asked.keep.block_size && !asked.append && asked.threads == 8);
    }

    #[test]
    fn settings_of_java_classes_are_refused() {
        let mut conf = Conf::new();
        conf.set("distcp.filters.class", "org.example.Filter");
        let words = vec!["/a".to_owned(), "/b".to_owned()];
        let refused = DistcpOptions::parse(&conf, words).unwrap_err();
        assert!(refused.text.contains("distcp.filters.class"), "{refused}");
    }
}
