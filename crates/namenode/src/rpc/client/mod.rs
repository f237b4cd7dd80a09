//! ClientNamenodeProtocol: what file system clients and administrators call.
//!
//! Each file decodes the requests of some methods, calls the typed function of [`crate::service`] and encodes its answer.

mod acl;
mod admin;
mod attribute;
mod block;
mod cache;
mod file;
mod lease;
mod listing;
mod none;
mod policy;
mod quota;
mod report;
mod tree;
mod xattr;

pub(super) use block::report_bad_blocks;

use super::answer::Call;
use super::service::{Answering, Protocol};
use std::collections::HashMap;
use std::sync::LazyLock;
use zerohop_transport::rpc::server::{Reply, no_such_method};
use zerohop_wire::JavaException;

/// The methods of each file, by name.
static METHODS: LazyLock<HashMap<&'static str, Answering>> = LazyLock::new(|| {
    let tables = [
        acl::METHODS,
        admin::METHODS,
        attribute::METHODS,
        block::METHODS,
        cache::METHODS,
        file::METHODS,
        lease::METHODS,
        listing::METHODS,
        none::METHODS,
        policy::METHODS,
        quota::METHODS,
        report::METHODS,
        tree::METHODS,
        xattr::METHODS,
    ];
    tables.concat().into_iter().collect()
});

pub(super) struct ClientProtocol;

impl Protocol for ClientProtocol {
    const NAME: &'static str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";

    fn methods() -> Vec<&'static str> {
        METHODS.keys().chain(UNSUPPORTED).copied().collect()
    }

    fn needs_rack(method: &str) -> bool {
        PLACED.contains(&method)
    }

    fn call(call: Call<'_>, method: &str) -> Reply {
        match METHODS.get(method) {
            Some(answer) => answer(call),
            None if UNSUPPORTED.contains(&method) => Reply::exception(
                JavaException::UnsupportedOperation
                    .with(format!("{method} is not supported by this NameNode")),
            ),
            None => Reply::exception(no_such_method(Self::NAME, method)),
        }
    }
}

/// Methods whose answers name the nearest DataNodes first.
const PLACED: &[&str] = &["addBlock", "getAdditionalDatanode", "getBlockLocations"];

/// Methods of the protocol that answer UnsupportedOperationException by name.
const UNSUPPORTED: &[&str] = &[
    "createSnapshot",
    "renameSnapshot",
    "allowSnapshot",
    "disallowSnapshot",
    "deleteSnapshot",
    "getSnapshotListing",
    "getSnapshotDiffReport",
    "getSnapshotDiffReportListing",
    "createEncryptionZone",
    "reencryptEncryptionZone",
    "listReencryptionStatus",
    "setErasureCodingPolicy",
    "unsetErasureCodingPolicy",
    "getECTopologyResultForPolicies",
    "addErasureCodingPolicies",
    "removeErasureCodingPolicy",
    "enableErasureCodingPolicy",
    "disableErasureCodingPolicy",
    "getEditsFromTxid",
    "satisfyStoragePolicy",
];
