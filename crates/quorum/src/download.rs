//! Segments from JournalNodes, by HTTP (`GET /getJournal`).

use std::io::{Read, Write};
use std::time::Duration;
use zerohop_system::clock;
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

/// The slowest rate, in bytes a second, at which a segment may arrive.
const RATE_MIN: u64 = 4 << 10;
/// Bytes read at once.
const PIECE_LEN: usize = 64 << 10;

/// Writes a segment to `to`. The connection, the beginning of the answer and each later piece may take `patience` each, and what
/// arrives within that time must not be less than [`RATE_MIN`].
///
/// # Errors
/// Fails if the JournalNode refuses, stalls, names no length, or ends the segment before that length; or if `to` cannot be written.
pub fn fetch_segment(
    url: &str,
    to: &mut impl Write,
    patience: Duration,
) -> Result<(), DownloadError> {
    let failed = |reason: String| DownloadError { url: url.to_owned(), reason };
    let agent = ureq::Agent::config_builder()
        .timeout_resolve(Some(patience))
        .timeout_connect(Some(patience))
        .timeout_recv_response(Some(patience))
        .timeout_per_read(Some(patience))
        .timeout_per_write(Some(patience))
        .max_redirects(0)
        .build()
        .new_agent();
    let mut response = agent.get(url).call().map_err(|error| failed(error.to_string()))?;
    // Without a length, the other end could fill the disk.
    let Some(promised) = response.body().content_length() else {
        return Err(failed("it names no Content-Length".to_owned()));
    };
    let length = copy(&mut response.body_mut().as_reader(), to, patience).map_err(failed)?;
    if promised != length {
        return Err(failed(format!("it ended after {length} of {promised} bytes")));
    }
    Ok(())
}

/// Copies all of `from`, and fails when it has become too slow. Returns the number of bytes.
fn copy(from: &mut impl Read, to: &mut impl Write, patience: Duration) -> Result<u64, String> {
    let mut piece = vec![0; PIECE_LEN];
    let (mut length, mut arrived, mut since) = (0, 0, clock::now());
    loop {
        let read = from.read(&mut piece);
        let read = read.map_err(|error| format!("it stopped after {length} bytes: {error}"))?;
        if read == 0 {
            return Ok(length);
        }
        to.write_all(&piece[..read]).map_err(|error| format!("cannot write it: {error}"))?;
        (length, arrived) = (length + read as u64, arrived + read as u64);
        let elapsed = clock::since(since);
        if elapsed >= patience {
            if u128::from(arrived) * 1000 < u128::from(RATE_MIN) * elapsed.as_millis() {
                return Err(format!("only {arrived} bytes arrived in {elapsed:?}"));
            }
            (arrived, since) = (0, clock::now());
        }
    }
}
