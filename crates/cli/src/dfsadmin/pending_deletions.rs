//! `-listPendingDeletions`: replicas of blocks that no file has, before they are deleted. Only zerohop's NameNode tells.

use std::io::Read;
use std::time::Duration;

use serde_json::{Value, json};
use zerohop_conf::{Conf, keys};

use super::words::expect;
use crate::failure::{Failure, Outcome};
use crate::fs::{Location, pop_flag};
use crate::http::{escape, get};
use crate::namenodes;

/// Block ids of a storage that one answer lists.
const PAGE: usize = 10_000;
/// Largest answer that is read.
const ANSWER_MAX: u64 = 64 << 20;

pub fn run(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let as_json = pop_flag("--json", &mut words);
    expect(&words, 0)?;
    let source = Source::of(conf)?;
    let mut first = source.fetch("")?;
    let storages = first.get_mut("storages").map(Value::take).unwrap_or_default();
    let storages = storages.as_array().cloned().unwrap_or_default();
    if as_json {
        let all: Outcome<Vec<Value>> =
            storages.into_iter().map(|storage| source.complete(storage)).collect();
        first["storages"] = json!(all?);
        sayln!("{first}");
        return Ok(0);
    }
    if storages.is_empty() {
        sayln!("No replicas are kept for deletion after the next full block report.");
    }
    for storage in storages {
        source.print(storage)?;
    }
    Ok(0)
}

struct Source {
    address: String,
    connect: Duration,
    read: Duration,
}

impl Source {
    fn of(conf: &Conf) -> Outcome<Self> {
        Ok(Self {
            address: namenodes::http_address(conf, &Location::parse("/"))?,
            connect: conf.get(&keys::DFS_CLIENT_FSCK_CONNECT_TIMEOUT)?,
            read: conf.get(&keys::DFS_CLIENT_FSCK_READ_TIMEOUT)?,
        })
    }

    fn fetch(&self, more: &str) -> Outcome<Value> {
        let path = format!("/pendingDeletions?limit={PAGE}{more}");
        let mut text = String::new();
        let answer = get(&self.address, &path, self.connect, self.read)?;
        answer.take(ANSWER_MAX).read_to_string(&mut text)?;
        serde_json::from_str(&text)
            .map_err(|error| Failure::io(format!("http://{}{path}: {error}", self.address)))
    }

    /// The page after this one of the same storage.
    fn next(&self, storage: &Value) -> Outcome<Option<Value>> {
        let Some(from) = storage["next"].as_str() else { return Ok(None) };
        let id = escape(storage["storage"].as_str().unwrap_or_default());
        let mut answer = self.fetch(&format!("&storage={id}&from={}", escape(from)))?;
        let same = |other: &Value| other["datanodeUuid"] == storage["datanodeUuid"];
        let found = answer["storages"].as_array_mut().into_iter().flatten();
        Ok(found.map(|found| found.take()).find(same))
    }

    /// The storage with the ids of all pages.
    fn complete(&self, mut storage: Value) -> Outcome<Value> {
        while let Some(next) = self.next(&storage)? {
            let more = next["blockIds"].as_array().cloned().unwrap_or_default();
            if let Some(ids) = storage["blockIds"].as_array_mut() {
                ids.extend(more);
            }
            storage["next"] = next["next"].clone();
        }
        if let Some(members) = storage.as_object_mut() {
            members.remove("next");
        }
        Ok(storage)
    }

    fn print(&self, mut storage: Value) -> Outcome {
        sayln!(
            "Storage {} of {}: {} replicas ({} bytes), {} newer than the metadata",
            storage["storage"].as_str().unwrap_or_default(),
            storage["datanode"].as_str().unwrap_or_default(),
            storage["replicas"],
            storage["bytes"],
            storage["newerThanMetadata"]
        );
        let mut listed = 0;
        loop {
            for id in storage["blockIds"].as_array().into_iter().flatten() {
                sayln!("\tblk_{id}");
                listed += 1;
            }
            match self.next(&storage)? {
                Some(next) => storage = next,
                None => break,
            }
        }
        let unlisted = storage["replicas"].as_u64().unwrap_or(0).saturating_sub(listed);
        if unlisted > 0 {
            sayln!("\tand {unlisted} more");
        }
        Ok(())
    }
}
