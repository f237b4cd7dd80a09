//! What a NameNode does, counted (`NameNodeMetrics`).

use zerohop_daemon::metrics::{Counter, Gauge, Intervals, Rate, Record};

/// Counts of operations, and how long what is no call takes. Calls are timed by the RPC server.
#[derive(Debug, Default)]
pub(crate) struct NameNodeActivity {
    operations: OperationCounts,
    /// Files and directories that calls made.
    pub(crate) files_created: Counter,
    pub(crate) files_deleted: Counter,
    /// Names in the answers of listings.
    pub(crate) listed: Counter,
    pub(crate) incremental_reports: Counter,
    /// Full reports that wait for the namespace's lock or are taken in.
    pub(crate) reports_under_way: Gauge,
    pub(crate) block_reports: Rate,
    pub(crate) cache_reports: Rate,
    pub(crate) resource_checks: Rate,
    pub(crate) tails: Rate,
    pub(crate) edits_loaded: Rate,
    pub(crate) images_sent: Rate,
    pub(crate) segments_sent: Rate,
    pub(crate) images_received: Rate,
    /// Milliseconds from the start to the end of the first safe mode; 0 before.
    pub(crate) safe_mode_ms: Gauge,
}

/// Operations by kind.
#[derive(Debug, Default)]
struct OperationCounts {
    created: Counter,
    appended: Counter,
    located: Counter,
    renamed: Counter,
    truncated: Counter,
    listed: Counter,
    deleted: Counter,
    asked: Counter,
    blocks_added: Counter,
    datanodes_added: Counter,
    linked: Counter,
    links_followed: Counter,
}

/// Operations that the audit log has no name for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockOperation {
    Add,
    AdditionalDatanode,
}

impl NameNodeActivity {
    /// With percentiles over intervals.
    pub(crate) fn new(intervals: &Intervals) -> Self {
        let rate = || Rate::new(intervals);
        Self {
            block_reports: rate(),
            cache_reports: rate(),
            resource_checks: rate(),
            tails: rate(),
            edits_loaded: rate(),
            ..Self::default()
        }
    }

    /// An operation was carried out, which the audit log calls so.
    pub(crate) fn count(&self, command: &'static str) {
        let counts = &self.operations;
        let counter = match command {
            "create" => &counts.created,
            "append" => &counts.appended,
            "open" => &counts.located,
            "rename" => &counts.renamed,
            "truncate" => &counts.truncated,
            "listStatus" => &counts.listed,
            "delete" => &counts.deleted,
            "getfileinfo" => &counts.asked,
            "createSymlink" => &counts.linked,
            "getLinkTarget" => &counts.links_followed,
            _ => return,
        };
        counter.increment();
    }

    /// An operation on a file's blocks was asked for.
    pub(crate) fn count_block(&self, operation: BlockOperation) {
        match operation {
            BlockOperation::Add => self.operations.blocks_added.increment(),
            BlockOperation::AdditionalDatanode => self.operations.datanodes_added.increment(),
        }
    }

    /// Adds what was counted to a record.
    pub(crate) fn add_to(&self, record: &mut Record) {
        let mut total = 0;
        for (name, help, counter) in [
            ("CreateFileOps", "Files created", &self.operations.created),
            ("FilesAppended", "Files opened for append", &self.operations.appended),
            ("GetBlockLocations", "Files opened for reading", &self.operations.located),
            ("FilesRenamed", "Renames", &self.operations.renamed),
            ("FilesTruncated", "Files truncated", &self.operations.truncated),
            ("GetListingOps", "Listings", &self.operations.listed),
            ("DeleteFileOps", "Deletions", &self.operations.deleted),
            ("FileInfoOps", "Questions about a path", &self.operations.asked),
            ("AddBlockOps", "Blocks added to files", &self.operations.blocks_added),
            (
                "GetAdditionalDatanodeOps",
                "DataNodes added to pipelines",
                &self.operations.datanodes_added,
            ),
            ("CreateSymlinkOps", "Symbolic links created", &self.operations.linked),
            ("GetLinkTargetOps", "Symbolic links followed", &self.operations.links_followed),
        ] {
            record.counter(name, help, counter);
            total += counter.get();
        }
        record.gauge("TotalFileOps", "Operations of the kinds above", total);
        record.counter("FilesCreated", "Files and directories created", &self.files_created);
        record.counter("FilesDeleted", "Files and directories deleted", &self.files_deleted);
        record.counter("FilesInGetListingOps", "Names in listings", &self.listed);
        let incremental = &self.incremental_reports;
        record.counter("BlockReceivedAndDeletedOps", "Incremental block reports", incremental);
        let under_way = "Full block reports being taken in";
        record.gauge("BlockOpsQueued", under_way, &self.reports_under_way);
        record.gauge("SafeModeTime", "Safe mode at the start, ms", &self.safe_mode_ms);
        for (name, help, rate) in [
            ("StorageBlockReport", "block reports of storages, ms", &self.block_reports),
            ("CacheReport", "cache reports, ms", &self.cache_reports),
            ("ResourceCheckTime", "looks at the free space, ms", &self.resource_checks),
            ("EditLogTailTime", "looks for another NameNode's edits, ms", &self.tails),
            ("GetEdit", "segments sent, ms", &self.segments_sent),
            ("GetImage", "images sent, ms", &self.images_sent),
            ("PutImage", "images received, ms", &self.images_received),
        ] {
            record.rate(name, help, &rate.figures());
        }
        let loaded = self.edits_loaded.figures();
        record.rate_in("NumEditLogLoaded", "edits found by a look", &loaded, "Count", "Count");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_daemon::metrics::Number;

    #[test]
    fn operations_are_counted_by_their_names_in_the_audit_log() {
        let activity = NameNodeActivity::default();
        ["create", "open", "open", "setOwner"].into_iter().for_each(|name| activity.count(name));
        activity.count_block(BlockOperation::Add);
        let mut record = Record::new("NameNodeActivity", "namenode", "dfs");
        activity.add_to(&mut record);
        for (name, expected) in [
            ("CreateFileOps", 1),
            ("GetBlockLocations", 2),
            ("AddBlockOps", 1),
            ("TotalFileOps", 4),
        ] {
            assert_eq!(record.get(name), Some(Number::Whole(expected)), "{name}");
        }
    }
}
