//! `distcp`: copies trees between file systems by threads of this machine, as Hadoop's DistCp does by the
//! tasks of a job.
//!
//! In this order, so that nothing is lost when something fails: [`options`] are read; [`listing`] finds
//! everything that is to be copied, in a [`spool`] that may be longer than memory; the list is checked;
//! [`copies`] copies, a [`file`] at a time; and [`commit`] deletes, moves and gives directories their
//! [`attributes`].

mod attributes;
mod commit;
mod copies;
mod ending;
mod file;
mod filter;
mod listing;
mod options;
mod spool;

use std::collections::HashSet;
use std::io::Read;

use serde_json::json;
use zerohop_conf::Conf;
use zerohop_system::random;

use self::commit::is_below;
use self::copies::{Counters, Goal, Log};
use self::ending::{
    ACLS_NOT_SUPPORTED, DUPLICATE_INPUT, Ended, Ending, SUCCESS, UNKNOWN_ERROR,
    XATTRS_NOT_SUPPORTED,
};
use self::filter::{Filter, is_same_store, qualified};
use self::listing::Listing;
use self::options::DistcpOptions;
use self::spool::Scratch;
use super::interrupt::Unfinished;
use super::item::Item;
use super::location::{child, file_name, parent};
use super::shell::Shell;
use super::store::OpenHow;
use crate::failure::{EXIT_USAGE, Failure, Kind, Outcome};
use crate::{log, spans};

/// Help for a terminal.
pub const USAGE: &str = "Usage: distcp [OPTIONS] SOURCE... TARGET
\tCopies files and directories, also between clusters, by threads of this machine. A single source goes to
\tTARGET itself where that does not exist, else into it; with -update and -overwrite what is in a source
\tdirectory goes right into TARGET. A file that is in TARGET already is skipped without these two.
\tOptions come before the paths. Nothing is copied before all sources are listed, and nothing deleted before
\tall is copied. Exit codes are 0, 255 for arguments and sources that make no sense, 254 for sources with
\tone name, 253 and 252 for file systems without ACLs and extended attributes, 25 for all other failures.
\t-update\tskips files with the same length and checksum; where there is no checksum of both, files of the same length that are not newer
\t-overwrite\toverwrites all files
\t-delete\tdeletes from TARGET what the sources have not, after the copies; with -update or -overwrite only
\t-useTrash\tmoves what -delete deletes to the trash, where there is one
\t-append\tcompletes files whose beginning is in TARGET; with -update only
\t-skipcrccheck\tcompares no checksums, neither before nor after a copy
\t-p[rbugpcaxte]\tkeeps replication, block size, user, group, permission, checksum type, ACLs, extended attributes, times, erasure coding policy; -p alone keeps rbugpct
\t-updateRoot\tkeeps attributes of the source directory itself, too, with -update and -overwrite
\t-i\tgoes on after sources that cannot be read; the exit code is 0 all the same, but then nothing is deleted
\t-f <file>\treads the sources from a file, one in a line
\t-filters <file>\tleaves paths out that match a regular expression in a line of this local file
\t-atomic\tcopies beside TARGET, which must not exist, and moves all in one step
\t-tmp <directory>\tdirectory for the copies of -atomic
\t-direct\twrites files under their own names at once
\t-m <threads>\tfiles that are copied at the same time; 4
\t-bandwidth <MB>\tmegabytes a second that each thread reads
\t-log <directory>\twrites what was skipped and what failed to a file there
\t-v\tlogs all files with their sizes; with -log only
\t-strategy, -numListstatusThreads, -useiterator, -copybuffersize, -blocksperchunk, -filelimit, -sizelimit\tare taken and change nothing, but that -blocksperchunk keeps the block size
\t--json\tone object with the counters, for programs";

/// Runs it; the exit code.
pub fn run(conf: Conf, words: Vec<String>) -> i32 {
    let mut shell = Shell::new(conf, "distcp");
    log::begin_spans(&shell.conf);
    spans::within_command("distcp", || carry_out(&mut shell, words))
}

fn carry_out(shell: &mut Shell, words: Vec<String>) -> i32 {
    let asked = match DistcpOptions::parse(&shell.conf, words) {
        Ok(asked) => asked,
        Err(Failure { kind: Kind::Usage, text }) => {
            eprintln!("distcp: {text}\n{USAGE}");
            return EXIT_USAGE;
        }
        Err(failure) => {
            drop(shell.report(failure));
            return EXIT_USAGE;
        }
    };
    let code = match copy(shell, &asked) {
        Ok(()) => SUCCESS,
        Err(Ended { code, failure }) => {
            drop(shell.report(failure));
            code
        }
    };
    match shell.flush() {
        Err(_) if code == SUCCESS => UNKNOWN_ERROR,
        _ => code,
    }
}

