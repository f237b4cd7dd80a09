//! What the command line can say, as data: shell completions and manual pages are made from it.
//!
//! The entries come from the same tables and texts that the commands parse with and print as their help.
//! clap knows our own verbs and the options of `up` and `demo` only: Hadoop's commands have one dash and
//! several letters (`-ls`), exit with 255 where clap exits with 2, and take options in places where clap
//! allows none, so they are parsed from tables of their own, and clap_complete and clap_mangen, which read
//! nothing but clap, cannot describe them.

mod completions;
mod page;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::StyledStr;

use crate::failure::{Failure, Outcome, complain};

/// A shell that completions can be made for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// A word of the command line with what may follow it.
#[derive(Debug, Default)]
pub struct Entry {
    pub name: String,
    /// One line.
    pub about: String,
    /// The synopsis, or the whole help of a command that has no commands of its own.
    pub usage: String,
    /// What it does, where the synopsis does not say it.
    pub description: String,
    pub options: BTreeSet<String>,
    pub commands: Vec<Entry>,
}

impl Entry {
    /// Takes the options from the texts of the help.
    pub fn new(name: &str, about: &str, usage: &str, description: &str) -> Entry {
        Entry {
            name: name.to_owned(),
            about: about.lines().next().unwrap_or_default().to_owned(),
            usage: usage.to_owned(),
            description: description.to_owned(),
            options: options_in(usage).chain(options_in(description)).collect(),
            commands: Vec::new(),
        }
    }
}

/// Words with a dash before a letter.
fn options_in(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
    let is_option = |word: &&str| {
        word.starts_with('-')
            && word.trim_start_matches('-').starts_with(|first: char| first.is_ascii_alphabetic())
    };
    words.filter(is_option).map(|word| word.trim_end_matches('-').to_owned())
}

/// The verbs that clap knows, each with what `own` says of it where clap does not parse its words.
pub fn verbs(root: &clap::Command, own: impl Fn(&str) -> Option<Entry>) -> Vec<Entry> {
    let described = |verb: &clap::Command| {
        let (name, about) = (verb.get_name(), verb.get_about().map(StyledStr::to_string));
        let about = about.unwrap_or_default();
        let mut entry = own(name).unwrap_or_else(|| {
            let help = verb.clone().bin_name(format!("zerohop {name}")).render_long_help();
            Entry::new(name, &about, &help.to_string(), "")
        });
        entry.name = name.to_owned();
        entry.about = about;
        entry.options.insert("--help".to_owned());
        entry
    };
    root.get_subcommands().map(described).collect()
}

/// Prints completions for a shell.
pub fn complete(shell: Shell, verbs: &[Entry]) -> i32 {
    say!("{}", completions::script(shell, verbs));
    0
}

/// Prints the manual page of a verb, or of all of it; or writes all pages to a directory.
pub fn pages(verb: Option<&str>, directory: Option<&Path>, verbs: &[Entry]) -> i32 {
    print_or_write(verb, directory, verbs).map_or_else(|failure| complain("man", &failure), |()| 0)
}

fn print_or_write(verb: Option<&str>, directory: Option<&Path>, verbs: &[Entry]) -> Outcome {
    let Some(directory) = directory else {
        let page = match verb {
            None => page::overview(verbs),
            Some(name) => {
                let found = verbs.iter().find(|verb| verb.name == name);
                let none = || Failure::io(format!("{name} is no command of zerohop"));
                page::of_verb(found.ok_or_else(none)?)
            }
        };
        say!("{page}");
        return Ok(());
    };
    let write = |path: PathBuf, page: String| {
        std::fs::write(&path, page)
            .map_err(|error| Failure::io(format!("{}: {error}", path.display())))
    };
    std::fs::create_dir_all(directory)
        .map_err(|error| Failure::io(format!("{}: {error}", directory.display())))?;
    write(directory.join("zerohop.1"), page::overview(verbs))?;
    verbs.iter().try_for_each(|verb| {
        write(directory.join(format!("zerohop-{}.1", verb.name)), page::of_verb(verb))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_in_the_texts_of_the_help() {
        let entry = Entry::new(
            "-cp",
            "Copies",
            "[-f] [-p | -p[topax]] [-t <thread count>] <src-file> ... <dst>",
            "-f: overwrites\n--json: for programs; a dash - alone is none",
        );
        let options: Vec<&str> = entry.options.iter().map(String::as_str).collect();
        assert_eq!(options, ["--json", "-f", "-p", "-t"]);
    }
}
