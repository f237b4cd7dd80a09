//! Images from other NameNodes, and to them (`TransferFsImage`).

use crate::storage::{ImageKind, NameStorage, ReceivedImage, StorageError};
use crate::throttle::TransferThrottle;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_journal::image;

/// How images go from one NameNode to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferOptions {
    /// `dfs.image.transfer.timeout`
    timeout: Duration,
    /// `dfs.image.transfer.bandwidthPerSec`; 0: no limit.
    bytes_per_s: u64,
    /// `dfs.image.transfer.chunksize`
    piece_len: usize,
}

/// Why an image was not transferred.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TransferError {
    /// The other NameNode cannot be reached, or something is wrong with the image.
    #[error("{url}: {reason}")]
    Failed { url: String, reason: String },
    /// The other NameNode does not want it: it is no active one, or has one that is as good.
    #[error("{url} refuses it with status {status}")]
    Refused { url: String, status: u16 },
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl TransferOptions {
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        Ok(Self {
            timeout: conf.get(&keys::DFS_IMAGE_TRANSFER_TIMEOUT)?,
            bytes_per_s: conf.get(&keys::DFS_IMAGE_TRANSFER_BANDWIDTHPERSEC)?,
            piece_len: conf.get(&keys::DFS_IMAGE_TRANSFER_CHUNKSIZE)?.clamp(1024, 16 << 20),
        })
    }

    fn agent(&self) -> ureq::Agent {
        let timeout = Some(self.timeout).filter(|timeout| !timeout.is_zero());
        ureq::Agent::config_builder()
            .timeout_connect(timeout)
            .timeout_recv_response(timeout)
            .max_redirects(0)
            .http_status_as_error(false)
            .build()
            .new_agent()
    }

    /// Fetches the image of a transaction from `http`, the `host:port` of another NameNode, for a standby that has none. Blocks.
    pub(crate) fn fetch_for_bootstrap(
        &self,
        http: &str,
        txid: i64,
        storage: &NameStorage,
    ) -> Result<(), TransferError> {
        // The colons as they are, as Apache's NameNodes send them.
        let url = format!(
            "http://{http}/imagetransfer?getimage=1&txid={txid}&storageInfo={}&bootstrapstandby=true",
            storage.colon_separated_info()
        );
        let failed = |reason: String| TransferError::Failed { url: url.clone(), reason };
        tracing::info!("Opening connection to {url}");
        let mut response = self.agent().get(&url).call().map_err(|e| failed(e.to_string()))?;
        if response.status() != 200 {
            let reason = response.body_mut().read_to_string().unwrap_or_default();
            return Err(failed(format!("status {}: {}", response.status(), reason.trim())));
        }
        let header =
            |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let len = header("content-length").and_then(|value| value.parse().ok());
        let len = len.ok_or_else(|| failed("Content-Length header is not provided".to_owned()))?;
        let digest = match header("x-md5-digest") {
            None => None,
            Some(digits) => {
                let mut digest = [0; 16];
                hex::decode_to_slice(digits, &mut digest).map_err(|e| failed(e.to_string()))?;
                Some(digest)
            }
        };
        let from = &mut response.body_mut().as_reader();
        let (kind, known_txid) = (ImageKind::Image, &|| i64::MAX);
        let image = ReceivedImage { kind, txid, from, len, digest, known_txid };
        Ok(storage.transfers().receive_image(image)?)
    }

    /// Sends an image to `http`, the `host:port` of another NameNode. Blocks.
    pub(crate) fn send(
        &self,
        http: &str,
        (kind, txid): (ImageKind, i64),
        path: &Path,
        storage: &NameStorage,
    ) -> Result<(), TransferError> {
        let url = format!("http://{http}/imagetransfer");
        let failed = |reason: String| TransferError::Failed { url: url.clone(), reason };
        let file = File::open(path).map_err(|e| failed(format!("{}: {e}", path.display())))?;
        let len = file.metadata().map_err(|e| failed(format!("{}: {e}", path.display())))?.len();
        let digest = image::read_md5(path).map_err(|error| failed(error.to_string()))?;
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("txid", &txid.to_string())
            .append_pair("imageFile", parameter(kind))
            .append_pair("storageInfo", &storage.colon_separated_info())
            .append_pair("File-Length", &len.to_string())
            .finish();
        let mut request = self
            .agent()
            .put(format!("{url}?{query}"))
            .content_type("application/octet-stream")
            .header("Content-Transfer-Encoding", "binary");
        if let Some(digest) = digest {
            request = request.header("X-MD5-Digest", hex::encode(digest));
        }
        let throttle = TransferThrottle::new(self.bytes_per_s);
        let mut body = Throttled { from: file, throttle, piece_len: self.piece_len };
        let mut response = request
            .send(ureq::SendBody::from_reader(&mut body))
            .map_err(|error| failed(error.to_string()))?;
        match response.status().as_u16() {
            200 => Ok(()),
            // Conflict, and Expectation Failed: another one has sent one, or it is no active NameNode.
            status @ (409 | 417) => Err(TransferError::Refused { url, status }),
            status => {
                let reason = response.body_mut().read_to_string().unwrap_or_default();
                Err(failed(format!("status {status}: {}", reason.trim())))
            }
        }
    }
}

/// As `imageFile` names it (`NNStorage.NameNodeFile`).
fn parameter(kind: ImageKind) -> &'static str {
    match kind {
        ImageKind::Image => "IMAGE",
        ImageKind::Rollback => "IMAGE_ROLLBACK",
    }
}

/// A file that is read no faster than it may be sent.
struct Throttled {
    from: File,
    throttle: TransferThrottle,
    piece_len: usize,
}

impl Read for Throttled {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(self.piece_len);
        let read = self.from.read(buffer.get_mut(..len).unwrap_or_default())?;
        self.throttle.pass(read);
        Ok(read)
    }
}
