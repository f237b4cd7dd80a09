//! Keys that the JournalNode reads.

use crate::key::keys;
use std::time::Duration;

keys! {
    /// Directory of the journals, one below it for each; `.<name service>` behind the name is for that name service.
    DFS_JOURNALNODE_EDITS_DIR: String = "dfs.journalnode.edits.dir", "/tmp/hadoop/dfs/journalnode/", Plain;
    /// Permissions of a journal's directory.
    DFS_JOURNALNODE_EDITS_DIR_PERM: String = "dfs.journalnode.edits.dir.perm", "700", Plain;
    /// Address of the JournalNode's RPC port.
    DFS_JOURNALNODE_RPC_ADDRESS: String = "dfs.journalnode.rpc-address", "0.0.0.0:8485", Plain;
    /// Host to listen on in place of that of dfs.journalnode.rpc-address.
    DFS_JOURNALNODE_RPC_BIND_HOST: Option<String> = "dfs.journalnode.rpc-bind-host", "", Plain;
    /// Address of the JournalNode's HTTP port, from which segments are fetched.
    DFS_JOURNALNODE_HTTP_ADDRESS: String = "dfs.journalnode.http-address", "0.0.0.0:8480", Plain;
    /// Host to listen on in place of that of dfs.journalnode.http-address.
    DFS_JOURNALNODE_HTTP_BIND_HOST: Option<String> = "dfs.journalnode.http-bind-host", "", Plain;
    /// Sets the number of calls that may wait.
    DFS_JOURNALNODE_HANDLER_COUNT: usize = "dfs.journalnode.handler.count", "5", Plain;
    /// Whether JournalNodes fetch finalized segments that they lack from each other.
    DFS_JOURNALNODE_ENABLE_SYNC: bool = "dfs.journalnode.enable.sync", "true", Plain;
    /// Time between two looks at another JournalNode's segments.
    DFS_JOURNALNODE_SYNC_INTERVAL: Duration = "dfs.journalnode.sync.interval", "120000", Millis;
    /// Bytes of edits kept in memory for NameNodes that follow segments in progress; 16 MiB if not set.
    DFS_JOURNALNODE_EDIT_CACHE_SIZE_BYTES: Option<u64> = "dfs.journalnode.edit-cache-size.bytes", "", Bytes;
    /// Whether NameNodes follow segments that are still written; JournalNodes keep the last edits in memory for them.
    DFS_HA_TAIL_EDITS_IN_PROGRESS: bool = "dfs.ha.tail-edits.in-progress", "false", Plain;
    /// Longest wait for another JournalNode to begin to send a segment.
    DFS_EDIT_LOG_TRANSFER_TIMEOUT: Duration = "dfs.edit.log.transfer.timeout", "30000", Millis;
    /// Longest time without a byte in the transfer of a segment from a JournalNode; then another copy is tried. Shorter time-outs of transfers come first.
    ZEROHOP_JOURNAL_TRANSFER_STALL_TIMEOUT_MS: Duration = "zerohop.journal.transfer.stall.timeout.ms", "5000", Millis;
    /// Hosts besides those of the configured NameNodes and JournalNodes whose calls and requests for segments a JournalNode accepts; * accepts all.
    ZEROHOP_JOURNALNODE_ALLOWED_HOSTS: Vec<String> = "zerohop.journalnode.allowed.hosts", "", Plain;
    /// Whether a NameNode may format a journal that has edits.
    ZEROHOP_JOURNALNODE_FORMAT_OVER_DATA: bool = "zerohop.journalnode.format.over.data", "false", Plain;
    /// Most journals that a JournalNode keeps; a NameNode cannot format more.
    ZEROHOP_JOURNALNODE_JOURNALS_MAX: usize = "zerohop.journalnode.journals.max", "64", Plain;
}
