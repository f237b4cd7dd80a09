//! What all shell commands share: finding paths, printing, counting errors, walking trees.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::Arc;

use zerohop_conf::{Conf, keys};

use super::glob::glob;
use super::item::Item;
use super::location::{Location, absolute, decoded, relative};
use super::pattern::unescape;
use super::room;
use super::status::Status;
use super::store::{Store, Stores};
use super::stores::OpenStores;
use crate::failure::{Failure, Kind, Outcome};

/// One run of one command.
pub struct Shell {
    pub conf: Conf,
    /// The command as it was called, without dash; errors start with it.
    pub name: String,
    /// Output for programs instead of people.
    pub json: bool,
    /// What the command wants to return when there was no error.
    pub exit_code: i32,
    errors: usize,
    /// What is known of the room was printed.
    told_room: bool,
    out: BufWriter<Stdout>,
    stores: OpenStores,
}

/// What a walk does at a path; the number is the depth below the argument.
pub type Visit<'a> = &'a mut dyn FnMut(&mut Shell, &Item, usize) -> Outcome;

impl Shell {
    pub fn new(conf: Conf, name: &str) -> Shell {
        Shell {
            stores: OpenStores::new(conf.clone()),
            conf,
            name: name.to_owned(),
            json: false,
            exit_code: 0,
            errors: 0,
            told_room: false,
            out: BufWriter::with_capacity(64 << 10, io::stdout()),
        }
    }

    /// Makes another file system the default one.
    pub fn set_default_fs(&mut self, uri: &str) {
        self.conf.set_option("fs.defaultFS", uri);
        self.stores = OpenStores::new(self.conf.clone());
    }

    /// The file system that a location belongs to.
    pub fn store(&mut self, location: &Location) -> Outcome<Arc<dyn Store>> {
        self.stores.open(location)
    }

    /// Prints to standard error which way everything went that was read.
    pub fn report_reads(&self) {
        for line in self.stores.remote().iter().flat_map(|store| store.read_report()) {
            noteln!("{line}");
        }
    }

    /// The path itself, with no glob; it need not exist.
    pub fn item(&mut self, text: &str) -> Outcome<Item> {
        let store = self.store(&Location::parse(text))?;
        Item::look_up(&store, text)
    }

    /// A path of the local file system, with no glob.
    pub fn local_item(&self, text: &str) -> Outcome<Item> {
        let location = Location::parse(text);
        let text = if location.has_scheme("file") { &location.path } else { text };
        let local = self.stores.local();
        let path = absolute(text, &local.home());
        Item::at(&local, text.to_owned(), path)
    }

    /// A local file to copy from. Hadoop's shell takes such an argument for a URI, so that a blank has
    /// to be written `%20`; here the name as it stands counts first.
    pub fn local_source(&self, text: &str) -> Outcome<Item> {
        let item = self.local_item(text)?;
        if item.exists() {
            return Ok(item);
        }
        let decoded = decoded(text).map(|text| self.local_item(&text)).transpose()?;
        Ok(decoded.filter(Item::exists).unwrap_or(item))
    }

    /// What an argument stands for: its matches, or the one path that does not exist.
    pub fn expand(&mut self, text: &str) -> Outcome<Vec<Item>> {
        if text.is_empty() {
            return Err(Failure::usage("Can not create a Path from an empty string"));
        }
        let location = Location::parse(text);
        let store = self.store(&location)?;
        let home = store.home();
        let pattern = absolute(&location.path, &home);
        let Some(found) = glob(&*store, &pattern)? else {
            let text = unescape(text);
            let path = unescape(&pattern);
            return Ok(vec![Item { store, text, path, status: None }]);
        };
        if found.is_empty() {
            return Err(Failure::not_found(text));
        }
        let prefix = location.prefix();
        let relative_text = location.scheme.is_none() && !location.path.starts_with('/');
        let item = |status: Status| {
            let path = status.path.clone();
            let text =
                if relative_text { relative(&home, &path) } else { format!("{prefix}{path}") };
            Item { store: store.clone(), text, path, status: Some(status) }
        };
        Ok(found.into_iter().map(item).collect())
    }

    /// Expands each argument; what fails is reported and left out.
    pub fn expand_all(&mut self, args: &[String]) -> Outcome<Vec<Item>> {
        let mut items = Vec::new();
        for arg in args {
            match self.expand(arg) {
                Ok(found) => items.extend(found),
                Err(failure) => self.report(failure)?,
            }
        }
        Ok(items)
    }

