//! The words of the command line.

use crate::section::Section;

/// Help for a terminal.
pub const USAGE: &str = "\
testing/compare/run.sh [OPTIONS] [SECTION...]
  Starts Apache Hadoop and ours, gives both the same work in turn, prints one table of medians.
  Sections: io, local, flush, small, metadata, nnbench, shell, copy, rest, rest-local, star;
  all of them if none is named. star builds DataFusion and fetches Apache Spark from Maven.
    --size BYTES        bytes of each long file (suffixes k, m, g); 1g
    --copy-size BYTES   bytes of the file that is put, got and copied, by REST too; 2g
    --runs N            runs that count, after those that warm up; 3
    --files N           small files of a run on Apache; 400 (ours: four times as many)
    --operations N      metadata operations of each kind in a run; 8000
    --scale N           million rows of the star schema's fact table; 4
    --json              prints JSON instead";

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Args {
    pub sections: Vec<Section>,
    pub size: u64,
    pub copy_size: u64,
    pub runs: usize,
    pub files: usize,
    pub operations: usize,
    /// Million rows, as zerohop-star takes it.
    pub scale: String,
    pub json: bool,
    pub help: bool,
    /// Only prints the names of the sections: what run.sh asks for.
    pub lists_sections: bool,
    /// Only makes memory ready for so many bytes and as many replicas: what Load.java calls.
    pub ready: Option<(u64, u16)>,
}

impl Args {
    /// Reads the words; an error is a line to print before [`USAGE`].
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut args = Args {
            sections: Vec::new(),
            size: 1 << 30,
            copy_size: 2 << 30,
            runs: 3,
            files: 400,
            operations: 8_000,
            scale: "4".to_owned(),
            json: false,
            help: false,
            lists_sections: false,
            ready: None,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if word == "--scale" {
                args.scale = words.next().ok_or("--scale needs a value")?;
                continue;
            }
            let mut number = || {
                let text = words.next().ok_or_else(|| format!("{word} needs a value"))?;
                let size =
                    zerohop_conf::parse_size(&text).and_then(|size| u64::try_from(size).ok());
                size.filter(|size| *size > 0).ok_or_else(|| format!("{word} {text}: not a number"))
            };
            match word.as_str() {
                "--size" => args.size = number()?,
                "--copy-size" => args.copy_size = number()?,
                "--runs" => args.runs = number()? as usize,
                "--files" => args.files = number()? as usize,
                "--operations" => args.operations = number()? as usize,
                "--ready" => {
                    let (len, replicas) = (number()?, number()?);
                    args.ready = Some((len, u16::try_from(replicas).map_err(|e| e.to_string())?));
                }
                "--json" => args.json = true,
                "--sections" => args.lists_sections = true,
                "-h" | "--help" => args.help = true,
                name => {
                    let section = Section::ALL.into_iter().find(|section| section.name() == name);
                    args.sections.push(section.ok_or_else(|| format!("unknown section {name}"))?);
                }
            }
        }
        if args.sections.is_empty() {
            args.sections = Section::ALL.to_vec();
        }
        Ok(args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_settings() {
        let parse = |text: &str| Args::parse(text.split_whitespace().map(str::to_owned));
        let args = parse("--size 64m io --runs 5 shell").unwrap();
        assert_eq!((args.size, args.runs), (64 << 20, 5));
        assert_eq!(args.sections, [Section::Io, Section::Shell]);
        assert_eq!(parse("").unwrap().sections.len(), Section::ALL.len());
        assert_eq!(parse("--ready 1m 3").unwrap().ready, Some((1 << 20, 3)));
        let args = parse("--scale 0.02 --sections star").unwrap();
        assert_eq!((args.scale.as_str(), args.lists_sections), ("0.02", true));
        for wrong in ["--ready 1m", "--scale", "--size", "--size x", "--runs 0", "all"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
