//! What `fsck` is asked for: names in the query, with or without a value.

/// What is listed besides the path that is checked.
pub(super) struct Options {
    pub(super) files: bool,
    pub(super) blocks: bool,
    pub(super) locations: bool,
    pub(super) racks: bool,
    pub(super) replica_details: bool,
    pub(super) upgrade_domains: bool,
    pub(super) maintenance: bool,
    pub(super) open_files: bool,
    pub(super) replicate: bool,
    pub(super) progress: bool,
}

/// What is to be done about damaged files.
#[derive(Clone, Copy, Default)]
pub(super) struct Remedy {
    /// Their good blocks are copied; the files stay.
    pub(super) moves: bool,
    pub(super) deletes: bool,
}

impl Options {
    pub(super) fn asked(has: impl Fn(&str) -> bool) -> Self {
        Self {
            files: has("files"),
            blocks: has("blocks"),
            locations: has("locations"),
            racks: has("racks"),
            replica_details: has("replicadetails"),
            upgrade_domains: has("upgradedomains"),
            maintenance: has("maintenance"),
            open_files: has("openforwrite"),
            replicate: has("replicate"),
            progress: has("showprogress"),
        }
    }
}

impl Remedy {
    pub(super) fn asked(has: impl Fn(&str) -> bool) -> Self {
        Self { moves: has("move"), deletes: has("delete") }
    }
}
