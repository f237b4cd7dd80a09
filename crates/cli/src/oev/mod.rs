//! `oev`: an edit log as XML or as counts, as Apache's offline edits viewer writes it.

mod record;
mod xml;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::Path;

use zerohop_conf::closest;
use zerohop_journal::op::{OP_CODES, OP_SIZE_MAX};
use zerohop_journal::segment::SegmentReader;

use crate::failure::{Failure, Outcome, complain};
use crate::fs::{pop_flag, pop_valued};
use crate::settings::Settings;
use crate::viewer_output::ViewerOutput;
use xml::Xml;

/// Help for a terminal.
pub const USAGE: &str = "Usage: oev -i <edits> -o <output> [-p xml|stats]
\tShows an edit log segment (edits_..., edits_inprogress_...); nothing else need run.
\t-i, --inputFile\tthe segment
\t-o, --outputFile\twhere to write; - is standard output
\t-p, --processor\txml: every record, as Apache's viewer writes it; stats: how many of each operation";

const PROCESSORS: [&str; 3] = ["xml", "stats", "binary"];
/// Codes that old releases used; Apache's counts list them.
const OBSOLETE: [(u8, &str); 2] = [(5, "OP_DATANODE_ADD"), (6, "OP_DATANODE_REMOVE")];

pub fn run(_: Settings, mut words: Vec<String>) -> i32 {
    if ["-h", "--help", "-help"].into_iter().any(|word| pop_flag(word, &mut words)) {
        sayln!("{USAGE}");
        return 0;
    }
    view(words).map_or_else(|failure| complain("oev", &failure), |()| 0)
}

fn view(mut words: Vec<String>) -> Outcome {
    let mut value = |short: &str, long: &str| -> Outcome<Option<String>> {
        let found = pop_valued(short, &mut words)?;
        Ok(found.or(pop_valued(long, &mut words)?))
    };
    let (input, output) = (value("-i", "--inputFile")?, value("-o", "--outputFile")?);
    let processor = value("-p", "--processor")?.unwrap_or_else(|| "xml".to_owned());
    if let Some(word) = words.first() {
        return Err(Failure::usage(format!("{word} is not supported here\n{USAGE}")));
    }
    let (Some(input), Some(output)) = (input, output) else {
        return Err(Failure::usage(format!("-i and -o are needed\n{USAGE}")));
    };
    let show = match processor.to_ascii_lowercase().as_str() {
        "xml" => as_xml,
        "stats" => as_counts,
        other => {
            let meant = closest(other, PROCESSORS).filter(|near| *near != other);
            let meant = meant.map_or(String::new(), |near| format!("; did you mean {near}?"));
            return Err(Failure::usage(format!(
                "-p {other} is not supported here{meant}\n{USAGE}"
            )));
        }
    };
    let reader = SegmentReader::open(Path::new(&input), OP_SIZE_MAX).map_err(Failure::of)?;
    show(reader, ViewerOutput::open(&output)?)
}

type Out = BufWriter<ViewerOutput>;

fn as_xml(mut reader: SegmentReader, out: Out) -> Outcome {
    let mut xml = Xml::begin(out)?;
    // A damaged record ends the list; what was read before it is whole XML all the same.
    let mut damage = None;
    xml.group("EDITS", |xml| {
        xml.value("EDITS_VERSION", reader.layout())?;
        loop {
            match reader.next() {
                Ok(Some(found)) => record::write(xml, &found)?,
                Ok(None) => return Ok(()),
                Err(error) => {
                    damage = Some(error);
                    return Ok(());
                }
            }
        }
    })?;
    ViewerOutput::finish(xml.finish())?;
    damage.map_or(Ok(()), |error| Err(Failure::of(error)))
}

fn as_counts(mut reader: SegmentReader, mut out: Out) -> Outcome {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut damage = None;
    loop {
        match reader.next() {
            Ok(Some(found)) => *counts.entry(found.op.name()).or_default() += 1,
            Ok(None) => break,
            Err(error) => {
                damage = Some(error);
                break;
            }
        }
    }
    writeln!(out, "    {:<30.30}      : {}", "VERSION", reader.layout().0)?;
    for (code, name) in in_apaches_order() {
        writeln!(out, "    {name:<30.30} ({code:3}): {}", counts.get(name).unwrap_or(&0))?;
    }
    if let Some(error) = &damage {
        writeln!(out, "EXITING ON ERROR: {error}")?;
    }
    ViewerOutput::finish(out)?;
    damage.map_or(Ok(()), |error| Err(Failure::of(error)))
}

/// By code, the invalid one last.
fn in_apaches_order() -> Vec<(i16, &'static str)> {
    let known = OP_CODES.iter().chain(&OBSOLETE).map(|(code, name)| (i16::from(*code), *name));
    let mut codes: Vec<(i16, &str)> = known.collect();
    codes.sort_unstable();
    codes.push((-1, "OP_INVALID"));
    codes
}
