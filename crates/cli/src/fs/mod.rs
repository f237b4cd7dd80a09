//! `zerohop fs`: the commands of Hadoop's file system shell.
//!
//! From the top: [`help`] has the table of the commands, each of which is a file or shares one with
//! its like; [`copy`], [`destination`], [`stream`] and [`trash`] are what several of them do;
//! [`shell`] is one run of one command, with its output and its errors; [`item`] and [`glob`] are
//! paths that were looked up, in a [`store`]; [`stores`] opens that of each scheme: [`hdfs`], [`local`],
//! [`webhdfs`], [`viewfs`] with its [`view`] and [`mount_table`], [`har`] with its [`har_index`]; [`status`],
//! [`acl_entry`] and [`location`] are what is said of files and paths. Imports go down only.

mod acl;
mod acl_entry;
mod admin;
mod append;
mod checksum;
mod connect;
mod copy;
mod copy_commands;
mod count;
mod destination;
mod display;
pub mod distcp;
mod encoding;
mod find;
mod glob;
mod har;
mod har_index;
mod hdfs;
mod help;
mod interrupt;
mod item;
mod local;
mod location;
mod ls;
mod lzo_index;
mod make;
mod modify;
mod mount_table;
mod mv;
mod options;
mod parts;
mod pattern;
mod permissions;
mod progress;
mod remove;
mod report;
mod room;
mod seekable;
mod shell;
mod snapshot;
mod stat;
mod status;
mod store;
mod stores;
mod stream;
mod tail;
mod test;
mod text;
mod trash;
mod usage;
mod view;
mod viewfs;
mod webhdfs;
mod xattr;

use zerohop_conf::{Conf, closest};

use crate::failure::{EXIT_USAGE, Failure, Kind};
use crate::{log, spans, wording};
pub use admin::{connect_at, each_path};
pub use connect::{client_failure, connect_client, no_hdfs, open_client};
pub use help::entries;
pub use interrupt::Unfinished;
pub use location::{Location, absolute};
pub use options::{pop_flag, pop_valued};
pub use progress::Progress;
use shell::Shell;
pub use status::permission;

/// Exit code when the reader of our output is gone, as of a process that SIGPIPE ended.
const EXIT_PIPE: i32 = 141;

/// Runs a command: `-ls /`.
pub fn run(conf: Conf, mut args: Vec<String>) -> i32 {
    if args.is_empty() {
        note!("{}", help::overview());
        return EXIT_USAGE;
    }
    let mut word = args.remove(0);
    if matches!(word.as_str(), "--help" | "-h") {
        (word, args) = ("-help".to_owned(), Vec::new());
    } else if args.first().is_some_and(|arg| asks_for_help(arg)) {
        args = vec![std::mem::replace(&mut word, "-help".to_owned())];
    }
    let Some(command) = word.strip_prefix('-').and_then(help::find) else {
        return unknown(&word);
    };
    let mut shell = Shell::new(conf, word.trim_start_matches('-'));
    if command.json {
        shell.json = options::pop_flag("--json", &mut args);
    }
    if let Some(other) = command.replaced_by {
        noteln!("{}: DEPRECATED: Please use '{other}' instead.", shell.name);
    }
    let name = format!("fs -{}", shell.name);
    log::begin_spans(&shell.conf);
    spans::within_command(&name, || carry_out(&mut shell, command, &word, args))
}

/// Runs a command; the exit code.
fn carry_out(shell: &mut Shell, command: &help::Command, word: &str, args: Vec<String>) -> i32 {
    let result = (command.run)(shell, args).and_then(|()| shell.flush());
    match result {
        Ok(()) => {}
        Err(Failure { kind: Kind::Pipe, .. }) => return EXIT_PIPE,
        Err(Failure { kind: Kind::Usage, text }) => {
            let _ = shell.flush();
            noteln!("{word}: {text}");
            noteln!("{} {}", help::PREFIX, command.synopsis());
            return EXIT_USAGE;
        }
        Err(failure) => {
            let _ = shell.report(failure);
        }
    }
    if shell.error_count() > 0 { 1 } else { shell.exit_code }
}

/// Whether the word behind a command asks what the command does. To Apache's shell `-help` is an option
/// that no command has.
pub fn asks_for_help(word: &str) -> bool {
    word == "--help" || (word == "-help" && !wording::is_apaches())
}

fn unknown(word: &str) -> i32 {
    noteln!("{word}: Unknown command");
    if help::find(word).is_some() {
        noteln!("Did you mean -{word}?  This command begins with a dash.");
    } else if let Some(near) = closest(word.trim_start_matches('-'), help::names()) {
        noteln!("Did you mean -{near}?  `zerohop fs -help' lists the commands.");
    } else {
        noteln!("`zerohop fs -help' lists the commands.");
    }
    EXIT_USAGE
}
