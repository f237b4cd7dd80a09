//! Apache's offline viewers as referees of what our NameNode leaves on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::row::Row;
use crate::{Kind, Outcome, programs, tools};

/// What the viewers found in a NameNode's directory.
pub struct Seen {
    /// How often each operation is in the edit log.
    pub operations: BTreeMap<String, usize>,
    /// What an image says of each inode, without what differs from run to run; sorted.
    pub inodes: Vec<String>,
}

/// Fills a namespace, saves an image in the middle, stops, and has Apache's viewers read it all.
pub fn look(name: &str, namenode: Kind) -> Outcome<Seen> {
    let compressed = [("dfs.image.compress", "true")];
    let mut row = Row::start_with(name, Kind::Apache, (namenode, Kind::Apache), &compressed)?;
    row.cluster.keep_logs = true;
    row.others.truncate(1);
    row.fill()?;
    let mut policy = Command::new(tools::zerohop()?);
    policy.arg("--config").arg(row.cluster.conf());
    policy.args(["storagepolicies", "-setStoragePolicy", "-path", "/", "-policy", "HOT"]);
    let set = policy.output().map_err(|e| format!("storagepolicies: {e}"))?;
    if !set.status.success() {
        return Err(format!("storagepolicies: {}", String::from_utf8_lossy(&set.stderr)));
    }
    row.save_namespace()?;
    row.put("/viewers/after-image", 1, 10, 1)?;
    row.cluster.stop_all()?;
    let seen = read(&row)?;
    row.cluster.keep_logs = false;
    Ok(seen)
}

fn read(row: &Row) -> Outcome<Seen> {
    let (conf, xml) = (row.cluster.conf(), row.cluster.directory().join("viewed.xml"));
    let mut seen = Seen { operations: BTreeMap::new(), inodes: Vec::new() };
    for segment in files(row, "edits_")? {
        let text = programs::edits_as_xml(&conf, &segment, &xml)
            .map_err(|e| format!("{}: {e}", segment.display()))?;
        for operation in values(&text, "OPCODE") {
            *seen.operations.entry(operation.to_owned()).or_default() += 1;
        }
    }
    let image = files(row, "fsimage_")?.pop().ok_or("no image")?;
    let text = programs::image_as_xml(&conf, &image, &xml)?;
    ours_writes_the_same(&["-p", "XML"], &image, &text)?;
    // Apache's viewer makes and removes the directory.
    let cache = row.cluster.directory().join("oiv-cache").display().to_string();
    for options in [
        &["-p", "FileDistribution"][..],
        &["-p", "FileDistribution", "-format", "-maxSize", "20", "-step", "3"],
        &["-p", "Delimited"],
        &["-p", "Delimited", "-sp", "-ec", "-m", "2"],
        &["-p", "Delimited", "--sp", "-t", &cache, "--multiThread", "1"],
    ] {
        let theirs = programs::image_with(options, &conf, &image, &xml)?;
        ours_writes_the_same(options, &image, &theirs)?;
    }
    seen.inodes = values(&text, "inode").into_iter().map(stable).collect();
    seen.inodes.sort();
    Ok(seen)
}

/// Compares our viewer's text of an image with Apache's; each says its own version.
fn ours_writes_the_same(options: &[&str], image: &Path, theirs: &str) -> Outcome<()> {
    let mut command = Command::new(tools::zerohop()?);
    let output = command.arg("oiv").arg("-i").arg(image).args(options).output();
    let output = output.map_err(|e| format!("oiv: {e}"))?;
    let ours = String::from_utf8_lossy(&output.stdout);
    let versionless = |text: &str| match text.split_once("<version>") {
        Some((before, rest)) => {
            format!("{before}{}", rest.split_once("</version>").map_or(rest, |(_, rest)| rest))
        }
        None => text.to_owned(),
    };
    let (ours, theirs) = (versionless(&ours), versionless(theirs));
    let mut lines = ours.lines().zip(theirs.lines());
    let differs = lines.find(|(ours, theirs)| ours != theirs);
    if differs.is_none() && ours == theirs {
        return Ok(());
    }
    let error = String::from_utf8_lossy(&output.stderr);
    Err(format!("oiv {options:?} of {}: {differs:?} {error}", image.display()))
}

fn files(row: &Row, prefix: &str) -> Outcome<Vec<PathBuf>> {
    let directory = row.cluster.directory().join("nn/current");
    let entries =
        std::fs::read_dir(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(prefix) && !name.ends_with(".md5")
    });
    found.sort();
    Ok(found)
}

/// The contents of every `<tag>`.
fn values<'a>(text: &'a str, tag: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let parts = text.split(&open).skip(1);
    parts.filter_map(|rest| rest.split_once(&close).map(|(value, _)| value)).collect()
}

/// An inode without ids, stamps and times, which no two runs share.
fn stable(inode: &str) -> String {
    const VARIES: [&str; 5] = ["id", "mtime", "atime", "genstamp", "clientName"];
    let mut text = inode.to_owned();
    for tag in VARIES {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        while let Some(from) = text.find(&open) {
            let Some(len) = text[from..].find(&close) else { break };
            text.replace_range(from..from + len + close.len(), "");
        }
    }
    text
}
