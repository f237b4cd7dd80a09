//! `-ls`

use jiff::tz::TimeZone;

use super::item::Item;
use super::options::{Options, ParsedOptions};
use super::shell::Shell;
use super::status::{FileKind, Status};
use crate::failure::Outcome;
use crate::units;

/// Entries whose columns are aligned together in a recursive listing.
const GROUP: usize = 100;

struct Ls {
    given: ParsedOptions,
    recursive: bool,
    zone: TimeZone,
    widths: Widths,
    json: Vec<serde_json::Value>,
}

/// Column widths; they only grow.
struct Widths {
    replication: usize,
    length: usize,
    owner: usize,
    group: usize,
    policy: usize,
}

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let options = Options::new(0, usize::MAX, &["C", "d", "h", "q", "R", "r", "t", "S", "u", "e"]);
    let mut given = options.parse(args)?;
    let paths = std::mem::take(&mut given.rest);
    let paths = if paths.is_empty() { vec![".".to_owned()] } else { paths };
    let recursive = given.has("R") && !given.has("d");
    let widths = Widths { replication: 3, length: 10, owner: 0, group: 0, policy: 0 };
    let zone = if given.has("C") { TimeZone::UTC } else { TimeZone::system() };
    let mut ls = Ls { given, recursive, zone, widths, json: Vec::new() };
    shell.each_found(&paths, |shell, item| ls.argument(shell, item))?;
    if shell.json {
        shell.json_line(&serde_json::Value::Array(ls.json))?;
    }
    Ok(())
}

/// As `-ls -R`.
pub fn run_recursive(shell: &mut Shell, mut args: Vec<String>) -> Outcome {
    args.insert(0, "-R".to_owned());
    run(shell, args)
}

impl Ls {
    fn argument(&mut self, shell: &mut Shell, item: &Item) -> Outcome {
        if item.is_dir() && !self.given.has("d") {
            self.directory(shell, item)
        } else {
            self.group(shell, std::slice::from_ref(item))
        }
    }

    fn directory(&mut self, shell: &mut Shell, directory: &Item) -> Outcome {
        let sorted =
            !self.recursive || self.given.has("t") || self.given.has("S") || self.given.has("r");
        if !sorted {
            return self.directory_by_page(shell, directory);
        }
        let statuses = directory.store.list_all(&directory.path)?;
        let mut items: Vec<Item> =
            statuses.into_iter().map(|status| directory.listed(status)).collect();
        items.sort_by(|a, b| a.path.cmp(&b.path));
        if !self.recursive && !items.is_empty() {
            if !self.given.has("C") && !shell.json {
                shell.line(format!("Found {} items", items.len()))?;
            }
            self.sort(&mut items);
        }
        self.group(shell, &items)
    }

    fn directory_by_page(&mut self, shell: &mut Shell, directory: &Item) -> Outcome {
        let store = directory.store.clone();
        store.list(&directory.path, &mut |page| {
            let items: Vec<Item> =
                page.into_iter().map(|status| directory.listed(status)).collect();
            items.chunks(GROUP).try_for_each(|group| self.group(shell, group))
        })
    }

    fn sort(&self, items: &mut [Item]) {
        let number = |item: &Item| {
            item.status.as_ref().map_or(0, |status| match self.given.has("t") {
                true => self.time(status),
                false => status.length,
            })
        };
        let by_number = self.given.has("t") || self.given.has("S");
        items.sort_by(|a, b| {
            let order = if by_number { number(b).cmp(&number(a)) } else { a.path.cmp(&b.path) };
            if self.given.has("r") { order.reverse() } else { order }
        });
    }

    fn time(&self, status: &Status) -> i64 {
        if self.given.has("u") { status.accessed_ms } else { status.modified_ms }
    }

    fn group(&mut self, shell: &mut Shell, items: &[Item]) -> Outcome {
        let mut policies = Vec::new();
        for item in items {
            policies.push(if self.given.has("e") { policy(item)? } else { String::new() });
        }
        for (item, policy) in items.iter().zip(&policies) {
            self.widths.widen(item.found()?, policy);
        }
        for (item, policy) in items.iter().zip(&policies) {
            self.entry(shell, item, policy)?;
            if self.recursive && item.is_dir() {
                let below = self.directory(shell, item);
                shell.note(below)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, shell: &mut Shell, item: &Item, policy: &str) -> Outcome {
        let status = item.found()?;
        if shell.json {
            self.json.push(status.json(&item.text));
            return Ok(());
        }
        if self.given.has("C") {
            return shell.line(&item.text);
        }
        let widths = &self.widths;
        let replication = match status.kind {
            FileKind::File => status.replication.to_string(),
            _ => "-".to_owned(),
        };
        let mut line = format!(
            "{}{}{}{replication:>rw$} ",
            if status.is_dir() { 'd' } else { '-' },
            status.permission(),
            if status.has_acl { '+' } else { ' ' },
            rw = widths.replication,
        );
        push_left(&mut line, &status.owner, widths.owner);
        push_left(&mut line, &status.group, widths.group);
        if self.given.has("e") {
            push_left(&mut line, policy, widths.policy);
        }
        let size = units::size(status.length, self.given.has("h"));
        let time = units::time(self.time(status), "%Y-%m-%d %H:%M", &self.zone);
        let name = if self.given.has("q") { printable(&item.text) } else { item.text.clone() };
        line.push_str(&format!("{size:>lw$} {time} {name}", lw = widths.length));
        shell.line(line)
    }
}

impl Widths {
    fn widen(&mut self, status: &Status, policy: &str) {
        let grow = |width: &mut usize, length: usize| *width = (*width).max(length);
        grow(&mut self.replication, status.replication.to_string().len());
        grow(&mut self.length, status.length.to_string().len());
        grow(&mut self.owner, status.owner.chars().count());
        grow(&mut self.group, status.group.chars().count());
        grow(&mut self.policy, policy.chars().count());
    }
}

/// A column that is only there when something stands in it.
fn push_left(line: &mut String, text: &str, width: usize) {
    line.push_str(&format!("{text:<width$}"));
    if width > 0 {
        line.push(' ');
    }
}

fn policy(item: &Item) -> Outcome<String> {
    Ok(item.store.summary(&item.path)?.erasure_policy)
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
