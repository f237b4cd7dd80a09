//! Images that other NameNodes are sending.

use crate::image_senders::ImageSenders;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use zerohop_daemon::http::HandlerThreads;

/// Why an image is not taken, in Apache's words: its sender keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

/// Transfers at once to and from NameNodes of this name service; more wait.
const PEER_TRANSFERS_MAX: usize = 8;

/// The images that are being received, and the machines that may send them.
#[derive(Debug)]
pub(crate) struct ImageUploads {
    /// The transactions of the images that are being received.
    begun: Mutex<BTreeSet<i64>>,
    pub(crate) senders: ImageSenders,
    /// Transfers run on these for the machines that may send images, so that no other one's downloads are in their way.
    pub(crate) threads: HandlerThreads,
}

/// One that is being received.
#[derive(Debug)]
pub(crate) struct Upload<'a> {
    all: &'a ImageUploads,
    txid: i64,
}

impl ImageUploads {
    /// Creates the uploads of images from these machines.
    pub(crate) fn new(senders: ImageSenders) -> Self {
        let threads = HandlerThreads::new(PEER_TRANSFERS_MAX);
        Self { begun: Mutex::default(), senders, threads }
    }

    /// An image begins to arrive.
    ///
    /// # Errors
    /// If that of the same or of a later transaction is arriving.
    pub(crate) fn begin(&self, txid: i64) -> Result<Upload<'_>, Refusal> {
        let mut all = self.begun.lock();
        if let Some(later) = all.range(txid..).next_back() {
            return Err(Refusal(format!(
                "Another checkpointer is already in the process of uploading a checkpoint made up to transaction ID {later}"
            )));
        }
        all.insert(txid);
        Ok(Upload { all: self, txid })
    }
}

impl Drop for Upload<'_> {
    fn drop(&mut self) {
        self.all.begun.lock().remove(&self.txid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_images_at_once_only_a_later_one_is_taken() {
        let uploads = ImageUploads::new(ImageSenders::default());
        let first = uploads.begin(10).unwrap();
        uploads.begin(10).unwrap_err();
        assert!(uploads.begin(9).unwrap_err().0.ends_with("up to transaction ID 10"));
        let _later = uploads.begin(11).unwrap();
        drop(first);
        uploads.begin(10).unwrap_err();
    }
}
