//! Listings, page by page.

use super::FileSystem;
use crate::error::{Error, ErrorKind, Result};
use crate::namenode::wire_path;
use crate::types::FileStatus;
use bytes::Bytes;
use futures_core::Stream;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A listing, fetched a page at a time (`dfs.ls.limit` names).
pub struct ListPages {
    fs: FileSystem,
    path: String,
    /// `None` after the last page.
    after: Option<Bytes>,
    with_locations: bool,
    is_first: bool,
    /// Number of names after the page before.
    remaining: u32,
}

impl ListPages {
    fn new(fs: &FileSystem, path: &str, with_locations: bool) -> Result<Self> {
        let (path, after) = (wire_path(path)?, Some(Bytes::new()));
        Ok(Self { fs: fs.clone(), path, after, with_locations, is_first: true, remaining: 0 })
    }

    /// A listing with the locations of every file's blocks.
    pub fn located(fs: &FileSystem, path: &str) -> Result<Self> {
        Self::new(fs, path, true)
    }

    /// The next page in order of name; `None` after the last one. A file lists itself.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::NotFound`] if the path does not exist. This includes a directory that is deleted or renamed
    /// between two pages: some of its entries were never listed. After an error or a dropped call, the next call fetches the
    /// same page again.
    pub async fn next(&mut self) -> Result<Option<Vec<FileStatus>>> {
        let Some(after) = self.after.clone() else { return Ok(None) };
        let namenode = &self.fs.client.namenode;
        let page = namenode.listing(&self.path, after, self.with_locations).await?;
        let Some(page) = page.filter(|page| self.is_first || !self.is_of_file(&page.entries))
        else {
            let text = format!("File {} does not exist.", self.path);
            return Err(Error::new(ErrorKind::NotFound, text));
        };
        self.is_first = false;
        self.after = page.next;
        self.remaining = page.remaining;
        Ok(Some(page.entries))
    }

    /// Returns true if the page consists of the listed path itself, as for a file. After the first page, such a file has replaced
    /// the directory.
    fn is_of_file(&self, page: &[FileStatus]) -> bool {
        matches!(page, [entry] if entry.path == self.path)
    }

    /// Begins behind this name.
    #[must_use]
    pub fn after(mut self, name: &str) -> Self {
        self.after = Some(Bytes::copy_from_slice(name.as_bytes()));
        self
    }

    /// Whether another page is there, as far as is known.
    pub fn has_more(&self) -> bool {
        self.after.is_some()
    }

    /// Returns the number of names after the last page that was fetched, as the NameNode counted them then.
    pub fn remaining(&self) -> u32 {
        self.remaining
    }

    pub(crate) fn client(&self) -> std::sync::Arc<crate::client::Client> {
        std::sync::Arc::clone(&self.fs.client)
    }
}

/// What a directory holds, one after another, fetched a page at a time; see
/// [`FileSystem::entries`].
///
/// ```no_run
/// # async fn example(fs: zerohop_client::FileSystem) -> zerohop_client::Result<()> {
/// use futures_util::TryStreamExt;
/// let mut large = fs.entries("/logs").try_filter(|entry| std::future::ready(entry.len > 1 << 30));
/// while let Some(entry) = large.try_next().await? {
///     println!("{}", entry.path);
/// }
/// # Ok(()) }
/// ```
pub struct Entries {
    page: std::vec::IntoIter<FileStatus>,
    source: Source,
    /// True after the first page. A directory that is missing later has entries that were not listed.
    has_begun: bool,
}

/// Where the next page is from.
enum Source {
    Pages(ListPages),
    Asked(Pin<Box<dyn Future<Output = (ListPages, Page)> + Send>>),
    /// The path is not valid.
    Refused(Error),
    Ended,
}

type Page = Result<Option<Vec<FileStatus>>>;

async fn ask(mut pages: ListPages) -> (ListPages, Page) {
    let page = pages.next().await;
    (pages, page)
}

impl Entries {
    fn new(fs: &FileSystem, path: &str) -> Self {
        let source = fs.list_pages(path).map_or_else(Source::Refused, Source::Pages);
        Self { page: Vec::new().into_iter(), source, has_begun: false }
    }

