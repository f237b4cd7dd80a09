//! `-setrep`, `-truncate`, `-concat`

use std::time::Duration;
use zerohop_system::clock;

use super::item::Item;
use super::options::{Options, ParsedOptions};
use super::shell::Shell;
use crate::failure::{Failure, Kind, Outcome};

/// Between two looks at a file that is to change.
const POLL: Duration = Duration::from_millis(500);

pub fn setrep(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let mut given = Options::new(2, usize::MAX, &["R", "w"]).parse(args)?;
    let text = given.take_first();
    let Ok(replication) = text.parse::<i16>() else {
        shell.warn("Illegal replication, a positive integer expected")?;
        return Err(Failure::usage(format!("For input string: \"{text}\"")));
    };
    if replication < 1 {
        return Err(Failure::usage("replication must be >= 1"));
    }
    let mut waiting = Vec::new();
    shell.walk_args(&given.rest, true, &mut |shell, item, _| {
        if !item.found()?.is_file() {
            return Ok(());
        }
        if !item.found()?.erasure_policy.is_empty() {
            let name = &item.text;
            return shell.line(format!(
                "Did not set replication for: {name}, because it's an erasure coded file."
            ));
        }
        if !item.store.set_replication(&item.path, replication.into())? {
            return Err(Failure::io(format!("Could not set replication for: {}", item.text)));
        }
        waiting.push(item.clone());
        shell.line(format!("Replication {replication} set: {}", item.text))
    })?;
    if given.has("w") {
        waiting.iter().try_for_each(|item| wait_for_replicas(shell, item, replication))?;
    }
    Ok(())
}

fn wait_for_replicas(shell: &mut Shell, item: &Item, wanted: i16) -> Outcome {
    let wanted = usize::from(wanted.unsigned_abs());
    shell.print(format!("Waiting for {} ...", item.text).as_bytes())?;
    let mut warned = false;
    loop {
        shell.flush()?;
        let replicas = item.store.replicas(&item.path)?;
        if replicas.iter().all(|count| *count == wanted) {
            return shell.line(" done");
        }
        if !warned && replicas.iter().any(|count| *count > wanted) {
            shell.line(
                "\nWARNING: the waiting time may be long for DECREASING the number of replications.",
            )?;
            warned = true;
        }
        shell.print(b".")?;
        shell.flush()?;
        clock::sleep_thread(POLL);
    }
}

pub fn truncate(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let mut given = Options::new(2, usize::MAX, &["w"]).parse(args)?;
    let text = given.take_first();
    let Ok(length) = ParsedOptions::number(&text) else {
        shell.warn("Illegal length, a non-negative integer expected")?;
        return Err(Failure::usage(format!("For input string: \"{text}\"")));
    };
    if length < 0 {
        return Err(Failure::usage("length must be >= 0"));
    }
    let mut waiting = Vec::new();
    shell.each_found(&given.rest, |shell, item| {
        let old = item.found_file()?.length;
        if length > old {
            return Err(Failure::usage(format!(
                "Cannot truncate to a larger file size. Current size: {old}, truncate size: {length}."
            )));
        }
        let name = &item.text;
        if item.store.truncate(&item.path, length)? {
            return shell.line(format!("Truncated {name} to length: {length}"));
        }
        if given.has("w") {
            waiting.push(item.clone());
            return Ok(());
        }
        shell.line(format!(
            "Truncating {name} to length: {length}. Wait for block recovery to complete before further updating this file."
        ))
    })?;
    waiting.into_iter().try_for_each(|item| wait_for_length(shell, item, length))
}

fn wait_for_length(shell: &mut Shell, mut item: Item, length: i64) -> Outcome {
    shell.line(format!("Waiting for {} ...", item.text))?;
    shell.flush()?;
    loop {
        item.refresh()?;
        if item.found()?.length == length {
            return shell.line(format!("Truncated {} to length: {length}", item.text));
        }
        clock::sleep_thread(POLL);
    }
}

pub fn concat(shell: &mut Shell, args: Vec<String>) -> Outcome {
    const USAGE: &str = "<target path> <src path> <src path> ...";
    let items = shell.expand_all(&args)?;
    let Some((target, sources)) = items.split_first() else {
        return Err(Failure::io(format!("Target path not specified. {USAGE}")));
    };
    if sources.len() < 2 {
        return Err(Failure::io(format!("The number of source paths is less than 2. {USAGE}")));
    }
    let is_file = |item: &Item| item.status.as_ref().is_some_and(|status| status.is_file());
    if !is_file(target) {
        let path = target.qualified();
        return Err(Failure::io(format!("Target path {path} does not exist or is not file.")));
    }
    if let Some(missing) = sources.iter().find(|item| !is_file(item)) {
        let path = missing.qualified();
        return Err(Failure::io(format!("{path} does not exist or is not file.")));
    }
    let paths: Vec<String> = sources.iter().map(|item| item.path.clone()).collect();
    target.store.concat(&target.path, &paths).map_err(|failure| match failure.kind {
        Kind::Unsupported => {
            let scheme = target.store.uri();
            let scheme = scheme.split(':').next().unwrap_or_default().to_owned();
            Failure::io(format!(
                "`Dest filesystem '{scheme}' doesn't support concat.': Input/output error"
            ))
        }
        _ => failure,
    })
}
