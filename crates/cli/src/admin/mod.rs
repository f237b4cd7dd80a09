//! What `cacheadmin`, `storagepolicies` and `ec` share: commands with one dash, words taken one by one,
//! tables, exit codes (Hadoop's `AdminHelper`).

pub mod table;
pub mod words;

use zerohop_conf::{Conf, closest};

use crate::failure::complain;
use crate::fs::asks_for_help;
use crate::manual::Entry;
use crate::settings::Settings;
use crate::wording;
use words::{Answer, Arguments, refuse};

/// One command: its name, its synopsis, what it does, its words, how it runs.
pub struct Command {
    pub name: &'static str,
    /// Begins with a blank, unless it is empty.
    pub usage: &'static str,
    pub about: &'static str,
    pub words: &'static [(&'static str, &'static str)],
    pub run: fn(&Conf, Arguments) -> Answer,
}

impl Command {
    /// A line, as Apache's tools print it.
    pub fn synopsis(&self) -> String {
        format!("[{}{}]\n", self.name, self.usage)
    }

    fn explanation(&self) -> String {
        format!("{}\n{}\n\n{}", self.synopsis(), self.about, table::explained(self.words))
    }
}

impl Tool {
    /// The commands for completions and manual pages.
    pub fn entries(&self) -> Vec<Entry> {
        let one = |command: &Command| {
            Entry::new(command.name, command.about, command.usage, command.about)
        };
        self.commands.iter().map(one).collect()
    }
}

/// A program with such commands.
pub struct Tool {
    pub name: &'static str,
    pub commands: &'static [Command],
}

const HELP: &str = "[-help <command-name>]\n";

impl Tool {
    /// All synopses.
    pub fn usage(&self) -> String {
        let lines = self.commands.iter().map(Command::synopsis).chain([HELP.to_owned()]);
        let lines: String = lines.map(|line| format!("          {line}")).collect();
        format!("Usage: bin/hdfs {} [COMMAND]\n{lines}", self.name)
    }

    /// Runs a command; its exit code.
    pub fn run(&self, settings: &Settings, words: Vec<String>) -> i32 {
        let conf = match settings.load_for_cluster() {
            Ok(conf) => conf,
            Err(failure) => return complain(self.name, &failure),
        };
        match self.command(&conf, words) {
            Ok(()) => 0,
            Err(refusal) => {
                noteln!("{}", refusal.text);
                refusal.code
            }
        }
    }

    fn find(&self, name: &str) -> Option<&Command> {
        self.commands.iter().find(|command| command.name == name)
    }

    fn command(&self, conf: &Conf, mut words: Vec<String>) -> Answer {
        if words.is_empty() {
            return refuse(self.usage());
        }
        let word = words.remove(0);
        if matches!(word.as_str(), "--help" | "-h") {
            sayln!("{}", self.usage().trim_end());
            return Ok(());
        }
        if word == "-help" {
            return self.help(&words);
        }
        match self.find(&word) {
            Some(command) if words.first().is_some_and(|word| asks_for_help(word)) => {
                sayln!("{}", command.explanation().trim_end());
                Ok(())
            }
            Some(command) => (command.run)(conf, Arguments::new(words, command.synopsis())),
            None => refuse(self.unknown(&word)),
        }
    }

    fn unknown(&self, word: &str) -> String {
        let dash = match word.starts_with('-') {
            true => "",
            false => "Command names must start with dashes.\n",
        };
        let meant = closest(word, self.commands.iter().map(|command| command.name));
        let meant = meant.filter(|_| !wording::is_apaches());
        let meant = meant.map_or(String::new(), |near| format!("Did you mean {near}?\n"));
        format!("Can't understand command '{word}'\n{dash}{meant}{}", self.usage())
    }

    fn help(&self, words: &[String]) -> Answer {
        match words {
            // As Apache's: all explanations together are a failure.
            [] => {
                let all: Vec<String> = self.commands.iter().map(Command::explanation).collect();
                refuse(all.join("\n"))
            }
            [word] if word == "help" => {
                let about =
                    [("<command-name>", "The command, without its dash; else all of them.")];
                note!("{HELP}\nExplains a command.\n\n{}", table::explained(&about));
                Ok(())
            }
            [word] => match self.find(&format!("-{word}")) {
                Some(command) => {
                    note!("{}", command.explanation());
                    Ok(())
                }
                None => {
                    let names = self.commands.iter();
                    let names = names.map(|command| command.name.trim_start_matches('-'));
                    refuse(format!(
                        "Unknown command '{word}'.\nValid help command names are:\n{}",
                        names.collect::<Vec<_>>().join(", ")
                    ))
                }
            },
            _ => refuse("You must give exactly one argument to -help."),
        }
    }
}
