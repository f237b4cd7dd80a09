//! The tree's own rules. A rule that has to change is changed here and in ARCHITECTURE.md, in the
//! same commit.

use std::collections::BTreeMap;

use zerohop_tidy::imports::{Modules, circles};
use zerohop_tidy::types::Types;
use zerohop_tidy::{Source, arrows, crates, root, section, sources};

/// Which crates a crate may name. What it may name, it may name what that one may name, too.
const ARROWS: [(&str, &[&str]); 28] = [
    ("system", &[]),
    ("checksum", &[]),
    ("codec", &[]),
    ("local", &["system"]),
    ("proto", &[]),
    ("wire", &["proto", "checksum"]),
    ("conf", &["system"]),
    ("profile", &["system"]),
    ("daemon", &["conf", "system", "profile"]),
    ("pages", &["daemon"]),
    ("replica", &["wire", "daemon"]),
    ("journal", &["wire"]),
    ("namespace", &["journal"]),
    ("transport", &["wire", "daemon"]),
    ("client", &["transport"]),
    ("datanode", &["transport", "replica", "pages"]),
    ("namenode", &["namespace", "quorum", "pages"]),
    ("object-store", &["client"]),
    ("zerohop", &["object-store"]),
    ("quorum", &["journal", "transport"]),
    ("journalnode", &["quorum", "pages"]),
    ("failover", &["transport"]),
    ("gateway", &["client", "pages"]),
    ("bench", &["client", "replica", "codec"]),
    ("balancer", &["client"]),
    ("top", &[]),
    ("webhdfs", &["transport"]),
    (
        "cli",
        &[
            "client",
            "codec",
            "local",
            "datanode",
            "namenode",
            "journalnode",
            "failover",
            "gateway",
            "bench",
            "balancer",
            "top",
            "webhdfs",
        ],
    ),
];

/// No line of these may know of tokio: they are bytes and events in, bytes and commands out.
const WITHOUT_RUNTIME: [&str; 7] =
    ["checksum", "codec", "proto", "wire", "replica", "namespace", "journal"];

/// Only these serve pages, and build the HTTP server of `daemon`.
const WITH_HTTP_SERVER: [&str; 5] = ["datanode", "namenode", "journalnode", "gateway", "pages"];

/// Files may grow to this many lines; larger ones are in `sizes.txt` with a ceiling of their own.
const LINES_MAX: usize = 500;

/// A type may have this many methods, and this many lines in its `impl` blocks; larger ones are in `types.txt`.
const METHODS_MAX: usize = 40;
const IMPL_LINES_MAX: usize = 800;

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
fn only_daemons_build_the_http_server() {
    let mut wrong = Vec::new();
    for (name, manifest) in crates() {
        let text = std::fs::read_to_string(&manifest).unwrap_or_default();
        let daemon = text.lines().filter(|line| line.starts_with("zerohop-daemon"));
        let with_http = daemon.filter(|line| line.contains("http")).count() > 0;
        if with_http && !WITH_HTTP_SERVER.contains(&name.as_str()) {
            wrong.push(format!("crates/{name}/Cargo.toml"));
        }
    }
    none("crates that build the HTTP server and serve no pages", wrong);
}

#[test]
fn javas_exceptions_are_made_at_the_edge_of_the_namenode() {
    const EDGE: [&str; 6] = [
        "crates/namespace/src/error/java.rs",
        "crates/namespace/src/error/java_test/",
        "crates/namenode/src/call_error.rs",
        "crates/namenode/src/message.rs",
        "crates/namenode/src/rpc/",
        "crates/namenode/src/transition_test.rs",
    ];
    let inside = sources(&["crates/namespace/src", "crates/namenode/src"], &[".rs"]);
    let inside = inside.iter().filter(|file| !EDGE.iter().any(|edge| file.path.starts_with(edge)));
    let names = |file: &&Source| {
        ["JavaException", "RemoteException"].iter().any(|name| file.text.contains(name))
    };
    let wrong = inside.filter(names).map(|file| file.path.clone()).collect();
    none("Java's exceptions inside the NameNode, where errors are kinds with fields", wrong);
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

/// The lines of a list of figures, without comments: everything up to the last blank, and the numbers before it.
fn ceilings(list: &str) -> BTreeMap<String, Vec<usize>> {
    let text = std::fs::read_to_string(root().join("testing/tidy").join(list)).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &str| {
        let numbers: Vec<usize> = line.split(' ').map_while(|word| word.parse().ok()).collect();
        let name: Vec<&str> = line.split(' ').skip(numbers.len()).collect();
        (name.join(" "), numbers)
    };
    lines.map(entry).collect()
}

/// Compares figures with their ceilings; what is below all limits needs no ceiling and may not have one.
fn hold(list: &str, limits: &[usize], found: impl Iterator<Item = (String, Vec<usize>)>) {
    let ceilings = ceilings(list);
    let exceeds =
        |figures: &[usize], limits: &[usize]| figures.iter().zip(limits).any(|(a, b)| a > b);
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (name, figures) in found {
        let ceiling = ceilings.get(&name);
        seen += usize::from(ceiling.is_some());
        match ceiling {
            None if exceeds(&figures, limits) => {
                wrong
                    .push(format!("{name} has {figures:?}, and the limit is {limits:?}: split it"));
            }
            Some(ceiling) if exceeds(&figures, ceiling) => {
                wrong.push(format!("{name} grew from {ceiling:?} to {figures:?}: split it"));
            }
            Some(_) if !exceeds(&figures, limits) => {
                wrong.push(format!("{name} is small now: take it off the list"));
            }
            _ => {}
        }
    }
    if seen != ceilings.len() {
        wrong.push("the list names something that is not there".to_owned());
    }
    none(&format!("sizes (testing/tidy/{list})"), wrong);
}

/// The ratchet: what is small stays small, what is large may only shrink.
#[test]
fn no_file_quietly_grows() {
    let files = rust();
    let sizes = files.iter().map(|file| (file.path.clone(), vec![file.text.lines().count()]));
    hold("sizes.txt", &[LINES_MAX], sizes);
}

/// A type with methods in many files is a large file in disguise.
#[test]
fn no_type_quietly_grows() {
    let files = rust();
    let types = Types::new(&files);
    let figures = types.figures().map(|(file, name, figures)| {
        (format!("{name} {file}"), vec![figures.methods, figures.lines])
    });
    hold("types.txt", &[METHODS_MAX, IMPL_LINES_MAX], figures);
}

/// As [`no_files_import_each_other_in_circles`], where methods that are called count as well. The files that call each
/// other today are listed; none may be added.
#[test]
fn no_more_files_call_each_other_in_circles() {
    let files = rust();
    let mut arrows = Modules::new(&files).arrows();
    for (from, to) in Types::new(&files).call_arrows() {
        arrows.entry(from).or_default().extend(to);
    }
    let listed = ceilings("calls.txt");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for circle in circles(&arrows) {
        seen += circle.iter().filter(|file| listed.contains_key(**file)).count();
        for from in circle.iter().filter(|file| !listed.contains_key(**file)) {
            let to: Vec<&str> = circle.intersection(&arrows[from]).copied().collect();
            wrong.push(format!("{from} -> {}", to.join(", ")));
        }
    }
    if seen != listed.len() {
        let inside: Vec<_> = circles(&arrows).into_iter().flatten().collect();
        let free = listed.keys().filter(|file| !inside.contains(&file.as_str()));
        wrong.extend(free.map(|file| format!("{file} is in no circle: take it off the list")));
    }
    none("files that call each other (testing/tidy/calls.txt)", wrong);
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
