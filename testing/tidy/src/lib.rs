//! Finds the files that the tree's rules are about. Needs the table of configuration keys and a parser of Rust
//! only, so that the check builds in seconds.

pub mod configuration;
pub mod imports;
mod paths;
pub mod types;

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the repository.
pub struct Source {
    /// Path from the root, with `/`.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Every file below `directories` whose name ends in one of `endings`, sorted by path.
pub fn sources(directories: &[&str], endings: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    for directory in directories {
        walk(&root().join(directory), endings, &mut found);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn walk(at: &Path, endings: &[&str], found: &mut Vec<Source>) {
    let name = at.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    if name == "target" || name == ".git" {
        return;
    }
    if at.is_dir() {
        let entries = fs::read_dir(at).into_iter().flatten().flatten();
        entries.for_each(|entry| walk(&entry.path(), endings, found));
    } else if endings.iter().any(|e| name.ends_with(e)) {
        let path = at.strip_prefix(root()).unwrap_or(at).to_string_lossy().into_owned();
        found.extend(fs::read_to_string(at).ok().map(|text| Source { path, text }));
    }
}

/// The workspace crates that a manifest names as its ordinary dependencies.
pub fn arrows(manifest: &Path) -> Vec<String> {
    section(manifest, "[dependencies]")
        .iter()
        .filter_map(|line| line.strip_prefix("zerohop-"))
        .filter_map(|rest| rest.split(['.', ' ', '=']).next())
        .map(str::to_owned)
        .collect()
}

/// The lines of one section of a manifest.
pub fn section(manifest: &Path, header: &str) -> Vec<String> {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let lines = text.lines().skip_while(|l| l.trim() != header).skip(1);
    lines.take_while(|l| !l.starts_with('[')).map(str::to_owned).collect()
}

/// The crates below `crates/` with their manifests.
pub fn crates() -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(root().join("crates")).into_iter().flatten().flatten();
    let mut all: Vec<_> = entries
        .map(|e| (e.file_name().to_string_lossy().into_owned(), e.path().join("Cargo.toml")))
        .filter(|(_, manifest)| manifest.exists())
        .collect();
    all.sort();
    all
}
