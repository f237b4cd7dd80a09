//! A JournalNode that lost its disk: `journalnode -format` gives it its name space and its promise back, while Apache's and ours serve.

use std::fs;

use zerohop_interop::Kind::{Apache, Ours};
use zerohop_interop::harm::{Explain, zerohop};
use zerohop_interop::{Outcome, wait};

use super::{Kinds, LIMIT, Pair};

const EACH: usize = 5;
/// The JournalNode with the bad disk.
const LOST: usize = 2;

impl Pair {
    /// Formats the JournalNode with these options; its exit code and what it says.
    fn format_journal_node(&self, options: &[&str]) -> Outcome<(i32, String)> {
        let words = [&["journalnode", "-format"], options].concat();
        zerohop(&self.conf(&format!("jn{LOST}")), &words)
    }

    fn roll(&self) -> Outcome {
        match zerohop(&self.conf("client"), &["dfsadmin", "-rollEdits"])? {
            (0, _) => Ok(()),
            (code, said) => Err(format!("-rollEdits: {code} {said}")),
        }
    }

    /// A small file of a JournalNode, without the line that has the date.
    fn remembered(&self, i: usize, file: &str) -> Outcome<String> {
        let path = self.directory.join(format!("jn{i}/data/ns/current")).join(file);
        let text = fs::read_to_string(path).at(file)?;
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        lines.sort_unstable();
        Ok(lines.join("\n"))
    }
}

fn refused(outcome: (i32, String), words: &[&str]) -> Outcome {
    let (code, said) = outcome;
    let fits = code != 0 && words.iter().all(|word| said.contains(word));
    if fits { Ok(()) } else { Err(format!("not refused with {words:?}: {code} {said}")) }
}

fn story(pair: &mut Pair) -> Outcome {
    // Who knows the name space does not run yet.
    refused(
        pair.format_journal_node(&["-force"])?,
        &["journal ns: no NameNode says which name space"],
    )?;
    pair.start_namenode(0)?;
    pair.admin("-transitionToActive --forceactive nn0")?;
    pair.make(EACH)?;
    pair.roll()?;
    pair.make(EACH)?;
    refused(pair.format_journal_node(&["-nonInteractive"])?, &["Not formatting"])?;
    refused(pair.format_journal_node(&["-force"])?, &["journal ns: ", "already locked by"])?;

    pair.journal_nodes[LOST] = None;
    let data = pair.directory.join(format!("jn{LOST}/data"));
    fs::remove_dir_all(&data).at("the disk")?;
    fs::create_dir(&data).at("a new disk")?;
    let (code, said) = pair.format_journal_node(&["-nonInteractive"])?;
    if code != 0 {
        return Err(said);
    }
    for file in ["VERSION", "last-promised-epoch"] {
        let (there, here) = (pair.remembered(0, file)?, pair.remembered(LOST, file)?);
        if there != here {
            return Err(format!("{file}: {here:?}, not {there:?}"));
        }
    }
    pair.start_journal_node(LOST)?;
    pair.roll()?;
    wait::until("the segments from before are fetched", LIMIT, || {
        let (there, here) = (pair.segments(0), pair.segments(LOST));
        Ok(there.len() > 1 && there.keys().eq(here.keys()))
    })?;
    // It counts again: another one may go.
    pair.journal_nodes[1] = None;
    pair.make(EACH)?;
    pair.roll()?;
    let (listed, expected) = (pair.listed()?, pair.expected(EACH));
    if listed == expected { Ok(()) } else { Err(format!("{listed:?}, not {expected:?}")) }
}

#[test]
fn a_journal_node_that_lost_its_disk_is_formatted_and_counts_again() {
    let kinds =
        Kinds { namenodes: [Ours, Ours], journal_nodes: [Ours, Apache, Ours], controllers: None };
    let mut pair = Pair::formatted("journal-nodes-lost-disk", kinds).unwrap();
    story(&mut pair).unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
}
