//! ACLs, extended attributes, storage policies and the cache.

use super::{check, path};
use crate::error::{AclError, AclProblem, CacheError, Error, PolicyError, XAttrError};
use zerohop_journal::types::{AclEntry, AclKind, AclScope};
use zerohop_wire::JavaException;

fn name() -> String {
    "n".to_owned()
}

#[test]
fn acls_that_are_refused() {
    let of = |problem| Error::from(AclError::from(problem));
    let entry = AclEntry {
        scope: AclScope::Default,
        kind: AclKind::Mask,
        name: Some("x".into()),
        permission: 5,
    };
    let default_of_file = AclProblem::DefaultOfFile { path: path() };
    let on_path = AclError { reason: AclProblem::Duplicate, path: Some(path()) };
    let too_many = |scope| of(AclProblem::TooManyEntries { scope, count: 33, maximum: 32 });
    check(
        JavaException::AclException,
        [
            (
                of(AclProblem::Disabled),
                "The ACL operation has been rejected. Support for ACLs has been disabled by setting \
                 dfs.namenode.acls.enabled to false.",
            ),
            (
                of(AclProblem::EntryMissing),
                "Invalid ACL: the user, group and other entries are required.",
            ),
            (
                of(AclProblem::DefaultEntryMissing),
                "Invalid default ACL: the user, group and other entries are required.",
            ),
            (
                of(default_of_file),
                "Invalid ACL: only directories may have a default ACL. Path: /d/f",
            ),
            (
                too_many(AclScope::Access),
                "Invalid ACL: ACL has 33 access entries, which exceeds maximum of 32.",
            ),
            (
                too_many(AclScope::Default),
                "Invalid ACL: ACL has 33 default entries, which exceeds maximum of 32.",
            ),
            (of(AclProblem::MaskRequired), "Invalid ACL: mask is required and cannot be deleted."),
            (
                on_path.into(),
                "Invalid ACL: multiple entries with same scope, type and name. Path: /d/f",
            ),
            (
                of(AclProblem::NameNotAllowed { entry }),
                "Invalid ACL: this entry type must not have a name: default:mask:x:r-x.",
            ),
        ],
    );
}

#[test]
fn attributes_and_policies_that_are_refused() {
    check(
        JavaException::Io,
        [
            (
                XAttrError::Disabled.into(),
                "The XAttr operation has been rejected. Support for XAttrs has been disabled by setting \
                 dfs.namenode.xattrs.enabled to false.",
            ),
            (XAttrError::OnlyOnFiles { name: "x" }.into(), "Can only set 'x' on a file."),
            (
                XAttrError::NothingToRemove.into(),
                "No matching attributes found for remove operation",
            ),
            (
                XAttrError::AlreadyExists { name: name() }.into(),
                "XAttr: n already exists. The REPLACE flag must be specified.",
            ),
            (
                XAttrError::DoesNotExist { name: name() }.into(),
                "XAttr: n does not exist. The CREATE flag must be specified.",
            ),
            (
                PolicyError::Disabled { operation: "set storage policy" }.into(),
                "Failed to set storage policy since dfs.storage.policy.enabled is set to false.",
            ),
        ],
    );
    check(
        JavaException::XAttrNotFound,
        [(XAttrError::NotFound.into(), "At least one of the attributes provided was not found.")],
    );
    check(
        JavaException::HadoopIllegalArgument,
        [
            (XAttrError::NoFlag.into(), "A flag must be specified."),
            (
                PolicyError::Unknown { name: name() }.into(),
                "Cannot find a block policy with the name n",
            ),
            (
                PolicyError::OnlyAtCreation { name: "LAZY_PERSIST" }.into(),
                "Policy LAZY_PERSIST cannot be set after file creation.",
            ),
            (
                PolicyError::Fixed { name: "LAZY_PERSIST" }.into(),
                "Existing policy LAZY_PERSIST cannot be changed after file creation.",
            ),
        ],
    );
}

#[test]
fn cache_pools_and_directives_that_are_refused() {
    let full =
        CacheError::PoolFull { path: path(), bytes: 9, replication: 2, pool: name(), left: 1 };
    check(
        JavaException::InvalidRequest,
        [
            (CacheError::PoolExists { name: name() }.into(), "Cache pool n already exists."),
            (CacheError::NoSuchPool { name: name() }.into(), "Cache pool n does not exist."),
            (
                CacheError::NoPoolToRemove { name: name() }.into(),
                "Cannot remove non-existent cache pool n",
            ),
            (CacheError::UnknownPool { name: name() }.into(), "Unknown pool n"),
            (CacheError::NegativeLimit.into(), "Limit is negative."),
            (CacheError::NegativeReplication.into(), "Default Replication is negative"),
            (CacheError::NegativeMaxExpiry.into(), "Max relative expiry is negative."),
            (CacheError::MaxExpiryTooBig.into(), "Max relative expiry is too big."),
            (CacheError::IdMissing.into(), "Must supply an ID."),
            (CacheError::NegativeId.into(), "Invalid negative ID."),
            (CacheError::NoSuchDirective { id: 3 }.into(), "No directive with ID 3 found."),
            (CacheError::FilteredId { id: 3 }.into(), "Did not find requested id 3"),
            (CacheError::FilterByReplication.into(), "Filtering by replication is unsupported."),
            (CacheError::PoolMissing.into(), "No pool specified."),
            (CacheError::PoolOfDirectiveEmpty.into(), "Invalid empty pool name."),
            (CacheError::PathMissing.into(), "No path specified."),
            (CacheError::InvalidPath { path: path() }.into(), "Invalid path '/d/f'."),
            (
                CacheError::InvalidReplication { replication: 0 }.into(),
                "Invalid replication factor 0 <= 0",
            ),
            (CacheError::NegativeExpiry { ms: -1 }.into(), "Cannot set a negative expiration: -1"),
            (CacheError::ExpiryTooFar { ms: 9 }.into(), "Expiration 9 is too far in the future!"),
            (
                CacheError::ExpiryOverMax { ms: 9, max_ms: 8 }.into(),
                "Expiration 9 exceeds the max relative expiration time of 8 ms.",
            ),
            (
                full.into(),
                "Caching path /d/f of size 9 bytes at replication 2 would exceed pool n's remaining capacity of 1 bytes.",
            ),
        ],
    );
    check(
        JavaException::Io,
        [
            (CacheError::EmptyPoolName.into(), "invalid empty cache pool name"),
            (
                CacheError::IdGiven.into(),
                "addDirective: you cannot specify an ID for this operation.",
            ),
            (CacheError::NoIdsLeft.into(), "No more available IDs."),
        ],
    );
}
