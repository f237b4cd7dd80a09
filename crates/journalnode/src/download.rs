//! Segments from other JournalNodes.

use crate::error::{Error, Result};
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use zerohop_daemon::storage::FileError;
use zerohop_quorum::fetch_segment;

/// `/getJournal` of another JournalNode. No thread of a journal fetches: a writer must not wait for a download.
#[derive(Clone, Debug)]
pub(crate) struct HttpSource {
    pub(crate) url: String,
    /// See [`fetch_segment`].
    pub(crate) timeout: Duration,
}

impl HttpSource {
    /// Writes the segment into a file, which is durable when this returns. Blocks.
    pub(crate) fn fetch(&self, to: &Path) -> Result<()> {
        tracing::info!("fetching {} to {}", self.url, to.display());
        let mut file = File::create(to).map_err(FileError::new("create", to))?;
        fetch_segment(&self.url, &mut file, self.timeout).map_err(Error::Download)?;
        file.sync_all().map_err(FileError::new("sync", to))?;
        Ok(())
    }
}
