//! The entries of a directory, a page at a time.

use crate::failure::Failure;
use futures_util::{Stream, stream};
use zerohop_client::{FileStatus, ListPages};

/// Returns the entries of a page and of all later pages, which the stream fetches when it reaches them.
pub(crate) fn entries(
    first: Vec<FileStatus>,
    pages: ListPages,
) -> impl Stream<Item = Result<FileStatus, Failure>> + Send {
    let begun = Some((first.into_iter(), pages));
    stream::unfold(begun, async |left| {
        let (mut page, mut pages) = left?;
        loop {
            if let Some(entry) = page.next() {
                return Some((Ok(entry), Some((page, pages))));
            }
            match pages.next().await {
                Ok(Some(next)) => page = next.into_iter(),
                Ok(None) => return None,
                Err(error) => return Some((Err(error.into()), None)),
            }
        }
    })
}
