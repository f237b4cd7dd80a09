//! ClientProtocol as typed calls.
//!
//! One function for each operation. Permission checks, the audit log, the retry cache and the wait for the edit log are
//! inside; the caller decodes its request and encodes the answer. RPC (`rpc/client`), the pages (`http/fsck`) and later
//! WebHDFS call the same functions.

mod acl;
mod admin;
mod answer;
mod attribute;
mod block;
mod cache;
mod call;
mod caller;
mod file;
mod lease;
mod listing;
mod metasave;
mod policy;
mod quota;
mod removal;
mod report;
mod tree;
mod xattr;

pub(crate) use admin::{RollingUpgradeAction, SafeModeAction};
pub(crate) use answer::{Answer, Outcome, synced};
pub(crate) use block::{AddBlockCall, NewPipeline};
pub(crate) use caller::{Caller, http_context};
pub(crate) use file::CompleteCall;
pub(crate) use listing::{BatchedCursor, BatchedListing};

use crate::core::Core;
use acl::Acls;
use admin::Administration;
use attribute::Attributes;
use block::Blocks;
use cache::Caching;
use call::ServiceCall;
use file::Files;
use lease::Leases;
use listing::Reads;
use policy::StoragePolicies;
use quota::Quotas;
use report::Reports;
use std::sync::Arc;
use tree::Directories;
use xattr::XAttrs;
use zerohop_namespace::OpContext;

/// ClientProtocol for one caller, by groups of operations.
pub(crate) struct ClientService<'a> {
    call: ServiceCall<'a>,
}

impl<'a> ClientService<'a> {
    pub(crate) fn new(core: &'a Arc<Core>, caller: Caller) -> Self {
        Self { call: ServiceCall::new(core, caller) }
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.call.caller
    }

    /// The block pool's id, which stands in every block of an answer.
    pub(crate) fn pool(&self) -> Arc<str> {
        self.call.core.identity.pool.clone()
    }

    /// The caller as the namespace sees it, now.
    pub(crate) fn op(&self) -> OpContext {
        self.call.op()
    }

    /// Refuses every caller but the superuser and members of the supergroup.
    pub(crate) fn check_superuser(&self) -> Outcome<()> {
        self.call.check_superuser()
    }
}

/// The groups.
impl ClientService<'_> {
    /// Access control lists.
    pub(crate) fn acls(&self) -> Acls<'_> {
        Acls { call: &self.call }
    }

    /// Safe mode, images, edits, upgrades.
    pub(crate) fn administration(&self) -> Administration<'_> {
        Administration { call: &self.call }
    }

    /// Replication, permission, owner, times, access checks.
    pub(crate) fn attributes(&self) -> Attributes<'_> {
        Attributes { call: &self.call }
    }

    /// Blocks of files being written.
    pub(crate) fn blocks(&self) -> Blocks<'_> {
        Blocks { call: &self.call }
    }

    /// Cache pools and directives.
    pub(crate) fn caching(&self) -> Caching<'_> {
        Caching { call: &self.call }
    }

    /// Files created, written, cut and joined.
    pub(crate) fn files(&self) -> Files<'_> {
        Files { call: &self.call }
    }

    /// Leases of writers.
    pub(crate) fn leases(&self) -> Leases<'_> {
        Leases { call: &self.call }
    }

    /// Status, listings and block locations.
    pub(crate) fn reads(&self) -> Reads<'_> {
        Reads { call: &self.call }
    }

    /// Storage policies.
    pub(crate) fn storage_policies(&self) -> StoragePolicies<'_> {
        StoragePolicies { call: &self.call }
    }

    /// Content summaries and quotas.
    pub(crate) fn quotas(&self) -> Quotas<'_> {
        Quotas { call: &self.call }
    }

    /// Figures of blocks and DataNodes, and corrupt files.
    pub(crate) fn reports(&self) -> Reports<'_> {
        Reports { call: &self.call }
    }

    /// Directories, renames, deletions, links.
    pub(crate) fn directories(&self) -> Directories<'_> {
        Directories { call: &self.call }
    }

    /// Extended attributes.
    pub(crate) fn xattrs(&self) -> XAttrs<'_> {
        XAttrs { call: &self.call }
    }
}
