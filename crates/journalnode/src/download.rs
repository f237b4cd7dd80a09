//! Segments from other JournalNodes, by HTTP.

use crate::error::{Error, Result};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;
use zerohop_daemon::storage::FileError;

/// Where a segment can be fetched from.
pub(crate) trait Source {
    /// Writes the segment into a file, which is durable when this returns.
    fn fetch(&self, to: &Path) -> Result<()>;
}

/// `/getJournal` of another JournalNode.
#[derive(Clone, Debug)]
pub(crate) struct HttpSource {
    pub(crate) url: String,
    /// A connection and the beginning of an answer may take so long (`dfs.edit.log.transfer.timeout`), the whole segment ten
    /// times that.
    pub(crate) timeout: Duration,
}

impl Source for HttpSource {
    fn fetch(&self, to: &Path) -> Result<()> {
        tracing::info!("fetching {} to {}", self.url, to.display());
        let failed = |reason: String| Error::Download { url: self.url.clone(), reason };
        let agent = ureq::Agent::config_builder()
            .timeout_connect(Some(self.timeout))
            .timeout_recv_response(Some(self.timeout))
            .timeout_recv_body(Some(self.timeout * 10))
            .max_redirects(0)
            .build()
            .new_agent();
        let mut response =
            agent.get(&self.url).call().map_err(|error| failed(error.to_string()))?;
        let promised = response.body().content_length();
        let mut file = File::create(to).map_err(FileError::new("create", to))?;
        let length = io::copy(&mut response.body_mut().as_reader(), &mut file)
            .map_err(|error| failed(error.to_string()))?;
        if promised.is_some_and(|promised| promised != length) {
            return Err(failed(format!("it ended after {length} bytes of {promised:?}")));
        }
        file.sync_all().map_err(FileError::new("sync", to))?;
        Ok(())
    }
}
