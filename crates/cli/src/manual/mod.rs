//! What the command line can say, as data: shell completions and manual pages are made from it.
//!
//! The entries come from the same tables and texts that the commands parse with and print as their help.
//! clap knows our own verbs and the options of `up` and `demo` only: Hadoop's commands have one dash and
//! several letters (`-ls`), exit with 255 where clap exits with 2, and take options in places where clap
//! allows none, so they are parsed from tables of their own, and clap_complete and clap_mangen, which read
//! nothing but clap, cannot describe them.

mod completions;
mod entry;
mod page;

use std::path::{Path, PathBuf};

use clap::builder::StyledStr;

use crate::failure::{Failure, Outcome, complain};
pub use entry::{Entry, Shell};

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
        zerohop_system::files::write(&path, page)
            .map_err(|error| Failure::io(format!("{}: {error}", path.display())))
    };
    std::fs::create_dir_all(directory)
        .map_err(|error| Failure::io(format!("{}: {error}", directory.display())))?;
    write(directory.join("zerohop.1"), page::overview(verbs))?;
    verbs.iter().try_for_each(|verb| {
        write(directory.join(format!("zerohop-{}.1", verb.name)), page::of_verb(verb))
    })
}
