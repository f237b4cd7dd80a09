//! A name service is formatted a second time: our JournalNodes keep its edits until their operator allows to destroy them.

use std::fs;

use zerohop_interop::Kind::{self, Apache, Ours};
use zerohop_interop::Outcome;
use zerohop_interop::harm::{Explain, zerohop};

use super::{Kinds, Pair};

const KEY: &str = "zerohop.journalnode.format.over.data";

impl Pair {
    /// Formats by force. Returns what the NameNode says if it fails.
    fn format_again(&self) -> Outcome<Result<(), String>> {
        match self.kinds.namenodes[0] {
            Apache => Ok(self.once("format", 0)),
            Ours => Ok(match zerohop(&self.conf("nn0"), &["namenode", "-format", "-force"])? {
                (0, _) => Ok(()),
                (code, said) => Err(format!("{code} {said}")),
            }),
        }
    }

    fn clusters(&self) -> Outcome<Vec<String>> {
        let versions = (0..3).map(|i| {
            let path = self.directory.join(format!("jn{i}/data/ns/current/VERSION"));
            let text = fs::read_to_string(path).at("VERSION")?;
            let line = text.lines().find(|line| line.starts_with("clusterID="));
            line.map(str::to_owned).ok_or_else(|| text.clone())
        });
        versions.collect()
    }
}

fn story(pair: &mut Pair) -> Outcome {
    // Without edits, a format that ended half-way is repeated.
    pair.format_again()??;
    pair.start_namenode(0)?;
    pair.admin("-transitionToActive --forceactive nn0")?;
    pair.make(3)?;
    pair.namenodes[0] = None;
    let before = pair.clusters()?;
    match pair.format_again()? {
        Err(said) if said.contains(KEY) => {}
        other => return Err(format!("not refused with {KEY}: {other:?}")),
    }
    let after = pair.clusters()?;
    if after != before {
        return Err(format!("{after:?}, not {before:?}"));
    }
    for i in 0..3 {
        pair.journal_nodes[i] = None;
        let site = pair.conf(&format!("jn{i}")).join("hdfs-site.xml");
        let text = fs::read_to_string(&site).at("hdfs-site.xml")?;
        let allowed =
            format!("<property><name>{KEY}</name><value>true</value></property>\n</configuration>");
        fs::write(&site, text.replace("</configuration>", &allowed)).at("hdfs-site.xml")?;
        pair.start_journal_node(i)?;
    }
    pair.format_again()??;
    let after = pair.clusters()?;
    if after.iter().any(|cluster| *cluster == before[0]) {
        return Err(format!("{after:?} after {before:?}"));
    }
    pair.start_namenode(0)?;
    pair.admin("-transitionToActive --forceactive nn0")
}

fn run(name: &str, namenode: Kind) {
    let kinds =
        Kinds { namenodes: [namenode, Ours], journal_nodes: [Ours, Ours, Ours], controllers: None };
    let mut pair = Pair::formatted(name, kinds).unwrap();
    story(&mut pair).unwrap_or_else(|error| panic!("{error}\n{}", pair.logs()));
}

#[test]
fn our_journal_nodes_keep_edits_from_an_apache_format_until_their_operator_allows_it() {
    run("journal-nodes-reformat-apache", Apache);
}

#[test]
fn our_journal_nodes_keep_edits_from_our_format_until_their_operator_allows_it() {
    run("journal-nodes-reformat-ours", Ours);
}
