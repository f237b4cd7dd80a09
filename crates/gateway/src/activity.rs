//! What the gateway does, counted (`HttpFSServerMetrics`).

use crate::operation::Operation;
use zerohop_daemon::metrics::{Counter, Record};

/// Operations and bytes of files.
#[derive(Debug, Default)]
pub(crate) struct RestActivity {
    pub(crate) bytes_written: Counter,
    pub(crate) bytes_read: Counter,
    created: Counter,
    appended: Counter,
    truncated: Counter,
    deleted: Counter,
    renamed: Counter,
    directories: Counter,
    opened: Counter,
    listed: Counter,
    asked: Counter,
}

impl RestActivity {
    /// An operation was carried out.
    pub(crate) fn count(&self, operation: Operation) {
        let counter = match operation {
            Operation::Create | Operation::PutArchive => &self.created,
            Operation::Append => &self.appended,
            Operation::Truncate => &self.truncated,
            Operation::Delete => &self.deleted,
            Operation::Rename => &self.renamed,
            Operation::Mkdirs => &self.directories,
            Operation::Open | Operation::GetArchive => &self.opened,
            Operation::ListStatus | Operation::ListStatusBatch | Operation::ListStatusRecursive => {
                &self.listed
            }
            Operation::GetFileStatus | Operation::GetFileLinkStatus => &self.asked,
            _ => return,
        };
        counter.increment();
    }

    /// The record; `address` is where the gateway listens.
    pub(crate) fn record(&self, address: &str) -> Record {
        let source = format!("ServerActivity-{}", address.replace(':', "-"));
        let mut record = Record::new(source, "httpfsserver", "httpfs");
        for (name, help, counter) in self.counters() {
            record.counter(name, help, counter);
        }
        record
    }

    /// Name, meaning and number of each figure.
    pub(crate) fn counters(&self) -> [(&'static str, &'static str, &Counter); 11] {
        [
            ("BytesWritten", "Bytes of CREATE and APPEND", &self.bytes_written),
            ("BytesRead", "Bytes of OPEN", &self.bytes_read),
            ("OpsCreate", "Files created", &self.created),
            ("OpsAppend", "Appends", &self.appended),
            ("OpsTruncate", "Files truncated", &self.truncated),
            ("OpsDelete", "Deletions", &self.deleted),
            ("OpsRename", "Renames", &self.renamed),
            ("OpsMkdir", "Directories made", &self.directories),
            ("OpsOpen", "Files read", &self.opened),
            ("OpsListing", "Listings", &self.listed),
            ("OpsStat", "Questions about a path", &self.asked),
        ]
    }
}

/// Whether a figure counts bytes; the others count operations.
pub(crate) fn is_bytes(name: &str) -> bool {
    name.starts_with("Bytes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_daemon::metrics::Number;

    #[test]
    fn operations_are_counted_by_kind() {
        let activity = RestActivity::default();
        [Operation::Open, Operation::Open, Operation::Mkdirs, Operation::SetOwner]
            .into_iter()
            .for_each(|operation| activity.count(operation));
        let record = activity.record("gw:14000");
        assert_eq!(record.source, "ServerActivity-gw-14000");
        let value = |name| record.get(name);
        assert_eq!([value("OpsOpen"), value("OpsMkdir")], [2, 1].map(|n| Some(Number::Whole(n))));
    }
}
