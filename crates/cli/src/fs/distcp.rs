//! `distcp`: copies trees between file systems by threads of this machine, with the options of Hadoop's
//! DistCp that make sense without MapReduce.

use std::collections::BTreeSet;

use serde_json::json;
use zerohop_conf::Conf;

use super::copy::{Copying, Preserve, copy_files};
use super::item::Item;
use super::location::file_name;
use super::options::{pop_flag, pop_valued};
use super::shell::Shell;
use crate::failure::{EXIT_USAGE, Failure, Kind, Outcome};
use crate::{log, spans};

/// Help for a terminal.
pub const USAGE: &str = "Usage: distcp [OPTIONS] SOURCE... TARGET
\tCopies files and directories, also between clusters, by threads of this machine. A single source goes to
\tTARGET itself where that does not exist, else into it; with -update and -overwrite what is in a source
\tdirectory goes right into TARGET.
\t-update\tskips files that have the same length and, where both file systems have checksums, the same checksum
\t-overwrite\toverwrites all files
\t-delete\tdeletes from TARGET what the sources have not; with -update or -overwrite only
\t-skipcrccheck\tcompares lengths only; with -update only
\t-p[ugptax]\tkeeps user, group, permission, times, ACLs, extended attributes; -p alone keeps user, group, permission and times
\t-i\tgoes on after a failure; the exit code is that of a failure all the same
\t-m <threads>\tfiles that are copied at the same time; 4
\t--json\tone object with the counters, for programs";

const THREADS: usize = 4;

/// What was asked for.
#[derive(Debug, Default, PartialEq)]
struct DistcpOptions {
    update: bool,
    overwrite: bool,
    delete: bool,
    skip_checksums: bool,
    go_on: bool,
    json: bool,
    threads: usize,
    keep: Option<String>,
    paths: Vec<String>,
}

impl DistcpOptions {
    fn parse(mut words: Vec<String>) -> Outcome<DistcpOptions> {
        let threads = pop_valued("-m", &mut words)?.map(|text| {
            let threads = text.parse().ok().filter(|threads| *threads > 0);
            threads.ok_or_else(|| Failure::usage(format!("-m {text}: a number above 0 is needed")))
        });
        let mut flag = |name| pop_flag(name, &mut words);
        let mut asked = DistcpOptions {
            update: flag("-update"),
            overwrite: flag("-overwrite"),
            delete: flag("-delete"),
            skip_checksums: flag("-skipcrccheck"),
            go_on: flag("-i"),
            json: flag("--json"),
            threads: threads.transpose()?.unwrap_or(THREADS),
            ..DistcpOptions::default()
        };
        for word in words {
            match word.strip_prefix("-p") {
                Some(letters) => asked.keep = Some(letters.to_owned()),
                None if word.starts_with('-') => {
                    return Err(Failure::usage(format!("{word} is not supported here")));
                }
                None => asked.paths.push(word),
            }
        }
        asked.check()?;
        Ok(asked)
    }

    fn check(&self) -> Outcome {
        let problem = match self {
            _ if self.paths.len() < 2 => "a source and a target are needed",
            _ if self.update && self.overwrite => "-update and -overwrite exclude each other",
            _ if self.delete && !self.is_sync() => "-delete needs -update or -overwrite",
            _ if self.skip_checksums && !self.update => "-skipcrccheck needs -update",
            _ => return Ok(()),
        };
        Err(Failure::usage(problem))
    }

    /// Whether what is in a source directory goes right into the target.
    fn is_sync(&self) -> bool {
        self.update || self.overwrite
    }

    fn preserve(&self) -> Outcome<Preserve> {
        let letters = match self.keep.as_deref() {
            None => return Ok(Preserve::default()),
            Some("") => "ugpt",
            Some(letters) => letters,
        };
        let mut keep = Preserve::default();
        for letter in letters.chars() {
            match letter {
                'u' | 'g' => keep.owner = true,
                'p' => keep.permission = true,
                't' => keep.times = true,
                'a' => keep.acl = true,
                'x' => keep.xattr = true,
                _ => {
                    return Err(Failure::usage(format!(
                        "-p{letters}: {letter} is not supported here"
                    )));
                }
            }
        }
        Ok(keep)
    }
}

