//! How patient a writer or reader is.

use std::time::Duration;

/// How patient a writer or reader is, and how much may wait for a slow JournalNode.
#[derive(Clone, Debug)]
pub struct QuorumOptions {
    /// For a segment to begin (`dfs.qjournal.start-segment.timeout.ms`).
    pub start_segment: Duration,
    /// For records to be on a majority's disks (`dfs.qjournal.write-txns.timeout.ms`).
    pub write: Duration,
    /// For JournalNodes to tell which epoch they promised (`dfs.qjournal.get-journal-state.timeout.ms`).
    pub state: Duration,
    /// For them to promise a new one (`dfs.qjournal.new-epoch.timeout.ms`).
    pub new_epoch: Duration,
    /// For them to tell what they have of a segment that is to be recovered (`dfs.qjournal.prepare-recovery.timeout.ms`).
    pub prepare_recovery: Duration,
    /// For them to take over what was decided about it (`dfs.qjournal.accept-recovery.timeout.ms`).
    pub accept_recovery: Duration,
    /// For a segment to end (`dfs.qjournal.finalize-segment.timeout.ms`).
    pub finalize: Duration,
    /// For all of them to be formatted, or looked at before that.
    pub format: Duration,
    /// For lists of segments and for edits out of memory (`dfs.qjournal.select-input-streams.timeout.ms`).
    pub read: Duration,
    /// Time for a segment to begin to arrive, and for each further piece (`dfs.qjournal.http.read.timeout.ms`,
    /// `zerohop.journal.transfer.stall.timeout.ms`).
    pub fetch: Duration,
    /// Most edits asked for at a time out of JournalNodes' memory, which is asked before segments in progress are; none: it
    /// is not asked (`dfs.ha.tail-edits.qjm.rpc.max-txns`).
    pub recent_max: Option<u32>,
    /// Bytes of records that may wait for one JournalNode (`dfs.qjournal.queued-edits.limit.mb`).
    pub queued_max: usize,
    /// Larger records are taken for damage.
    pub op_size_max: usize,
}

impl Default for QuorumOptions {
    fn default() -> Self {
        let long = Duration::from_secs(120);
        Self {
            start_segment: Duration::from_secs(20),
            write: Duration::from_secs(20),
            state: long,
            new_epoch: long,
            prepare_recovery: long,
            accept_recovery: long,
            finalize: long,
            format: Duration::from_secs(600),
            read: Duration::from_secs(20),
            fetch: Duration::from_secs(5),
            recent_max: None,
            queued_max: 10 << 20,
            op_size_max: 50 << 20,
        }
    }
}