fn copy(shell: &mut Shell, asked: &DistcpOptions) -> Ending {
    let target = shell.item(&asked.target).map_err(|failure| Ended::invalid(failure.text))?;
    check_support(asked, &target)?;
    let filter = Filter::read(asked.filters.as_deref())?;
    let sources = find_sources(shell, asked)?;
    check_paths(asked, &sources, &target)?;
    let mut asked = asked.clone();
    asked.keep.raw_xattr = is_raw(&target);
    let scratch = Scratch::new()?;
    let listing = listing::build(&asked, &sources, &target, &filter, &scratch)?;
    check_listing(&listing)?;
    let mut checked = HashSet::new();
    for source in &sources {
        if checked.insert(source.store.uri()) {
            check_support(&asked, source)?;
        }
    }
    let log = Log::new(&asked, &scratch)?;
    let done = copy_and_commit(shell, &asked, &listing, &target, (&filter, &scratch), &log);
    if let Some(directory) = &asked.log {
        log.finish(shell, directory, done.is_ok())?;
    }
    done
}

/// Everything that changes something.
fn copy_and_commit(
    shell: &mut Shell,
    asked: &DistcpOptions,
    listing: &Listing,
    target: &Item,
    (filter, scratch): (&Filter, &Scratch),
    log: &Log,
) -> Ending {
    let goal = Goal {
        store: target.store.clone(),
        path: work_path(shell, asked, target)?,
        overwrite: asked.overwrite || (target.exists() && !target.is_dir()),
    };
    let unfinished = asked.atomic.then(|| {
        let (store, path) = (goal.store.clone(), goal.path.clone());
        Unfinished::with(move || drop(store.delete(&path, true)))
    });
    let counters = copies::copy_all(shell, asked, listing, &goal, log)?;
    let get = Counters::get;
    let (ignored, failed) = (get(&counters.ignored), get(&counters.failed));
    let mut deleted = commit::Deleted::default();
    let done = if failed > 0 {
        Err(Failure::io(format!("{failed} path(s) were not copied; the copy ended there")))
    } else if asked.delete && ignored > 0 {
        Err(Failure::io(format!("nothing was deleted, because {ignored} file(s) were not copied")))
    } else {
        // What is complete stays, also where it cannot be moved to its place.
        unfinished.into_iter().for_each(Unfinished::keep);
        let removed = match asked.delete {
            true => commit::delete_missing(shell, asked, listing, target, filter, scratch),
            false => Ok(commit::Deleted::default()),
        };
        let moved = removed.map(|removed| deleted = removed).and_then(|()| match asked.atomic {
            true => commit::commit(&goal.path, target),
            false => Ok(()),
        });
        moved.and_then(|()| commit::preserve_directories(asked, listing, target))
    };
    say(shell, asked, listing, &counters, &deleted)?;
    done.map_err(Ended::from)
}

fn say(
    shell: &mut Shell,
    asked: &DistcpOptions,
    listing: &Listing,
    counters: &Counters,
    deleted: &commit::Deleted,
) -> Outcome {
    let get = Counters::get;
    let (copied, bytes, skipped) =
        (get(&counters.copied), get(&counters.bytes), get(&counters.skipped));
    let failed = get(&counters.ignored) + get(&counters.failed) + deleted.failed;
    let bytes_skipped = get(&counters.bytes_skipped);
    if asked.json {
        let expected = listing.bytes.saturating_sub(bytes_skipped);
        return shell.json_line(&json!({
            "copied": copied, "bytesCopied": bytes, "bytesExpected": expected, "skipped": skipped,
            "bytesSkipped": bytes_skipped, "deleted": deleted.count, "failed": failed,
        }));
    }
    let count = listing.files.saturating_sub(skipped);
    shell.line(format!(
        "copied {copied} file(s) of {count}, {bytes} bytes; skipped {skipped}, deleted {}, failed {failed}",
        deleted.count
    ))
}

/// ACLs and extended attributes are asked for where a file system has none.
fn check_support(asked: &DistcpOptions, of: &Item) -> Ending {
    let lacks = |code: i32, what: &str, failure: Failure| {
        let uri = of.store.uri();
        let text = format!("{what} not supported for file system: {uri}: {}", failure.text);
        Err(Ended { code, failure: Failure { text, ..failure } })
    };
    if asked.keep.acl
        && let Err(failure) = of.store.acl("/")
    {
        return lacks(ACLS_NOT_SUPPORTED, "ACLs", failure);
    }
    if asked.keep.xattr
        && let Err(failure) = of.store.xattrs("/")
    {
        return lacks(XATTRS_NOT_SUPPORTED, "XAttrs", failure);
    }
    Ok(())
}

