//! The last edits, out of the JournalNodes' memory (`getJournaledEdits`): what a majority has, without waiting for the end of a
//! segment.

use bytes::{Buf, Bytes};
use zerohop_journal::JournalError;
use zerohop_journal::layout::LayoutVersion;
use zerohop_journal::log::EditStream;
use zerohop_journal::op::{self, Record};
use zerohop_wire::TxId;

/// What one JournalNode gave: how many records, and their bytes behind a segment's header.
pub(crate) type Answer = (u32, Bytes);

/// Edits out of JournalNodes' memory.
pub(crate) struct RecentEdits {
    name: String,
    first: TxId,
    last: TxId,
    next: TxId,
    layout: LayoutVersion,
    op_size_max: usize,
    /// The records from `next` on, and perhaps some that only a minority has.
    rest: Bytes,
}

/// The edits from `first` on that `majority` of the JournalNodes have; none if there are none yet.
///
/// # Errors
/// If JournalNodes have different edits: one has those of a writer that was replaced. If the answer that goes far enough has no
/// header, or one of a layout that is not known.
pub(crate) fn common(
    journal: &str,
    first: TxId,
    mut answers: Vec<Answer>,
    majority: usize,
    op_size_max: usize,
) -> Result<Option<RecentEdits>, JournalError> {
    answers.sort_by_key(|(count, _)| *count);
    let Some((count, mut rest)) = answers.iter().rev().nth(majority - 1).cloned() else {
        return Ok(None);
    };
    if count == 0 {
        return Ok(None);
    }
    let agreeing = answers.iter().filter(|(_, bytes)| bytes.starts_with(&rest)).count();
    let name = format!("{journal}, edits from {first} on in the memory of JournalNodes");
    let bad = |reason: &str| JournalError::Inconsistent {
        path: name.clone().into(),
        reason: reason.to_owned(),
    };
    if agreeing < majority {
        return Err(bad("JournalNodes have different ones"));
    }
    let (Ok(layout), Ok(flags)) = (rest.try_get_i32(), rest.try_get_i32()) else {
        return Err(bad("there is no header"));
    };
    let layout = LayoutVersion(layout);
    if layout.is_from_the_future() {
        return Err(JournalError::Newer { path: name.into(), found: layout });
    }
    if !layout.is_readable() || flags != 0 {
        return Err(bad("they are of a layout that is not known here"));
    }
    let last = TxId(first.0 + i64::from(count) - 1);
    Ok(Some(RecentEdits { name, first, last, next: first, layout, op_size_max, rest }))
}

impl EditStream for RecentEdits {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn first(&self) -> TxId {
        self.first
    }

    fn last(&self) -> Option<TxId> {
        Some(self.last)
    }

    fn next(&mut self) -> Result<Option<Record>, JournalError> {
        if self.next > self.last {
            return Ok(None);
        }
        let decoded = op::decode(&self.rest, self.layout, self.op_size_max);
        let bad =
            |reason: String| JournalError::Inconsistent { path: self.name.clone().into(), reason };
        let (record, len) = decoded.map_err(|error| bad(error.to_string()))?;
        if record.txid != self.next {
            return Err(bad(format!("transaction {} is where {} belongs", record.txid, self.next)));
        }
        self.rest.advance(len);
        self.next = TxId(self.next.0 + 1);
        Ok(Some(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_journal::op::{EditOp, OP_SIZE_MAX, SetGenstampV2};
    use zerohop_wire::{GenerationStamp, RpcIds};

    fn answer(first: i64, count: u32) -> Answer {
        let layout = LayoutVersion::CURRENT;
        let mut bytes = [layout.0.to_be_bytes(), [0; 4]].concat();
        for txid in first..first + i64::from(count) {
            let op = EditOp::SetGenstampV2(SetGenstampV2 { stamp: GenerationStamp(txid) });
            op::encode(&op, TxId(txid), &RpcIds::NONE, layout, &mut bytes);
        }
        (count, if count == 0 { Bytes::new() } else { bytes.into() })
    }

    fn read(first: i64, counts: &[u32]) -> Vec<i64> {
        let answers = counts.iter().map(|count| answer(first, *count)).collect();
        let found = common("ns", TxId(first), answers, 2, OP_SIZE_MAX).unwrap();
        let mut edits = Vec::new();
        if let Some(mut stream) = found {
            while let Some(record) = stream.next().unwrap() {
                edits.push(record.txid.0);
            }
        }
        edits
    }

    #[test]
    fn only_what_a_majority_has_is_read() {
        assert_eq!(read(5, &[3, 1, 0]), [5]);
        assert_eq!(read(5, &[0, 4, 2]), [5, 6]);
        assert_eq!(read(5, &[3, 3]), [5, 6, 7]);
        assert!(read(5, &[0, 9]).is_empty() && read(5, &[0, 0, 9]).is_empty());
    }

    #[test]
    fn edits_that_only_a_minority_has_are_no_edits_whatever_their_number() {
        // Of a writer that was replaced: transaction 5 is another one.
        let mut other = answer(5, 3);
        let mut bytes = other.1.to_vec();
        let end = bytes.len() - 1;
        bytes[9..end].reverse();
        other.1 = bytes.into();
        let common = |answers| common("ns", TxId(5), answers, 2, OP_SIZE_MAX);
        assert!(common(vec![other.clone(), answer(5, 4)]).is_err());
        assert!(common(vec![other, answer(5, 4), answer(5, 3)]).is_ok());
    }

    #[test]
    fn bytes_that_are_no_edits_are_an_error() {
        let common = |bytes: &[u8]| {
            let answers =
                vec![(1, Bytes::copy_from_slice(bytes)), (1, Bytes::copy_from_slice(bytes))];
            common("ns", TxId(5), answers, 2, OP_SIZE_MAX)
        };
        assert!(common(b"abc").is_err() && common(&[0xff; 40]).is_err());
        let mut torn = answer(5, 1).1.to_vec();
        torn.pop();
        assert!(common(&torn).unwrap().unwrap().next().is_err());
        assert!(common(&answer(6, 1).1).unwrap().unwrap().next().is_err(), "another transaction");
    }
}
