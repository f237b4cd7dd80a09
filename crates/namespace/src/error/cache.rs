//! Cache pools and directives that cannot be so.

use thiserror::Error;

/// A change or a listing of cache pools or directives is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum CacheError {
    #[error("Cache pool {name} already exists.")]
    PoolExists { name: String },
    #[error("Cache pool {name} does not exist.")]
    NoSuchPool { name: String },
    #[error("Cannot remove non-existent cache pool {name}")]
    NoPoolToRemove { name: String },
    #[error("Unknown pool {name}")]
    UnknownPool { name: String },
    #[error("invalid empty cache pool name")]
    EmptyPoolName,
    #[error("Limit is negative.")]
    NegativeLimit,
    #[error("Default Replication is negative")]
    NegativeReplication,
    #[error("Max relative expiry is negative.")]
    NegativeMaxExpiry,
    #[error("Max relative expiry is too big.")]
    MaxExpiryTooBig,
    #[error("addDirective: you cannot specify an ID for this operation.")]
    IdGiven,
    #[error("Must supply an ID.")]
    IdMissing,
    #[error("No more available IDs.")]
    NoIdsLeft,
    #[error("Invalid negative ID.")]
    NegativeId,
    #[error("No directive with ID {id} found.")]
    NoSuchDirective { id: i64 },
    #[error("Did not find requested id {id}")]
    FilteredId { id: i64 },
    #[error("Filtering by replication is unsupported.")]
    FilterByReplication,
    #[error("No pool specified.")]
    PoolMissing,
    #[error("Invalid empty pool name.")]
    PoolOfDirectiveEmpty,
    #[error("No path specified.")]
    PathMissing,
    #[error("Invalid path '{path}'.")]
    InvalidPath { path: String },
    #[error("Invalid replication factor {replication} <= 0")]
    InvalidReplication { replication: i16 },
    #[error("Cannot set a negative expiration: {ms}")]
    NegativeExpiry { ms: i64 },
    #[error("Expiration {ms} is too far in the future!")]
    ExpiryTooFar { ms: i64 },
    #[error("Expiration {ms} exceeds the max relative expiration time of {max_ms} ms.")]
    ExpiryOverMax { ms: i64, max_ms: i64 },
    #[error(
        "Caching path {path} of size {bytes} bytes at replication {replication} would exceed pool {pool}'s remaining \
         capacity of {left} bytes."
    )]
    PoolFull { path: String, bytes: i64, replication: i16, pool: String, left: i64 },
}