    /// The next one; `None` at the end and after an error.
    pub async fn next(&mut self) -> Option<Result<FileStatus>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for Entries {
    type Item = Result<FileStatus>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let entries = self.get_mut();
        loop {
            if let Some(entry) = entries.page.next() {
                return Poll::Ready(Some(Ok(entry)));
            }
            let mut asked = match std::mem::replace(&mut entries.source, Source::Ended) {
                Source::Pages(pages) => Box::pin(ask(pages)),
                Source::Asked(asked) => asked,
                Source::Refused(error) => return Poll::Ready(Some(Err(error))),
                Source::Ended => return Poll::Ready(None),
            };
            match asked.as_mut().poll(cx) {
                Poll::Pending => {
                    entries.source = Source::Asked(asked);
                    return Poll::Pending;
                }
                Poll::Ready((pages, Ok(Some(page)))) => {
                    entries.has_begun = true;
                    entries.page = page.into_iter();
                    entries.source = Source::Pages(pages);
                }
                Poll::Ready((_, Ok(None))) => {}
                Poll::Ready((_, Err(error))) => return Poll::Ready(Some(Err(error))),
            }
        }
    }
}

/// What lies below a path; see [`FileSystem::walk`].
pub struct Walk {
    fs: FileSystem,
    /// The directories that are being listed, each in the one before it.
    listings: Vec<Entries>,
}

impl Walk {
    /// The next one; `None` at the end and after an error.
    pub async fn next(&mut self) -> Option<Result<FileStatus>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for Walk {
    type Item = Result<FileStatus>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let walk = self.get_mut();
        loop {
            let depth = walk.listings.len();
            let Some(listing) = walk.listings.last_mut() else { return Poll::Ready(None) };
            let next = ready!(Pin::new(&mut *listing).poll_next(cx));
            let has_begun = listing.has_begun;
            match next {
                Some(Ok(entry)) => {
                    if entry.is_dir() {
                        walk.listings.push(Entries::new(&walk.fs, &entry.path));
                    }
                    return Poll::Ready(Some(Ok(entry)));
                }
                // Deleted since its directory was listed, and before it was listed itself.
                Some(Err(error))
                    if depth > 1 && !has_begun && error.kind() == ErrorKind::NotFound => {}
                Some(Err(error)) => {
                    walk.listings.clear();
                    return Poll::Ready(Some(Err(error)));
                }
                None => {}
            }
            walk.listings.pop();
        }
    }
}

impl FileSystem {
    /// What a directory holds, in order of name, as a stream that fetches a page when it needs one; a file
    /// lists itself. The stream ends after an error.
    pub fn entries(&self, path: &str) -> Entries {
        Entries::new(self, path)
    }

    /// All files and directories below a path, as a stream: each directory before its entries, in
    /// order of name. Directories that are deleted before they are listed are left out; one that is deleted while it
    /// is listed is an error, because some of its entries are missing. Symlinks are not followed. The stream ends after an
    /// error.
    pub fn walk(&self, path: &str) -> Walk {
        Walk { fs: self.clone(), listings: vec![Entries::new(self, path)] }
    }

    /// What a directory holds, in order of name; a file lists itself.
    pub async fn list(&self, path: &str) -> Result<Vec<FileStatus>> {
        self.list_all(path, false).await
    }

    /// The same with the locations of every file's blocks.
    pub async fn located_list(&self, path: &str) -> Result<Vec<FileStatus>> {
        self.list_all(path, true).await
    }

    /// A listing to be fetched page by page.
    pub fn list_pages(&self, path: &str) -> Result<ListPages> {
        ListPages::new(self, path, false)
    }

    async fn list_all(&self, path: &str, with_locations: bool) -> Result<Vec<FileStatus>> {
        let mut pages = ListPages::new(self, path, with_locations)?;
        let mut all = pages.next().await?.unwrap_or_default();
        while let Some(page) = pages.next().await? {
            all.extend(page);
        }
        Ok(all)
    }
}

#[cfg(test)]
#[path = "list_test.rs"]
mod tests;
