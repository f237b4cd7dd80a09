//! Images that other NameNodes are sending.

use parking_lot::Mutex;
use std::collections::BTreeSet;

/// Why an image is not taken, in Apache's words: its sender keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal(pub(crate) String);

/// The transactions of the images that are being received.
#[derive(Debug, Default)]
pub(crate) struct ImageUploads(Mutex<BTreeSet<i64>>);

/// One that is being received.
#[derive(Debug)]
pub(crate) struct Upload<'a> {
    all: &'a ImageUploads,
    txid: i64,
}

impl ImageUploads {
    /// An image begins to arrive.
    ///
    /// # Errors
    /// If that of the same or of a later transaction is arriving.
    pub(crate) fn begin(&self, txid: i64) -> Result<Upload<'_>, Refusal> {
        let mut all = self.0.lock();
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
        self.all.0.lock().remove(&self.txid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_images_at_once_only_a_later_one_is_taken() {
        let uploads = ImageUploads::default();
        let first = uploads.begin(10).unwrap();
        uploads.begin(10).unwrap_err();
        assert!(uploads.begin(9).unwrap_err().0.ends_with("up to transaction ID 10"));
        let _later = uploads.begin(11).unwrap();
        drop(first);
        uploads.begin(10).unwrap_err();
    }
}
