//! `-rm`, `-rmdir`, `-expunge`

use std::io::BufRead;

use zerohop_conf::keys;

use super::item::Item;
use super::options::{Options, ParsedOptions};
use super::shell::Shell;
use super::trash;
use crate::failure::{Failure, Outcome};

pub fn rm(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(1, usize::MAX, &["f", "r", "R", "skipTrash", "safely"]).parse(args)?;
    for arg in &given.rest {
        let found = match shell.expand(arg) {
            Err(failure) if failure.is_not_found() && given.has("f") => continue,
            Err(failure) => {
                shell.report(failure)?;
                continue;
            }
            Ok(found) => found,
        };
        shell.each(&found, |shell, item| match item.exists() || !given.has("f") {
            true => remove(shell, item, &given),
            false => Ok(()),
        })?;
    }
    Ok(())
}

/// As `-rm -r`.
pub fn rmr(shell: &mut Shell, mut args: Vec<String>) -> Outcome {
    args.insert(0, "-r".to_owned());
    rm(shell, args)
}

fn remove(shell: &mut Shell, item: &Item, given: &ParsedOptions) -> Outcome {
    item.found()?;
    let recursive = given.has("r") || given.has("R");
    if item.is_dir() && !recursive {
        return Err(Failure::is_directory(&item.text));
    }
    if !given.has("skipTrash") && trash::move_to_trash(shell, item)? {
        return Ok(());
    }
    if given.has("safely") && !confirmed(shell, item)? {
        return Ok(());
    }
    match item.store.delete(&item.path, recursive)? {
        true => shell.line(format!("Deleted {}", item.text)),
        false => Err(Failure::path(&item.text, "Input/output error")),
    }
}

/// Asks back before many files are deleted.
fn confirmed(shell: &mut Shell, item: &Item) -> Outcome<bool> {
    let limit = shell.conf.get(&keys::HADOOP_SHELL_SAFELY_DELETE_LIMIT_NUM_FILES)?;
    let files = item.store.summary(&item.path)?.files;
    if limit <= 0 || files <= limit {
        return Ok(true);
    }
    shell.flush()?;
    note!("Proceed deleting {files} files? (Y or N) ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(true);
    }
    noteln!("Delete aborted at user request.\n");
    Ok(false)
}

pub fn rmdir(shell: &mut Shell, args: Vec<String>) -> Outcome {
    const IGNORE: &str = "-ignore-fail-on-non-empty";
    let given = Options::new(1, usize::MAX, &[IGNORE]).parse(args)?;
    shell.each_found(&given.rest, |_, item| {
        if !item.is_dir() {
            return Err(Failure::not_directory(&item.text));
        }
        if !item.store.list_all(&item.path)?.is_empty() {
            return match given.has(IGNORE) {
                true => Ok(()),
                false => Err(Failure::path(&item.text, "Directory is not empty")),
            };
        }
        match item.store.delete(&item.path, false)? {
            true => Ok(()),
            false => Err(Failure::path(&item.text, "Input/output error")),
        }
    })
}

pub fn expunge(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let given = Options::new(0, 2, &["immediate"]).valued(&["fs"]).parse(args)?;
    if let Some(uri) = given.value("fs").filter(|uri| !uri.is_empty()) {
        shell.set_default_fs(uri);
    }
    trash::expunge(shell, given.has("immediate"))
}
