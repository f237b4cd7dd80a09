//! What a journal has accepted in the recovery of a segment.
//!
//! The file holds a delimited `PersistedRecoveryPaxosData`, a newline, and the same for people to read
//! (`Journal.persistPaxosData`).

use crate::error::{Error, Result};
use crate::segments::SegmentState;
use bytes::Bytes;
use prost::Message;
use std::io::ErrorKind;
use std::path::Path;
use zerohop_daemon::storage::{self, FileError};
use zerohop_proto::hdfs::qjournal::{PersistedRecoveryPaxosData, SegmentStateProto};
use zerohop_wire::TxId;

/// A segment's state, as a writer's recovery decided it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) state: SegmentState,
    /// The epoch of the writer that recovered the segment.
    pub(crate) epoch: u64,
}

impl Accepted {
    /// What was accepted for a segment; none if nothing was.
    pub(crate) fn read(path: &Path, first: TxId) -> Result<Option<Self>> {
        let content = match std::fs::read(path) {
            Ok(content) => content,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::new("read", path)(error).into()),
        };
        let unreadable = |reason: String| Error::Unreadable { path: path.to_owned(), reason };
        let data: PersistedRecoveryPaxosData =
            zerohop_proto::decode_delimited(&mut Bytes::from(content))
                .map_err(|error| unreadable(error.to_string()))?;
        let accepted = Self { state: (&data.segment_state).into(), epoch: data.accepted_in_epoch };
        match accepted.state.first == first {
            true => Ok(Some(accepted)),
            false => Err(unreadable(format!("it speaks of segment {}", accepted.state.first))),
        }
    }

    /// Durable when this returns.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let segment_state = SegmentStateProto::from(self.state);
        let data = PersistedRecoveryPaxosData { segment_state, accepted_in_epoch: self.epoch };
        let mut content = data.encode_length_delimited_to_vec();
        let SegmentState { first, last, in_progress } = self.state;
        let text = format!(
            "\nsegmentState {{\n  startTxId: {first}\n  endTxId: {last}\n  isInProgress: {in_progress}\n}}\n\
             acceptedInEpoch: {}\n\n",
            self.epoch
        );
        content.extend_from_slice(text.as_bytes());
        Ok(storage::replace(path, &content)?)
    }

    /// Forgets what was accepted.
    pub(crate) fn remove(path: &Path) -> Result<()> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(FileError::new("remove", path)(error).into())
            }
            _ => Ok(()),
        }
    }
}

impl From<&SegmentStateProto> for SegmentState {
    fn from(state: &SegmentStateProto) -> Self {
        Self {
            first: TxId(state.start_tx_id as i64),
            last: TxId(state.end_tx_id as i64),
            in_progress: state.is_in_progress,
        }
    }
}

impl From<SegmentState> for SegmentStateProto {
    fn from(state: SegmentState) -> Self {
        Self {
            start_tx_id: state.first.0 as u64,
            end_tx_id: state.last.0 as u64,
            is_in_progress: state.in_progress,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_accepted_is_kept_as_apache_keeps_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("11");
        assert_eq!(Accepted::read(&path, TxId(11)).unwrap(), None);
        let state = SegmentState { first: TxId(11), last: TxId(20), in_progress: true };
        let accepted = Accepted { state, epoch: 3 };
        accepted.write(&path).unwrap();
        let content = std::fs::read(&path).unwrap();
        assert!(
            content.starts_with(b"\x0a\x0a\x06\x08\x0b\x10\x14\x18\x01\x10\x03\nsegmentState {\n")
        );
        assert_eq!(Accepted::read(&path, TxId(11)).unwrap(), Some(accepted));
        let error = Accepted::read(&path, TxId(12)).unwrap_err().to_string();
        assert!(error.ends_with("it speaks of segment 11"), "{error}");
        std::fs::write(&path, b"\x0a\x0a").unwrap();
        Accepted::read(&path, TxId(11)).unwrap_err();
        Accepted::remove(&path).unwrap();
        Accepted::remove(&path).unwrap();
    }
}
