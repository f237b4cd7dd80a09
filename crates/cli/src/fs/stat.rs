//! `-stat`

use jiff::tz::TimeZone;

use super::item::Item;
use super::location::file_name;
use super::options::Options;
use super::shell::Shell;
use super::status::FileKind;
use crate::failure::{Failure, Outcome};
use crate::units::time;

pub fn run(shell: &mut Shell, args: Vec<String>) -> Outcome {
    let options = Options::new(1, usize::MAX, &["R"]);
    let mut given = options.parse(args)?;
    let recursive = given.has("R");
    let mut format = "%y".to_owned();
    if given.rest.first().is_some_and(|first| first.contains('%')) {
        format = given.take_first();
    }
    if given.rest.is_empty() {
        return Err(Failure::usage("Not enough arguments: expected 1 but got 0"));
    }
    let mut values = Vec::new();
    shell.walk_args(&given.rest, recursive, &mut |shell, item, _| {
        if shell.json {
            values.push(item.found()?.json(&item.text));
            return Ok(());
        }
        let line = describe(item, &format)?;
        shell.line(line)
    })?;
    if shell.json { shell.json_line(&serde_json::Value::Array(values)) } else { Ok(()) }
}

fn describe(item: &Item, format: &str) -> Outcome<String> {
    let status = item.found()?;
    let utc = |ms| time(ms, "%Y-%m-%d %H:%M:%S", &TimeZone::UTC);
    let mut out = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            None => break,
            Some('a') => out.push_str(&format!("{:o}", status.mode)),
            Some('A') => out.push_str(&status.permission()),
            Some('b') => out.push_str(&status.length.to_string()),
            Some('F') => out.push_str(match status.kind {
                FileKind::Directory => "directory",
                FileKind::File => "regular file",
                _ => "symlink",
            }),
            Some('g') => out.push_str(&status.group),
            Some('n') => out.push_str(file_name(&item.path)),
            Some('o') => out.push_str(&status.block_size.to_string()),
            Some('r') => out.push_str(&status.replication.to_string()),
            Some('u') => out.push_str(&status.owner),
            Some('x') => out.push_str(&utc(status.accessed_ms)),
            Some('X') => out.push_str(&status.accessed_ms.to_string()),
            Some('y') => out.push_str(&utc(status.modified_ms)),
            Some('Y') => out.push_str(&status.modified_ms.to_string()),
            Some(other) => out.push(other),
        }
    }
    Ok(out)
}
