//! Segments from JournalNodes, by HTTP (`GET /getJournal`).

use std::io::{self, Write};
use std::time::Duration;
use zerohop_wire::TxId;

/// Why a segment did not come.
#[derive(Debug, thiserror::Error)]
#[error("{url}: {reason}")]
pub struct DownloadError {
    url: String,
    reason: String,
}

/// Where a JournalNode gives the segment that begins with `first`. `base` is `http://host:port`, `namespace` the name space as
/// [`NamespaceInfo::to_colon_separated`](crate::NamespaceInfo::to_colon_separated) has it.
pub fn segment_url(
    base: &str,
    journal: &str,
    namespace: &str,
    first: TxId,
    in_progress_too: bool,
) -> String {
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("jid", journal)
        .append_pair("segmentTxId", &first.to_string())
        .append_pair("storageInfo", namespace)
        .append_pair("inProgressOk", if in_progress_too { "true" } else { "false" })
        .finish();
    format!("{base}/getJournal?{query}")
}

/// Writes a segment to `to`. A connection and the beginning of the answer may take `patience` each, the whole segment ten
/// times that.
///
/// # Errors
/// If the JournalNode refuses, is silent, or ends the segment before the length that it named; or if `to` cannot be written.
pub fn fetch_segment(
    url: &str,
    to: &mut impl Write,
    patience: Duration,
) -> Result<(), DownloadError> {
    let failed = |reason: String| DownloadError { url: url.to_owned(), reason };
    let agent = ureq::Agent::config_builder()
        .timeout_connect(Some(patience))
        .timeout_recv_response(Some(patience))
        .timeout_recv_body(Some(patience * 10))
        .max_redirects(0)
        .build()
        .new_agent();
    let mut response = agent.get(url).call().map_err(|error| failed(error.to_string()))?;
    let promised = response.body().content_length();
    let length = io::copy(&mut response.body_mut().as_reader(), to)
        .map_err(|error| failed(error.to_string()))?;
    match promised {
        Some(promised) if promised != length => {
            Err(failed(format!("it ended after {length} of {promised} bytes")))
        }
        _ => Ok(()),
    }
}
