//! The table of configuration keys says what the code does, and the page says what the table says.

use zerohop_conf::KeyInfo;
use zerohop_conf::keys::{self, Status};
use zerohop_tidy::{configuration, root};

fn none(what: &str, found: Vec<String>) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

/// About 90 of 200 declared keys were read by no code, and nothing said so.
#[test]
fn every_implemented_key_is_read_by_code() {
    let readers = configuration::readers();
    let is_idle = |key: &&KeyInfo| !keys::is_unread(key.name) && !readers.contains_key(key.name);
    let idle = keys::all().filter(is_idle).map(|key| key.name.to_owned()).collect();
    none("read by no code: put the name into crates/conf/src/keys/unread.txt, in order", idle);
}

#[test]
fn every_key_that_code_reads_is_implemented() {
    let readers = configuration::readers();
    let read = readers.keys().filter(|name| keys::is_unread(name)).map(|name| (*name).to_owned());
    none("read by code: take the name out of crates/conf/src/keys/unread.txt", read.collect());
    let mut unknown = Vec::new();
    for (path, name) in configuration::read_by_name() {
        // A brace stands for a port, a user or a name service.
        let base = name.replace("{port}", "8020").replace(['{', '}'], "");
        let base = if name.contains('{') && keys::status(&base).is_none() {
            base.rsplit_once('.').map_or("", |(base, _)| base).to_owned()
        } else {
            base
        };
        if keys::status(&base) != Some(Status::Implemented) {
            unknown.push(format!("{path}: {name}"));
        }
    }
    none("read by name, and not in the tables of crates/conf/src/keys", unknown);
}

#[test]
fn the_page_of_the_configuration_is_up_to_date() {
    let written = std::fs::read_to_string(root().join(configuration::PAGE)).unwrap_or_default();
    assert!(
        written == configuration::page(),
        "{} differs from the tables; `cargo run -p zerohop-tidy --bin configuration-page' writes it",
        configuration::PAGE
    );
}
