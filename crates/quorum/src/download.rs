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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::net::{TcpListener, TcpStream};

    const PATIENCE: Duration = Duration::from_secs(1);

    /// Fetches from a server that answers with `send`. Returns the bytes and the outcome.
    fn fetched(send: impl FnOnce(TcpStream) + Send + 'static) -> (Vec<u8>, Result<(), String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/getJournal", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            send(stream);
        });
        let mut to = Vec::new();
        let fetched = fetch_segment(&url, &mut to, PATIENCE);
        (to, fetched.map_err(|error| error.to_string()))
    }

    fn head(mut stream: &TcpStream, length: usize) {
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").unwrap();
    }

    /// A transfer that had begun could stall for ten minutes.
    #[test]
    fn a_transfer_that_stalls_in_mid_body_ended_after_minutes() {
        let begun = clock::now();
        let (to, outcome) = fetched(|mut stream| {
            head(&stream, 1000);
            stream.write_all(&[7; 10]).unwrap();
            // Until the other end closes.
            _ = stream.read(&mut [0]);
        });
        let reason = outcome.unwrap_err();
        // It was ten times the patience.
        assert!(clock::since(begun) < PATIENCE * 8, "{:?}", clock::since(begun));
        assert_eq!(to, [7; 10]);
        assert!(reason.contains("it stopped after 10 bytes"), "{reason}");
    }

    /// One byte every 20 ms kept a transfer alive.
    #[test]
    fn a_transfer_that_trickles_ends() {
        let (_, outcome) = fetched(|mut stream| {
            head(&stream, 1 << 20);
            while stream.write_all(&[7]).is_ok() {
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let reason = outcome.unwrap_err();
        assert!(reason.contains("bytes arrived in"), "{reason}");
    }

    #[test]
    fn a_whole_segment_arrives_and_none_without_a_length() {
        let (to, outcome) = fetched(|mut stream| {
            head(&stream, 300_000);
            stream.write_all(&vec![7; 300_000]).unwrap();
        });
        assert_eq!((to.len(), outcome), (300_000, Ok(())));
        let (to, outcome) = fetched(|mut stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc").unwrap();
        });
        assert!(to.is_empty() && outcome.unwrap_err().contains("Content-Length"));
    }
}
