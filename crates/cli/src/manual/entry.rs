//! A word of the command line, with what may follow it.

use std::collections::BTreeSet;

use clap::ValueEnum;

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

/// RawArguments with a dash before a letter.
fn options_in(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
    let is_option = |word: &&str| {
        word.starts_with('-')
            && word.trim_start_matches('-').starts_with(|first: char| first.is_ascii_alphabetic())
    };
    words.filter(is_option).map(|word| word.trim_end_matches('-').to_owned())
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
