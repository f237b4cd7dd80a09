//! `oiv`: an image for people and programs, as Apache's offline image viewer writes it.

mod delimited;
mod distribution;
mod names;
mod xml;

use std::path::Path;

use zerohop_conf::closest;
use zerohop_journal::image::ImageReader;

use crate::failure::{Failure, Outcome, complain};
use crate::fs::{pop_flag, pop_valued};
use crate::settings::Settings;
use crate::viewer_output::ViewerOutput;

/// Help for a terminal.
pub const USAGE: &str = "Usage: oiv -i <fsimage> -o <output> -p XML|Delimited|FileDistribution [OPTIONS]
\tShows an image (fsimage_...); nothing else need run.
\t-i, --inputFile\tthe image
\t-o, --outputFile\twhere to write; - is standard output, which is also the default
\t-p, --processor\tXML: everything; Delimited: a line for each file and directory; FileDistribution: how many files
\t\tthere are of each size
\t-delimiter\tbetween the fields of Delimited; a tab
\t-sp, -ec\tadds storage policy and erasure coding policy to Delimited
\t-t, --temp; -m, --multiThread\taccepted for Delimited; the directories are in memory, and one thread writes
\t-maxSize, -step\tthe largest size (128 GB) and the width of the intervals (2 MB) of FileDistribution
\t-format\tsizes of FileDistribution as ranges with units";

const PROCESSORS: [&str; 3] = ["XML", "Delimited", "FileDistribution"];

pub fn run(_: Settings, mut words: Vec<String>) -> i32 {
    if ["-h", "--help", "-help"].into_iter().any(|word| pop_flag(word, &mut words)) {
        sayln!("{USAGE}");
        return 0;
    }
    view(words).map_or_else(|failure| complain("oiv", &failure), |()| 0)
}

fn view(mut words: Vec<String>) -> Outcome {
    let mut flag =
        |name: &str| pop_flag(name, &mut words) | pop_flag(&format!("-{name}"), &mut words);
    let (with_units, storage_policy, erasure_coding) = (flag("-format"), flag("-sp"), flag("-ec"));
    let mut value = |short: &str, long: &str| -> Outcome<Option<String>> {
        let found = pop_valued(short, &mut words)?;
        Ok(found.or(pop_valued(long, &mut words)?))
    };
    let (input, output) = (value("-i", "--inputFile")?, value("-o", "--outputFile")?);
    let processor = value("-p", "--processor")?;
    let delimiter = value("-delimiter", "--delimiter")?.unwrap_or_else(|| "\t".to_owned());
    // Apache's viewer keeps directories there. Here they take less memory than its cache.
    value("-t", "--temp")?;
    let mut number = |name: &str, long: &str| -> Outcome<u64> {
        let text = value(name, long)?;
        let parsed = text.map(|text| {
            text.parse().map_err(|_| Failure::usage(format!("{name} {text}: not a number")))
        });
        Ok(parsed.transpose()?.unwrap_or(0))
    };
    let (max_size, step) = (number("-maxSize", "--maxSize")?, number("-step", "--step")?);
    // Lines are in the order of the image whatever the number of threads.
    number("-m", "--multiThread")?;
    if let Some(word) = words.first() {
        return Err(Failure::usage(format!("{word} is not supported here\n{USAGE}")));
    }
    let (Some(input), Some(processor)) = (input, processor) else {
        return Err(Failure::usage(format!("-i and -p are needed\n{USAGE}")));
    };
    let Some(name) = PROCESSORS.into_iter().find(|name| name.eq_ignore_ascii_case(&processor))
    else {
        let meant = closest(&processor, PROCESSORS);
        let meant = meant.map_or(String::new(), |near| format!("; did you mean {near}?"));
        return Err(Failure::usage(format!(
            "-p {processor} is not supported here{meant}\n{USAGE}"
        )));
    };
    let image = ImageReader::open(Path::new(&input)).map_err(Failure::of)?;
    let mut out = ViewerOutput::open(output.as_deref().unwrap_or("-"))?;
    match name {
        "XML" => xml::write(&image, &mut out)?,
        "Delimited" => {
            let fields = delimited::Fields { storage_policy, erasure_coding };
            delimited::write(&image, &delimiter, fields, &mut out)?;
        }
        _ => distribution::write(&image, max_size, step, with_units, &mut out)?,
    }
    ViewerOutput::finish(out)
}
