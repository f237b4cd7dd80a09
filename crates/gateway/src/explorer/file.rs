//! A file: what is known of it, its beginning or end, and its blocks.

use super::address::Address;
use super::directory::permission_text;
use super::forms;
use super::host::ExplorerHost;
use crate::failure::Failure;
use crate::operation::Operation;
use zerohop_client::{FileStatus, FileSystem, LocatedBlock};
use zerohop_pages::{
    Body, Cell, Content, Level, Notice, Paging, Section, Table, bytes, count, date,
};

/// As much as `fs -head` and `fs -tail` show, and more.
const PREVIEW_LEN: usize = 32 << 10;
/// Blocks on one page.
const BLOCKS_MAX: u64 = 200;

pub(super) async fn content<H: ExplorerHost>(
    host: &H,
    fs: &FileSystem,
    status: &FileStatus,
    address: &Address,
    mut content: Content,
) -> Result<Content, Failure> {
    host.check(Operation::GetFileBlockLocations)?;
    content.add(Section::new("actions", Body::Html(forms::actions(address))).still());
    if let Some(show) = address.show {
        host.check(Operation::Open)?;
        let title = if show == "head" { "Beginning" } else { "End" };
        let section = match preview(fs, status, show).await {
            Ok(text) => {
                let note = format!(
                    "At most {}; bytes that are no UTF-8 are replaced.",
                    bytes(PREVIEW_LEN as u64)
                );
                Section::new("preview", Body::Lines(text)).titled(title).noted(note)
            }
            Err(error) => {
                let notice =
                    Notice::new(Level::Bad, format!("It cannot be read: {}", Failure::from(error)));
                Section::new("preview", Body::Notices(vec![notice])).titled(title)
            }
        };
        content.add(section.still());
    }
    content.add(Section::new("facts", Body::Facts(facts(fs, status).await)).titled("File").still());
    let window = status.block_size.max(1).saturating_mul(BLOCKS_MAX);
    let located = fs.block_locations(&address.path, address.offset, window).await?;
    let mut table = Table::new(
        &["Block", "Offset", "Length", "State", "Replicas on"],
        "The file has no block.",
    );
    // Blocks of files that were put together may be shorter than the file's block size.
    let shown = located.blocks.get(..BLOCKS_MAX as usize).unwrap_or(&located.blocks);
    for block in shown {
        table.row(row(block, located.is_under_construction, &located.last_block));
    }
    let end = shown.last().map_or(0, LocatedBlock::end);
    let next = (end > 0 && end < status.len).then(|| Address { offset: end, ..address.reset() });
    let first = (address.offset > 0).then(|| address.reset());
    if first.is_some() || next.is_some() {
        let (first, next) = (first.map(|page| page.to_string()), next.map(|page| page.to_string()));
        let shown = format!("from byte {} on", count(address.offset));
        table = table.paged(Paging::links(first, next, shown));
    }
    content.add(Section::new("blocks", Body::Table(table)).titled("Blocks").still());
    content.add(Section::new("forms", Body::Html(forms::of_file(address, status))).still());
    Ok(content)
}

async fn preview(
    fs: &FileSystem,
    status: &FileStatus,
    show: &str,
) -> zerohop_client::Result<String> {
    let reader = fs.open(&status.path).await?;
    let len = PREVIEW_LEN.min(usize::try_from(reader.len()).unwrap_or(PREVIEW_LEN));
    let offset = if show == "head" { 0 } else { reader.len() - len as u64 };
    let bytes = reader.read_bytes_at(offset, len).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

async fn facts(fs: &FileSystem, status: &FileStatus) -> Vec<(&'static str, Cell)> {
    let mut facts = vec![
        ("Size", Cell::text(format!("{} ({} bytes)", bytes(status.len), count(status.len)))),
        ("Replication", Cell::count(status.replication)),
        ("Block size", Cell::bytes(status.block_size)),
        ("Permission", Cell::code(permission_text(status))),
        ("Owner", status.owner.to_string().into()),
        ("Group", status.group.to_string().into()),
        ("Modified", date(status.modified_ms).into()),
        ("Read", date(status.accessed_ms).into()),
        ("Inode", Cell::code(status.file_id.to_string())),
    ];
    if let Some(policy) = &status.erasure_policy {
        facts.push(("Erasure coding", policy.name.as_str().into()));
    }
    if status.is_encrypted {
        facts.push(("Encrypted", "yes".into()));
    }
    if status.has_acl
        && let Ok(acl) = fs.acl_status(&status.path).await
    {
        let entries: Vec<String> = acl.entries.iter().map(ToString::to_string).collect();
        facts.push(("Access control list", Cell::code(entries.join(", "))));
    }
    facts
}

fn row(block: &LocatedBlock, is_open: bool, last: &Option<LocatedBlock>) -> Vec<Cell> {
    let is_last = last.as_ref().is_some_and(|last| last.block.block.id == block.block.block.id);
    let state = match (block.is_corrupt, block.replicas.is_empty()) {
        (true, _) => Cell::state("Corrupt", Level::Bad),
        (false, true) => Cell::state("Missing", Level::Bad),
        (false, false) if is_open && is_last => Cell::state("Being written", Level::Warn),
        (false, false) => Cell::state("Good", Level::Good),
    };
    let replicas = block.replicas.iter().map(|replica| {
        let node = &replica.node;
        let cached = if replica.is_cached { ", cached" } else { "" };
        format!(
            "{}:{} ({}{cached}, {})",
            node.host(),
            node.transfer_port(),
            replica.storage_type.as_str_name(),
            node.location()
        )
    });
    vec![
        Cell::code(block.block.to_string()),
        Cell::count(block.offset),
        Cell::bytes(block.block.block.len),
        state,
        replicas.collect::<Vec<_>>().join(", ").into(),
    ]
}
