//! `-put`, `-get`, `-cp`, `-getmerge` and their other names.

use std::io::Write;
use std::num::NonZeroUsize;

use super::copy::{Copying, Preserve, copy_all, write_file, write_stream};
use super::destination::remote_destination;
use super::item::Item;
use super::options::{Options, ParsedOptions};
use super::shell::Shell;
use super::status::FileKind;
use super::store::{OpenHow, Output};
use super::stream::{pump, to_stdout};
use crate::failure::{Failure, Outcome};

/// Copies run side by side where the command line says nothing.
const THREADS_MAX: usize = 4;

const ALL: Preserve =
    Preserve { times: true, owner: true, permission: true, acl: false, xattr: false };

/// `-t` of the command line; the queue size `-q` is accepted and of no use here.
fn threads(given: &ParsedOptions) -> Outcome<usize> {
    let number = |text: &str| {
        text.parse::<usize>().map_err(|_| Failure::usage(format!("For input string: \"{text}\"")))
    };
    given.value("q").map(number).transpose()?;
    match given.value("t") {
        Some(text) => Ok(number(text)?.max(1)),
        None => {
            Ok(std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(THREADS_MAX))
        }
    }
}

pub fn put(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let options = Options::new(1, usize::MAX, &["f", "p", "l", "d"]).valued(&["t", "q"]);
    let given = options.parse(args)?;
    let threads = threads(&given)?;
    put_files(shell, given, threads, false)
}

pub fn move_from_local(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, usize::MAX, &["f", "p", "l", "d"]).parse(args)?;
    put_files(shell, given, 1, true)
}

pub fn move_to_local(_: &mut Shell, _: Vec<String>) -> Outcome {
    Err(Failure::io("Option '-moveToLocal' is not implemented yet."))
}

fn put_files(
    shell: &mut Shell,
    mut given: ParsedOptions,
    threads: usize,
    move_source: bool,
) -> Outcome {
    let how = Copying {
        overwrite: given.has("f"),
        direct: given.has("d"),
        lazy_persist: given.has("l"),
        preserve: if given.has("p") { ALL } else { Preserve::default() },
        threads,
        move_source,
        ..Copying::default()
    };
    let target = remote_destination(shell, &mut given.rest)?;
    if given.rest.len() == 1 && given.rest.iter().any(|source| source == "-") {
        let target = if target.is_dir() || target.looks_like_directory() {
            target.found()?;
            target.child("-")?
        } else {
            target
        };
        return write_stream(&mut std::io::stdin().lock(), &target, how, &mut |_| {});
    }
    let mut sources = Vec::new();
    for source in &given.rest {
        match shell.local_source(source) {
            Ok(item) => sources.push(item),
            Err(failure) => shell.report(failure)?,
        }
    }
    copy_all(shell, &sources, &target, how)
}

pub fn get(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let options =
        Options::new(1, usize::MAX, &["crc", "ignoreCrc", "p", "f", "v"]).valued(&["t", "q"]);
    let mut given = options.parse(args)?;
    let how = Copying {
        overwrite: given.has("f"),
        verify: !given.has("ignoreCrc"),
        write_crc: given.has("crc"),
        preserve: if given.has("p") { ALL } else { Preserve::default() },
        threads: threads(&given)?,
        ..Copying::default()
    };
    let text =
        if given.rest.len() < 2 { ".".to_owned() } else { given.rest.pop().unwrap_or_default() };
    let done = get_all(shell, &given.rest, &text, how);
    if given.has("v") {
        shell.report_reads();
    }
    done
}

fn get_all(shell: &mut Shell, paths: &[String], target: &str, how: Copying) -> Outcome {
    if target == "-" {
        return get_to_stdout(shell, paths, how);
    }
    let target = shell.local_item(target)?;
    let sources = shell.expand_all(paths)?;
    copy_all(shell, &sources, &target, how)
}