    /// Runs `action` on each item; what fails is reported.
    pub fn each(
        &mut self,
        items: &[Item],
        mut action: impl FnMut(&mut Shell, &Item) -> Outcome,
    ) -> Outcome {
        for item in items {
            let result = action(self, item);
            self.note(result)?;
        }
        Ok(())
    }

    /// Expands the arguments and runs `action` on each path that exists.
    pub fn each_found(
        &mut self,
        args: &[String],
        mut action: impl FnMut(&mut Shell, &Item) -> Outcome,
    ) -> Outcome {
        let items = self.expand_all(args)?;
        self.each(&items, |shell, item| {
            item.found()?;
            action(shell, item)
        })
    }

    /// Runs `action` on each file that is named, without globbing; the first failure ends it.
    pub fn each_named(
        &mut self,
        args: &[String],
        mut action: impl FnMut(&mut Shell, Item) -> Outcome,
    ) -> Outcome {
        for arg in args {
            let item = self.item(arg)?;
            item.found_file()?;
            action(self, item)?;
        }
        Ok(())
    }

    /// Expands the arguments and visits each path, and what lies below it when `recursive`.
    pub fn walk_args(&mut self, args: &[String], recursive: bool, visit: Visit) -> Outcome {
        let items = self.expand_all(args)?;
        self.each(&items, |shell, item| {
            item.found()?;
            shell.walk(item, recursive, 0, visit)
        })
    }

    /// Visits a path, then what lies below it. A failed visit keeps the walk out of that directory.
    pub fn walk(&mut self, item: &Item, recursive: bool, depth: usize, visit: Visit) -> Outcome {
        if let Err(failure) = visit(self, item, depth) {
            return self.report(failure);
        }
        if recursive && item.is_dir() {
            let listed = self.walk_entries(item, depth, visit);
            self.note(listed)?;
        }
        Ok(())
    }

    fn walk_entries(&mut self, directory: &Item, depth: usize, visit: Visit) -> Outcome {
        directory.store.clone().list(&directory.path, &mut |page| {
            for status in page {
                self.walk(&directory.listed(status), true, depth + 1, visit)?;
            }
            Ok(())
        })
    }

    /// Reports a failure, and goes on; what must end the command comes back.
    pub fn report(&mut self, failure: Failure) -> Outcome {
        if matches!(failure.kind, Kind::Usage | Kind::Pipe) {
            return Err(failure);
        }
        self.errors += 1;
        self.warn(&failure.text)?;
        self.tell_room(&failure.text)
    }

    /// Once a command: what is known of the room, after a failure that may be for lack of it.
    fn tell_room(&mut self, failure: &str) -> Outcome {
        if self.told_room || !room::may_be_short(failure) {
            return Ok(());
        }
        self.told_room = true;
        let block_size = self.conf.get(&keys::DFS_BLOCKSIZE)?;
        let lines: Vec<String> = self
            .stores
            .remote()
            .iter()
            .filter_map(|store| store.room_report(block_size, failure))
            .collect();
        lines.iter().try_for_each(|line| self.warn(line))
    }

    /// As [`Shell::report`], for a result.
    pub fn note(&mut self, result: Outcome) -> Outcome {
        match result {
            Ok(()) => Ok(()),
            Err(failure) => self.report(failure),
        }
    }

    /// A line on standard error that is no error; the first line of the text only.
    pub fn warn(&mut self, text: &str) -> Outcome {
        self.out.flush()?;
        noteln!("{}: {}", self.name, text.lines().next().unwrap_or_default());
        Ok(())
    }

    pub fn error_count(&self) -> usize {
        self.errors
    }

    pub fn line(&mut self, text: impl AsRef<str>) -> Outcome {
        self.out.write_all(text.as_ref().as_bytes())?;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    pub fn print(&mut self, bytes: &[u8]) -> Outcome {
        Ok(self.out.write_all(bytes)?)
    }

    pub fn flush(&mut self) -> Outcome {
        Ok(self.out.flush()?)
    }

    /// Prints a value for programs.
    pub fn json_line(&mut self, value: &serde_json::Value) -> Outcome {
        self.line(value.to_string())
    }
}

/// What is printed, for those that write to any output.
impl Write for Shell {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
