//! Listings, page by page.

use super::FileSystem;
use crate::error::{Error, Kind, Result};
use crate::namenode::wire_path;
use crate::types::FileStatus;
use bytes::Bytes;

/// A listing, fetched a page at a time (`dfs.ls.limit` names).
pub struct ListPages {
    fs: FileSystem,
    path: String,
    /// `None` after the last page.
    after: Option<Bytes>,
    with_locations: bool,
    is_first: bool,
}

impl ListPages {
    /// The next page in order of name; `None` after the last one. A file lists itself.
    pub async fn next(&mut self) -> Result<Option<Vec<FileStatus>>> {
        let Some(after) = self.after.take() else { return Ok(None) };
        let namenode = &self.fs.client.namenode;
        match namenode.listing(&self.path, after, self.with_locations).await? {
            Some(page) => {
                self.is_first = false;
                self.after = page.next;
                Ok(Some(page.entries))
            }
            None if self.is_first => {
                Err(Error::new(Kind::NotFound, format!("File {} does not exist.", self.path)))
            }
            // Deleted between two pages.
            None => Ok(None),
        }
    }

    pub(crate) fn client(&self) -> std::sync::Arc<crate::client::Client> {
        std::sync::Arc::clone(&self.fs.client)
    }
}

impl FileSystem {
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
        self.pages(path, false)
    }

    fn pages(&self, path: &str, with_locations: bool) -> Result<ListPages> {
        Ok(ListPages {
            fs: self.clone(),
            path: wire_path(path)?,
            after: Some(Bytes::new()),
            with_locations,
            is_first: true,
        })
    }

    async fn list_all(&self, path: &str, with_locations: bool) -> Result<Vec<FileStatus>> {
        let mut pages = self.pages(path, with_locations)?;
        let mut all = pages.next().await?.unwrap_or_default();
        while let Some(page) = pages.next().await? {
            all.extend(page);
        }
        Ok(all)
    }
}