fn get_to_stdout(shell: &mut Shell, paths: &[String], how: Copying) -> Outcome {
    shell.each_found(paths, |shell, item| {
        item.found_file()?;
        let mut input = item.store.open(&item.path, OpenHow { verify: how.verify })?;
        to_stdout(shell, &mut *input)
    })
}

pub fn cp(shell: &mut Shell, mut args: Vec<String>) -> Outcome {
    let preserve = pop_preserve(&mut args)?;
    let options = Options::new(2, usize::MAX, &["f", "d"]).valued(&["t", "q"]);
    let mut given = options.parse(args)?;
    let how = Copying {
        overwrite: given.has("f"),
        direct: given.has("d"),
        preserve,
        threads: threads(&given)?,
        ..Copying::default()
    };
    let target = remote_destination(shell, &mut given.rest)?;
    let sources = shell.expand_all(&given.rest)?;
    copy_all(shell, &sources, &target, how)
}

/// Takes `-p` or `-ptopax` out of the arguments.
fn pop_preserve(args: &mut Vec<String>) -> Outcome<Preserve> {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let Some(at) = args.iter().take(end).position(|arg| arg.starts_with("-p")) else {
        return Ok(Preserve::default());
    };
    let word = args.remove(at);
    if word == "-p" {
        return Ok(ALL);
    }
    let mut preserve = Preserve::default();
    for letter in word.trim_start_matches("-p").chars() {
        match letter.to_ascii_lowercase() {
            't' => preserve.times = true,
            'o' => preserve.owner = true,
            'p' => preserve.permission = true,
            'a' => preserve.acl = true,
            'x' => preserve.xattr = true,
            _ => return Err(Failure::usage(format!("No attribute for {letter}"))),
        }
    }
    Ok(preserve)
}

pub fn getmerge(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let mut given = Options::new(2, usize::MAX, &["nl", "skip-empty-file"]).parse(args)?;
    let text = given.rest.pop().unwrap_or_default();
    let mut sources = Vec::new();
    for item in shell.expand_all(&given.rest)? {
        let listed = merge_sources(item, &mut sources);
        shell.note(listed)?;
    }
    if shell.error_count() > 0 {
        return Ok(());
    }
    if text == "-" {
        shell.flush()?;
        let mut output = Box::new(StdoutOutput);
        merge(&sources, &given, &mut *output)?;
        return output.finish();
    }
    let target = shell.local_item(&text)?;
    if target.is_dir() {
        return Err(Failure::is_directory(&target.text));
    }
    // A device, a pipe or a link cannot be replaced by the complete file.
    let direct = std::fs::symlink_metadata(&target.path).is_ok_and(|found| !found.is_file());
    let how = Copying { overwrite: true, direct, ..Copying::default() };
    write_file(&target, how, |output| merge(&sources, &given, output))
}

/// The file itself, or the files of the directory but not of its directories, in order of name.
fn merge_sources(item: Item, sources: &mut Vec<Item>) -> Outcome {
    let status = item.found()?;
    if status.kind == FileKind::Directory {
        let mut entries = item.store.list_all(&item.path)?;
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let files = entries.into_iter().filter(|entry| !entry.is_dir());
        sources.extend(files.map(|entry| item.listed(entry)));
    } else {
        sources.push(item);
    }
    Ok(())
}

fn merge(sources: &[Item], given: &ParsedOptions, output: &mut dyn Output) -> Outcome {
    for source in sources {
        let empty = source.found()?.length == 0;
        if !empty {
            let mut input = source.store.open(&source.path, OpenHow::default())?;
            pump(&mut *input, output, &mut |_| {})?;
        }
        if given.has("nl") && !(empty && given.has("skip-empty-file")) {
            output.write_all(b"\n")?;
        }
    }
    Ok(())
}

struct StdoutOutput;

impl Write for StdoutOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        std::io::stdout().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush()
    }
}

impl Output for StdoutOutput {
    fn finish(self: Box<Self>) -> Outcome {
        Ok(std::io::stdout().flush()?)
    }
}
