//! The crate that Rust programs depend on has everything that they need, each with an example.

use zerohop_tidy::root;

/// What a program has no use for: the NameNode's own process, and the balancer.
const INSIDE: [&str; 7] = [
    "BlocksWanted",
    "LocalAnswer",
    "LocalNameNode",
    "MoveOutcome",
    "ReplicaMove",
    "ReplicaMoves",
    "StoredBlock",
];

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect("a file of the tree")
}

/// The names that each `pub use` passes on, with the comment before it.
fn passed_on(text: &str) -> Vec<(String, Vec<String>)> {
    let (mut all, mut comment, mut statement) = (Vec::new(), String::new(), String::new());
    for line in text.lines() {
        if line.starts_with("///") {
            comment.push_str(line);
            comment.push('\n');
        } else if line.starts_with("pub use ") || !statement.is_empty() {
            statement.push_str(line);
            if line.ends_with(';') {
                all.push((std::mem::take(&mut comment), names(&std::mem::take(&mut statement))));
            }
        } else if !line.starts_with("#[cfg(") {
            comment.clear();
        }
    }
    all
}

/// `a::{B, C}` and `a::b as c` as names.
fn names(statement: &str) -> Vec<String> {
    let path = statement.trim_start_matches("pub use ").trim_end_matches(';');
    let last = path.rsplit("::").next().unwrap_or(path);
    let inner = path.split_once('{').map_or(last, |(_, inner)| inner.trim_end_matches('}'));
    let name = |word: &str| word.rsplit(" as ").next().unwrap_or(word).trim().to_owned();
    inner.split(',').map(name).filter(|name| !name.is_empty()).collect()
}

#[test]
fn each_name_has_an_example() {
    let facade = passed_on(&text("crates/zerohop/src/lib.rs"));
    assert!(facade.len() > 30, "{facade:?}");
    let mut without = Vec::new();
    for (comment, names) in facade {
        let is_shown = |name: &String| comment.contains("```") && comment.contains(name.as_str());
        without.extend(names.into_iter().filter(|name| !is_shown(name)));
    }
    assert!(without.is_empty(), "without an example: {without:?}");
}

#[test]
fn everything_that_the_client_gives_has_a_name() {
    let of = |path: &str| passed_on(&text(path)).into_iter().flat_map(|(_, names)| names);
    let facade: Vec<String> = of("crates/zerohop/src/lib.rs").collect();
    let client = of("crates/client/src/lib.rs").chain(of("crates/client/src/types/mod.rs"));
    let is_missing =
        |name: &String| name != "*" && !facade.contains(name) && !INSIDE.contains(&name.as_str());
    let missing: Vec<String> = client.filter(is_missing).collect();
    assert!(missing.is_empty(), "not in crates/zerohop: {missing:?}");
}
