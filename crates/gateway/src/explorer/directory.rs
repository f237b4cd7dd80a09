//! A directory, a page of its names at a time.

use super::address::Address;
use super::forms;
use super::host::ExplorerHost;
use crate::failure::Failure;
use crate::operation::Operation;
use zerohop_client::{FileStatus, FileSystem};
use zerohop_pages::{Body, Cell, Content, Paging, Section, Table, count, date};

/// Names on one page. The NameNode is asked for one part of its list, never for all.
const ROWS_MAX: usize = 500;
const COLUMNS: [&str; 8] =
    ["Name", "Permission", "Owner", "Group", "Size", "Replication", "Block size", "Modified"];

pub(super) async fn content<H: ExplorerHost>(
    host: &H,
    fs: &FileSystem,
    status: &FileStatus,
    address: &Address,
    content: Content,
) -> Result<Content, Failure> {
    host.check(Operation::ListStatus)?;
    let pages = fs.list_pages(&address.path)?;
    let mut pages = match &address.after {
        Some(after) => pages.after(after),
        None => pages,
    };
    let mut entries = pages.next().await?.unwrap_or_default();
    let has_more = entries.len() > ROWS_MAX || pages.has_more();
    entries.truncate(ROWS_MAX);
    let mut table = Table::new(&COLUMNS, "This directory is empty.");
    for entry in &entries {
        table.row(row(entry, address));
    }
    let next = entries.last().filter(|_| has_more);
    let next = next.map(|last| Address { after: Some(last.name().to_owned()), ..address.reset() });
    let first = address.after.as_ref().map(|_| address.reset().to_string());
    let total = status.children.map(|children| format!(" of {}", count(children.into())));
    let total = total.unwrap_or_default();
    let from = match &address.after {
        Some(after) => format!("{} names behind {after}{total}", entries.len()),
        None => format!("{} names{total}", count(entries.len() as u64)),
    };
    if first.is_some() || next.is_some() {
        let next = next.map(|next| next.to_string());
        table = table.paged(Paging::links(first, next, from));
    }
    let panels = forms::of_directory(address, status);
    Ok(content
        .with(Section::new("entries", Body::Table(table)).titled("Contents").still())
        .with(Section::new("forms", Body::Html(panels)).still()))
}

fn row(entry: &FileStatus, address: &Address) -> Vec<Cell> {
    let name = entry.name();
    let shown = match (entry.is_dir(), &entry.symlink) {
        (true, _) => format!("{name}/"),
        (false, Some(target)) => format!("{name} -> {target}"),
        (false, None) => name.to_owned(),
    };
    let number = |number: u64| if entry.is_dir() { Cell::default() } else { Cell::count(number) };
    let size = |size: u64| if entry.is_dir() { Cell::default() } else { Cell::bytes(size) };
    vec![
        Cell::text(shown).to(address.child(name).to_string()),
        Cell::code(permission_text(entry)),
        entry.owner.to_string().into(),
        entry.group.to_string().into(),
        size(entry.len),
        number(entry.replication.into()),
        size(entry.block_size),
        date(entry.modified_ms).into(),
    ]
}

/// As `ls` shows it: `drwxr-xr-t+`.
pub(super) fn permission_text(status: &FileStatus) -> String {
    let mut text = String::from(match (status.is_dir(), &status.symlink) {
        (true, _) => "d",
        (false, Some(_)) => "l",
        (false, None) => "-",
    });
    for shift in [6, 3, 0] {
        let bits = status.permission >> shift;
        for (bit, letter) in [(4, 'r'), (2, 'w'), (1, 'x')] {
            text.push(if bits & bit != 0 { letter } else { '-' });
        }
    }
    if status.permission & 0o1000 != 0 {
        let letter = if text.pop() == Some('x') { 't' } else { 'T' };
        text.push(letter);
    }
    if status.has_acl {
        text.push('+');
    }
    text
}
