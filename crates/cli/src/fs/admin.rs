//! Paths of HDFS for commands of administration, which ask more of it than a store does.

use zerohop_client::blocking::FileSystem;
use zerohop_conf::Conf;

use super::connect::{client_failure, no_hdfs};
use super::location::{Location, absolute};
use super::shell::Shell;
use super::store::Store;
use crate::failure::{EXIT_USAGE, Outcome};

fn client(store: &dyn Store) -> Outcome<&FileSystem> {
    store.hdfs().ok_or_else(|| no_hdfs(&store.uri()))
}

/// The HDFS that a path belongs to, and the path in it, absolute.
pub fn connect_at(conf: &Conf, text: &str) -> Outcome<(FileSystem, String)> {
    let location = Location::parse(text);
    let store = Shell::new(conf.clone(), "").store(&location)?;
    Ok((client(&*store)?.clone(), absolute(&location.path, &store.home())))
}

/// Makes a call at the HDFS of each path that the words of a command stand for, patterns expanded, as
/// `Command.runAll`. What fails is printed, and the others are tried all the same; then the exit code
/// is that of a failure.
pub fn each_path(
    conf: &Conf,
    command: &str,
    words: &[String],
    call: impl Fn(&FileSystem, &str) -> zerohop_client::Result<()>,
) -> Outcome<i32> {
    let mut shell = Shell::new(conf.clone(), command);
    let items = shell.expand_all(words)?;
    shell
        .each(&items, |_, item| call(client(&*item.store)?, &item.path).map_err(client_failure))?;
    Ok(if shell.error_count() > 0 { EXIT_USAGE } else { 0 })
}