/// Runs it; the exit code.
pub fn run(conf: Conf, words: Vec<String>) -> i32 {
    let mut shell = Shell::new(conf, "distcp");
    log::begin_spans(&shell.conf);
    spans::within_command("distcp", || carry_out(&mut shell, words))
}

fn carry_out(shell: &mut Shell, words: Vec<String>) -> i32 {
    let done = DistcpOptions::parse(words).and_then(|asked| copy(shell, &asked));
    match done {
        Ok(()) => {}
        Err(Failure { kind: Kind::Usage, text }) => {
            eprintln!("distcp: {text}\n{USAGE}");
            return EXIT_USAGE;
        }
        Err(failure) => drop(shell.report(failure)),
    }
    i32::from(shell.error_count() > 0 || shell.flush().is_err())
}

/// Files to copy and what was found about the others.
#[derive(Default)]
struct Plan {
    files: Vec<(Item, Item)>,
    directories: Vec<(Item, Item)>,
    bytes: i64,
    skipped: usize,
    skipped_bytes: i64,
    /// Absolute paths that the sources have in the target.
    expected: BTreeSet<String>,
}

fn copy(shell: &mut Shell, asked: &DistcpOptions) -> Outcome {
    let Some((target, sources)) = asked.paths.split_last() else { return Ok(()) };
    let keep = asked.preserve()?;
    let sources = shell.expand_all(sources)?;
    if shell.error_count() > 0 && !asked.go_on {
        return Ok(());
    }
    let mut target = shell.item(target)?;
    if sources.len() > 1 && !target.exists() {
        make(&target)?;
        target.refresh()?;
    }
    let mut plan = Plan::default();
    for source in &sources {
        source.found()?;
        let to = root(asked, source, &target)?;
        plan.visit(asked, source, to)?;
    }
    let deleted = if asked.delete { delete_others(&plan, &target)? } else { 0 };
    let (count, failed_before) = (plan.files.len(), shell.error_count());
    let how = Copying {
        overwrite: asked.is_sync(),
        preserve: keep,
        threads: asked.threads,
        ..Copying::default()
    };
    let copied_bytes = copy_files(shell, plan.files, &plan.directories, how, !asked.go_on)?;
    let failed = shell.error_count() - failed_before;
    let counters = json!({
        "copied": count - failed, "bytesCopied": copied_bytes, "bytesExpected": plan.bytes,
        "skipped": plan.skipped, "bytesSkipped": plan.skipped_bytes, "deleted": deleted, "failed": failed,
    });
    match asked.json {
        true => shell.json_line(&counters),
        false => shell.line(format!(
            "copied {} file(s) of {count}, {copied_bytes} bytes; skipped {}, deleted {deleted}, failed {failed}",
            count - failed,
            plan.skipped
        )),
    }
}

/// Where a source goes.
fn root(asked: &DistcpOptions, source: &Item, target: &Item) -> Outcome<Item> {
    let into = target.is_dir() && !(asked.is_sync() && source.is_dir());
    if into { target.child(file_name(&source.path)) } else { Ok(target.clone()) }
}

fn make(directory: &Item) -> Outcome {
    match directory.store.mkdirs(&directory.path)? {
        true => Ok(()),
        false => Err(Failure::io(format!("mkdir `{}': Input/output error", directory.text))),
    }
}

