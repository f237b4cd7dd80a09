//! The tree's own rules. A rule that has to change is changed here and in ARCHITECTURE.md, in the
//! same commit.

use std::collections::BTreeMap;

use zerohop_tidy::imports::{Modules, circles};
use zerohop_tidy::{Source, arrows, crates, root, section, sources};

/// Which crates a crate may name. What it may name, it may name what that one may name, too.
const ARROWS: [(&str, &[&str]); 14] = [
    ("checksum", &[]),
    ("proto", &[]),
    ("wire", &["proto", "checksum"]),
    ("conf", &[]),
    ("replica", &["wire"]),
    ("journal", &["wire"]),
    ("namespace", &["journal"]),
    ("transport", &["wire", "conf"]),
    ("client", &["transport", "replica"]),
    ("datanode", &["transport", "replica"]),
    ("namenode", &["namespace", "transport"]),
    ("gateway", &["client"]),
    ("bench", &["client"]),
    ("cli", &["client", "datanode", "namenode", "gateway", "bench"]),
];

/// No line of these may know of tokio: they are bytes and events in, bytes and commands out.
const WITHOUT_RUNTIME: [&str; 6] = ["checksum", "proto", "wire", "replica", "namespace", "journal"];

/// Files may grow to this many lines; larger ones are in `sizes.txt` with a ceiling of their own.
const LINES_MAX: usize = 500;

fn reachable(name: &str) -> Vec<&'static str> {
    let direct = ARROWS.iter().find(|(n, _)| *n == name).map_or(&[][..], |(_, to)| to);
    let mut all = direct.to_vec();
    direct.iter().for_each(|to| all.extend(reachable(to)));
    all
}

fn rust() -> Vec<Source> {
    sources(&["crates", "testing", "bindings"], &[".rs"])
}

/// This file spells out what it looks for.
fn is_tidy_itself(path: &str) -> bool {
    path.starts_with("testing/tidy/")
}

fn none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn arrows_between_crates_point_one_way() {
    let mut wrong = Vec::new();
    for (name, manifest) in crates() {
        if !ARROWS.iter().any(|(n, _)| *n == name) {
            wrong.push(format!("crates/{name} has no place in the list of arrows"));
        }
        let allowed = reachable(&name);
        for to in arrows(&manifest).iter().filter(|to| !allowed.contains(&to.as_str())) {
            wrong.push(format!("{name} -> {to}"));
        }
    }
    none("arrows that may not be", wrong);
}

#[test]
fn the_core_knows_no_runtime() {
    let mut wrong = Vec::new();
    for name in WITHOUT_RUNTIME {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        let lines = section(&manifest, "[dependencies]");
        if lines.iter().any(|l| l.starts_with("tokio")) {
            wrong.push(format!("crates/{name}/Cargo.toml"));
        }
    }
    none("tokio in a crate that is to stay without it", wrong);
}

#[test]
fn nothing_is_marked_unfinished() {
    const MARKS: [&str; 7] =
        ["todo!(", "unimplemented!(", "FIXME", "XXX", "HACK", "TODO", "#[ignore"];
    let mut found = Vec::new();
    for file in rust().iter().filter(|f| !is_tidy_itself(&f.path)) {
        for (n, line) in (1..).zip(file.text.lines()) {
            if MARKS.iter().any(|mark| line.contains(mark)) {
                found.push(format!("{}:{n}: {}", file.path, line.trim()));
            }
        }
    }
    none("unfinished", found);
}

#[test]
fn no_path_of_somebodys_machine() {
    let mut marks = vec!["/root/".to_owned(), "/Users/".to_owned(), "C:\\Users".to_owned()];
    // Paths inside a file system under test may begin with /home; those of this machine may not.
    let home = std::env::var("HOME").unwrap_or_default();
    marks.extend((home.len() > 1).then(|| format!("{home}/")));
    marks.push(root().canonicalize().expect("the repository's root").display().to_string());
    let endings = [".rs", ".toml", ".sh", ".java", ".xml", ".md", "Makefile"];
    let mut found = Vec::new();
    for file in sources(&["crates", "testing", "bindings", "docs", "Makefile"], &endings) {
        for (n, line) in (1..).zip(file.text.lines()) {
            if !is_tidy_itself(&file.path) && marks.iter().any(|mark| line.contains(mark.as_str()))
            {
                found.push(format!("{}:{n}: {}", file.path, line.trim()));
            }
        }
    }
    none("paths of a machine", found);
}

#[test]
fn every_file_says_what_it_is() {
    let plain = |f: &&Source| !f.text.trim_start().starts_with("//!");
    let found = rust().iter().filter(plain).map(|f| f.path.clone()).collect();
    none("files without a `//!` line at their top", found);
}

/// The ratchet: what is small stays small, what is large may only shrink.
#[test]
fn no_file_quietly_grows() {
    let list = root().join("testing/tidy/sizes.txt");
    let text = std::fs::read_to_string(&list).unwrap_or_default();
    let ceilings: BTreeMap<&str, usize> = text
        .lines()
        .filter(|l| !l.starts_with('#'))
        .filter_map(|l| l.split_once(' '))
        .filter_map(|(lines, path)| Some((path, lines.parse().ok()?)))
        .collect();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in rust() {
        let lines = file.text.lines().count();
        let ceiling = ceilings.get(file.path.as_str()).copied();
        seen += usize::from(ceiling.is_some());
        match ceiling {
            None if lines > LINES_MAX => {
                wrong.push(format!("{} has {lines} lines; split it", file.path));
            }
            Some(ceiling) if lines > ceiling => {
                wrong.push(format!("{} grew from {ceiling} to {lines} lines; split it", file.path));
            }
            Some(_) if lines <= LINES_MAX => {
                wrong.push(format!("{} is small now: take it off the list", file.path));
            }
            _ => {}
        }
    }
    if seen != ceilings.len() {
        wrong.push("sizes.txt names a file that is not there".to_owned());
    }
    none("sizes (testing/tidy/sizes.txt)", wrong);
}

/// What a file builds upon is not built upon it: each can be read, and tested, before those above it.
#[test]
fn no_files_import_each_other_in_circles() {
    let files = rust();
    let arrows = Modules::new(&files).arrows();
    let mut wrong = Vec::new();
    for circle in circles(&arrows) {
        for from in &circle {
            let to: Vec<&str> = circle.intersection(&arrows[from]).copied().collect();
            wrong.push(format!("{from} -> {}", to.join(", ")));
        }
    }
    none("files that import each other", wrong);
}
