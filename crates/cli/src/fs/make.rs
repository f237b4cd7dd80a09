//! `-mkdir`, `-touch`, `-touchz`

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::item::Item;
use super::location::parent;
use super::options::{Options, pop_valued};
use super::shell::Shell;
use super::store::{CreateHow, Times};
use crate::failure::{Failure, Outcome};
use crate::units::now_ms;

pub fn mkdir(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, usize::MAX, &["p"]).parse(args)?;
    let parents = given.has("p");
    let items = shell.expand_all(&given.rest)?;
    shell.each(&items, |_, item| match &item.status {
        Some(status) if !status.is_dir() => Err(Failure::not_directory(&item.text)),
        Some(_) if !parents => Err(Failure::exists(&item.text)),
        Some(_) => Ok(()),
        None => make_directory(item, parents),
    })
}

fn make_directory(item: &Item, parents: bool) -> Outcome {
    if !parents {
        let above = parent(&item.path).unwrap_or("/");
        if !item.store.exists(above)? {
            let above = Item { path: above.to_owned(), ..item.clone() };
            return Err(Failure::not_found(above.qualified()));
        }
    }
    match item.store.mkdirs(&item.path)? {
        true => Ok(()),
        false => Err(Failure::path(&item.text, "Input/output error")),
    }
}

pub fn touchz(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, usize::MAX, &[]).parse(args)?;
    let items = shell.expand_all(&given.rest)?;
    shell.each(&items, |_, item| {
        match &item.status {
            Some(status) if status.is_dir() => return Err(Failure::is_directory(&item.text)),
            Some(status) if status.length != 0 => {
                return Err(Failure::path(&item.text, "Not a zero-length file"));
            }
            Some(_) => {}
            None if !item.parent_exists()? => return Err(item.no_parent()),
            None => {}
        }
        create_empty(item)
    })
}

fn create_empty(item: &Item) -> Outcome {
    let how = CreateHow { overwrite: true, ..CreateHow::default() };
    item.store.create(&item.path, how)?.finish()
}

pub fn touch(shell: &mut Shell, mut args: Vec<String>) -> Outcome {
    let timestamp = pop_valued("-t", &mut args)?;
    let given = Options::new(1, usize::MAX, &["t", "a", "m", "c"]).parse(args)?;
    let time = timestamp.as_deref().map(parse_timestamp).transpose()?;
    let items = shell.expand_all(&given.rest)?;
    shell.each(&items, |_, item| {
        if !item.exists() {
            if !item.parent_exists()? {
                return Err(item.no_parent());
            }
            if given.has("c") {
                return Ok(());
            }
            create_empty(item)?;
            if time.is_none() {
                return Ok(());
            }
        }
        let now = Some(time.unwrap_or_else(now_ms));
        let one = given.has("a") != given.has("m");
        let times = Times {
            modified_ms: now.filter(|_| !one || given.has("m")),
            accessed_ms: now.filter(|_| !one || given.has("a")),
        };
        item.store.set_times(&item.path, times)
    })
}

/// `yyyyMMdd:HHmmss` in local time.
fn parse_timestamp(text: &str) -> Outcome<i64> {
    let wrong = || {
        Failure::usage(format!(
            "Unable to parse the specified timestamp {text}. The expected format is yyyyMMdd:HHmmss"
        ))
    };
    let time = DateTime::strptime("%Y%m%d:%H%M%S", text).map_err(|_| wrong())?;
    let zoned = time.to_zoned(TimeZone::system()).map_err(|_| wrong())?;
    Ok(zoned.timestamp().as_millisecond())
}