impl Plan {
    /// Makes directories at once and notes files.
    fn visit(&mut self, asked: &DistcpOptions, source: &Item, mut to: Item) -> Outcome {
        self.expected.insert(to.path.clone());
        let length = source.found()?.length;
        if !source.is_dir() {
            if to.is_dir() {
                return Err(Failure::is_directory(&to.text));
            }
            if asked.update && to.exists() && is_same(asked, source, &to)? {
                self.skipped += 1;
                self.skipped_bytes += length;
            } else {
                self.bytes += length;
                self.files.push((source.clone(), to));
            }
            return Ok(());
        }
        let is_new = !to.exists();
        if is_new {
            make(&to)?;
            to.refresh()?;
        } else if !to.is_dir() {
            return Err(Failure::not_directory(&to.text));
        }
        self.directories.push((source.clone(), to.clone()));
        for status in source.store.list_all(&source.path)? {
            let child = source.listed(status);
            let name = file_name(&child.path);
            let into = if is_new { to.absent_child(name) } else { to.child(name)? };
            self.visit(asked, &child, into)?;
        }
        Ok(())
    }
}

/// Whether a file need not be copied again.
fn is_same(asked: &DistcpOptions, source: &Item, target: &Item) -> Outcome<bool> {
    if source.found()?.length != target.found()?.length {
        return Ok(false);
    }
    if asked.skip_checksums {
        return Ok(true);
    }
    let sums = (source.store.checksum(&source.path)?, target.store.checksum(&target.path)?);
    Ok(match sums {
        (Some(ours), Some(theirs)) => {
            ours.algorithm == theirs.algorithm && ours.bytes == theirs.bytes
        }
        // As Hadoop's: where one of them has no checksums the length decides.
        _ => true,
    })
}

/// Deletes what the sources have not; how many files and trees.
fn delete_others(plan: &Plan, target: &Item) -> Outcome<usize> {
    let mut deleted = 0;
    let mut directories = if target.is_dir() { vec![target.clone()] } else { Vec::new() };
    while let Some(directory) = directories.pop() {
        for status in directory.store.list_all(&directory.path)? {
            let entry = directory.listed(status);
            if !plan.expected.contains(&entry.path) {
                entry.store.delete(&entry.path, true)?;
                deleted += 1;
            } else if entry.is_dir() {
                directories.push(entry);
            }
        }
    }
    Ok(deleted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_that_contradict_are_refused() {
        for (text, problem) in [
            ("/a", "a source and a target"),
            ("-update -overwrite /a /b", "exclude each other"),
            ("-delete /a /b", "-delete needs"),
            ("-skipcrccheck /a /b", "-skipcrccheck needs"),
            ("-m 0 /a /b", "above 0"),
            ("-atomic /a /b", "not supported"),
        ] {
            let refused = DistcpOptions::parse(words(text)).unwrap_err();
            assert!(refused.kind == Kind::Usage && refused.text.contains(problem), "{refused}");
        }
        assert!(DistcpOptions::parse(words("-prb /a /b")).unwrap().preserve().is_err());
        assert!(DistcpOptions::parse(words("-p /a /b")).unwrap().preserve().unwrap().times);
    }

    #[test]
    fn an_update_copies_what_differs_and_deletes_the_rest() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("a/sub")).unwrap();
        fs::write(at("a/one"), "1").unwrap();
        fs::write(at("a/sub/two"), "22").unwrap();
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", "file:///");
        let (a, b) = (at("a").display().to_string(), at("b").display().to_string());
        let distcp = |text: &str| run(conf.clone(), words(&format!("{text} {a} {b}")));
        assert_eq!(distcp(""), 0);
        assert_eq!(fs::read_to_string(at("b/sub/two")).unwrap(), "22");
        // A target that is there holds the source under its name.
        assert_eq!(distcp(""), 0);
        assert!(at("b/a/one").exists());
        fs::write(at("a/one"), "other").unwrap();
        fs::write(at("b/three"), "3").unwrap();
        assert_eq!(distcp("-update -delete"), 0);
        assert_eq!(fs::read_to_string(at("b/one")).unwrap(), "other");
        assert!(!at("b/three").exists() && !at("b/a").exists() && at("b/sub/two").exists());
    }
}