/// What the arguments, or the lines of `-f`, stand for; every one must be there.
fn find_sources(shell: &mut Shell, asked: &DistcpOptions) -> Ending<Vec<Item>> {
    let texts = match &asked.listing {
        None => asked.sources.clone(),
        Some(path) => read_lines(shell, path)?,
    };
    let mut sources = Vec::new();
    for text in &texts {
        if text.is_empty() {
            return Err(Failure::io("Can not create a Path from an empty string").into());
        }
        let missing = || Ended::invalid(format!("{text} doesn't exist"));
        match shell.expand(text) {
            Ok(found) if found.iter().all(Item::exists) && !found.is_empty() => {
                sources.extend(found);
            }
            Ok(_) => return Err(missing()),
            Err(failure) if failure.is_not_found() => return Err(missing()),
            Err(failure) => return Err(failure.into()),
        }
    }
    match sources.is_empty() {
        true => Err(Ended::invalid("Nothing to process. Source paths::EMPTY")),
        false => Ok(sources),
    }
}

fn read_lines(shell: &mut Shell, path: &str) -> Outcome<Vec<String>> {
    let list = shell.item(path)?;
    list.found_file()?;
    let mut text = String::new();
    list.store.open(&list.path, OpenHow::default())?.read_to_string(&mut text)?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// As `SimpleCopyListing.validatePaths`, and that nothing of a source is deleted.
fn check_paths(asked: &DistcpOptions, sources: &[Item], target: &Item) -> Ending {
    let to = qualified(&*target.store, &target.path);
    if target.exists() && !target.is_dir() {
        if sources.len() > 1 {
            return Err(Ended::invalid(format!("Multiple source being copied to a file: {to}")));
        }
        if let Some(source) = sources.iter().find(|source| source.is_dir()) {
            return Err(Ended::invalid(format!(
                "Cannot copy {}, which is not a file to {to}",
                qualified(&*source.store, &source.path)
            )));
        }
    }
    if asked.atomic && target.exists() {
        return Err(Ended::invalid(format!(
            "Target path for atomic-commit already exists: {to}. Cannot atomic-commit to pre-existing target-path."
        )));
    }
    for source in sources {
        let from = qualified(&*source.store, &source.path);
        if is_raw(source) != is_raw(target) {
            return Err(Ended::invalid(format!(
                "{from} and {to}: either all or none of the paths must begin with {RAW}"
            )));
        }
        if asked.delete && is_same_store(&source.store, &target.store) {
            // The copy of a file that stands in the target already is the file itself.
            let stays = !source.is_dir() && parent(&source.path) == Some(target.path.as_str());
            let overlaps = (is_below(&source.path, &target.path) && !stays)
                || (source.is_dir() && is_below(&target.path, &source.path));
            if overlaps {
                return Err(Ended::invalid(format!(
                    "-delete would delete files of the source: {from} and {to} overlap"
                )));
            }
        }
    }
    Ok(())
}

/// Paths below it show the raw form of files, with all extended attributes.
const RAW: &str = "/.reserved/raw";

fn is_raw(item: &Item) -> bool {
    item.path.starts_with(RAW)
}

/// No two sources may go to one path.
fn check_listing(listing: &Listing) -> Ending {
    let mut last: Option<spool::Entry> = None;
    for entry in listing.all.entries()? {
        let entry = entry?;
        if let Some(last) = last.filter(|last| last.key == entry.key) {
            let name = |entry: &spool::Entry| match listing.roots.get(entry.source) {
                Some(root) => qualified(&*root.store, &root.path_of(&entry.key)),
                None => entry.key.clone(),
            };
            let text = format!(
                "File {} and {} would cause duplicates. Aborting",
                name(&last),
                name(&entry)
            );
            return Err(Ended { code: DUPLICATE_INPUT, failure: Failure::io(text) });
        }
        last = Some(entry);
    }
    Ok(())
}

/// Where files are copied to: beside the target with `-atomic`.
fn work_path(shell: &mut Shell, asked: &DistcpOptions, target: &Item) -> Outcome<String> {
    if !asked.atomic {
        return Ok(target.path.clone());
    }
    let directory = match &asked.work {
        None => parent(&target.path).unwrap_or("/").to_owned(),
        Some(work) => {
            let work = shell.item(work)?;
            if !is_same_store(&work.store, &target.store) {
                let (work, to) = (work.qualified(), target.qualified());
                return Err(Failure::io(format!(
                    "Work path {work} and target path {to} are in different file system"
                )));
            }
            work.path
        }
    };
    let (name, number) = (file_name(&target.path), random::u32(..));
    Ok(child(&directory, &format!("._WIP_{name}{number}")))
}
