//! What `fsck` is asked for, and by whom.

use super::out::Out;
use crate::audit::{self, Line};
use crate::call_error::CallError;
use crate::core::Core;
use crate::service::{Caller, ClientService, Outcome};
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_daemon::http::QueryValues;

/// The check of a path for a user.
pub(super) struct Request<'a> {
    pub(super) core: &'a Core,
    /// ClientProtocol for the user who asked.
    pub(super) service: ClientService<'a>,
    pub(super) path: String,
    pub(super) options: Options,
    /// The source in the audit log: the path, or the blocks.
    audit_source: String,
}

impl<'a> Request<'a> {
    pub(super) fn new(core: &'a Arc<Core>, query: &QueryValues, remote: SocketAddr) -> Self {
        let path = query.get("path").unwrap_or("/").to_owned();
        let blocks = query.get("blockId").map(|ids| ids.split(' ').collect::<Vec<_>>().join(", "));
        let user = query.get("user.name").or_else(|| query.get("ugi")).unwrap_or("dr.who");
        Self {
            core,
            service: ClientService::new(core, Caller::of_page(core, user, remote)),
            audit_source: blocks.map_or_else(|| path.clone(), |ids| format!("blocksIds=[{ids}]")),
            path,
            options: Options::asked(|name| query.has(name)),
        }
    }

    /// Returns `true` if a request changes something: files, or which replicas there are.
    pub(super) fn is_change(query: &QueryValues) -> bool {
        ["move", "delete", "replicate"].iter().any(|name| query.has(name))
    }

    /// Writes the audit log's line of the whole check, as Apache Hadoop does.
    pub(super) fn audit(&self, is_allowed: bool) {
        self.audit_line(is_allowed, Line::path("fsck", &self.audit_source));
    }

    /// Writes an audit log's line of a single change.
    pub(super) fn audit_line(&self, is_allowed: bool, line: Line<'_>) {
        let origin = self.service.caller().page_origin();
        audit::log_page(&self.core.adjustable().audit, &origin, is_allowed, line);
    }

    /// An error if the report is not read any more. To be called before more work is begun.
    pub(super) fn check_wanted(&self, out: &mut Out) -> Outcome<()> {
        out.flush_if_full();
        if out.is_wanted() {
            return Ok(());
        }
        tracing::info!(
            "Fsck on path {} ends: {} does not listen any more",
            self.path,
            self.service.caller().remote()
        );
        Err(CallError::failed("the connection was closed"))
    }
}

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
