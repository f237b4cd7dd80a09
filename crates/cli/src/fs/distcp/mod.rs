//! `distcp`: copies trees between file systems, by threads instead of the map tasks of Hadoop's DistCp.
//!
//! The order of the steps keeps a failure from losing data: [`options`] parses the command line; [`listing`] lists
//! all sources into a [`spool`] on disk; the list is checked for duplicates; [`copies`] copies each [`file`];
//! [`commit`] deletes, renames and applies [`attributes`] to directories.

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
use self::filter::{Filter, in_one_store, is_same_store, qualified};
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

/// Help text.
pub const USAGE: &str = "Usage: distcp [OPTIONS] SOURCE... TARGET
\tCopies files and directories, also between clusters, by threads of this machine. A single source is copied to
\tTARGET if TARGET does not exist, otherwise into TARGET. With -update and -overwrite, the entries of a source
\tdirectory are copied directly into TARGET. Without them, files that exist in TARGET are skipped.
\tOptions precede the paths. All sources are listed before the first copy, and all copies are complete before
\t-delete deletes. Exit codes: 0; 255 for invalid arguments and sources; 254 for two sources with one name;
\t253 and 252 for file systems without ACLs and extended attributes; 25 for all other failures.
\t-update\tskip files with equal length and checksum; if checksums cannot be compared, files of equal length that are not newer
\t-overwrite\toverwrite all files
\t-delete\tdelete paths in TARGET that the sources do not have; requires -update or -overwrite
\t-useTrash\tmove to the trash, if enabled, what -delete deletes
\t-append\tappend to files whose start is in TARGET; requires -update
\t-skipcrccheck\tcompare no checksums, neither before nor after a copy
\t-p[rbugpcaxte]\tpreserve replication, block size, user, group, permission, checksum type, ACLs, extended attributes, times, erasure coding policy; -p alone means -prbugpct
\t-updateRoot\twith -update and -overwrite, preserve attributes of the source directory, too
\t-i\tignore sources that cannot be read; the exit code is 0, and after such a failure -delete deletes nothing
\t-f <file>\tread the sources from a file, one per line
\t-filters <file>\texclude paths that match a regular expression in a line of this local file
\t-atomic\tcopy to a work directory and rename it to TARGET, which must not exist
\t-tmp <directory>\tparent of the work directory of -atomic
\t-direct\twrite files under their final names instead of temporary ones
\t-m <threads>\tfiles to copy at the same time [default: 4]
\t-bandwidth <MB>\tread limit of each thread, in megabytes per second
\t-log <directory>\twrite a log of skipped and failed files
\t-v\tlog all files with their sizes; requires -log
\t-strategy, -numListstatusThreads, -useiterator, -copybuffersize, -blocksperchunk, -filelimit, -sizelimit\taccepted without effect, except that -blocksperchunk preserves the block size
\t--json\tprint the counters as one JSON object";

/// Runs the command and returns its exit code.
pub fn run(conf: Conf, words: Vec<String>) -> i32 {
    let mut shell = Shell::new(conf, "distcp");
    log::begin_spans(&shell.conf);
    spans::within_command("distcp", || carry_out(&mut shell, words))
}

fn carry_out(shell: &mut Shell, words: Vec<String>) -> i32 {
    let asked = match DistcpOptions::parse(&shell.conf, words) {
        Ok(asked) => asked,
        Err(Failure { kind: Kind::Usage, text }) => {
            noteln!("distcp: {text}\n{USAGE}");
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

/// Runs the steps that change the target.
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
        // From here on the copy is complete: keep it even if it cannot be renamed.
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

/// Fails if `-p` preserves ACLs or extended attributes and a file system does not support them.
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

/// Expands the sources of the arguments or of `-f`. A source without a match is an error.
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

/// Checks paths as `SimpleCopyListing.validatePaths`, and that `-delete` cannot delete files of a source.
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
        let ends = ((&source.store, &*source.path), (&target.store, &*target.path));
        if asked.delete
            && let Some((source_path, target_path)) = in_one_store(ends.0, ends.1)?
        {
            // A source file directly in the target is its own copy.
            let stays = !source.is_dir() && parent(&source_path) == Some(target_path.as_str());
            let overlaps = (is_below(&source_path, &target_path) && !stays)
                || (source.is_dir() && is_below(&target_path, &source_path));
            if overlaps {
                return Err(Ended::invalid(format!(
                    "-delete would delete files of the source: {from} and {to} overlap"
                )));
            }
        }
    }
    Ok(())
}

/// Paths below it show files in raw form, with all extended attributes.
const RAW: &str = "/.reserved/raw";

fn is_raw(item: &Item) -> bool {
    item.path.starts_with(RAW)
}

/// Fails if two sources have the same path in the target.
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

/// Returns the directory that files are copied to: a sibling of the target with `-atomic`.
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
