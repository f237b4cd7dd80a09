//! Operations that answer a list of any length.

use crate::failure::Failure;
use crate::glob::glob;
use crate::list_pages::entries;
use crate::located_ranges::LocatedRanges;
use crate::locations;
use crate::operation::Operation;
use crate::request::Request;
use crate::shapes;
use crate::snapshots;
use crate::streamed_list::{Members, StreamedList};
use crate::trash;
use axum::response::Response;
use futures_util::{StreamExt, stream};
use zerohop_client::FileSystem;

/// Returns the answer to an operation with a list; `None` for all others.
pub(crate) async fn answer(
    fs: &FileSystem,
    request: &Request,
) -> Result<Option<Response>, Failure> {
    let list = match request.operation {
        Operation::ListStatus => statuses(fs, request).await?,
        Operation::ListStatusBatch => batch(fs, request).await?,
        Operation::GetFileBlockLocations => {
            let blocks = LocatedRanges::begin(fs, request).await?;
            list(
                "{\"BlockLocations\":{\"BlockLocation\":",
                blocks.members(locations::block_location),
                "}}",
            )
        }
        Operation::GetBlockLocations => {
            let blocks = LocatedRanges::begin(fs, request).await?;
            let head = locations::located_blocks_head(blocks.first());
            list(&head, blocks.members(locations::located_block), "}}")
        }
        Operation::GetTrashRoots => {
            let roots = trash::roots(fs, request.params.flag("allusers", false)?).await?;
            // `JsonUtil` writes `null` for an empty list.
            StreamedList { empty: "null", ..list("{\"Paths\":", roots, "}") }
        }
        _ => match snapshots::list(fs, request).await? {
            Some(list) => list,
            None => return Ok(None),
        },
    };
    list.response().await.map(Some)
}

fn list(head: &str, members: Members, tail: &str) -> StreamedList {
    StreamedList { head: head.to_owned(), members, tail: tail.to_owned(), empty: "[]" }
}

async fn statuses(fs: &FileSystem, request: &Request) -> Result<StreamedList, Failure> {
    let filter = request.params.text("filter").map(glob).transpose()?;
    let mut pages = fs.list_pages(&request.path)?;
    // Before the answer begins, so that a missing or closed directory is refused with a status.
    let first = pages.next().await?.unwrap_or_default();
    let path = request.path.clone();
    let members = entries(first, pages).filter_map(move |entry| {
        let shown = match entry {
            Ok(entry) if filter.as_ref().is_some_and(|filter| !filter.is_match(entry.name())) => {
                None
            }
            Ok(entry) => Some(Ok(shapes::file_status(&entry, Some(&path)))),
            Err(failure) => Some(Err(failure)),
        };
        std::future::ready(shown)
    });
    Ok(list("{\"FileStatuses\":{\"FileStatus\":", Box::pin(members), "}}"))
}

async fn batch(fs: &FileSystem, request: &Request) -> Result<StreamedList, Failure> {
    let after = request.params.text("startafter").unwrap_or_default();
    let mut pages = fs.list_pages(&request.path)?.after(after);
    let entries = pages.next().await?.unwrap_or_default();
    let path = request.path.clone();
    let members =
        entries.into_iter().map(move |entry| Ok(shapes::file_status(&entry, Some(&path))));
    let head = "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":";
    let tail = format!("}}}},\"remainingEntries\":{}}}}}", pages.remaining());
    Ok(list(head, Box::pin(stream::iter(members)), &tail))
}

#[cfg(test)]
#[path = "lists_test.rs"]
mod tests;
