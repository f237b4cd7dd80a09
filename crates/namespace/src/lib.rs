//! The NameNode's state machine: inodes, blocks, leases, quotas, placement.
//!
//! Nothing here knows a socket, a disk or a clock. Every mutation is a `journal::op::EditOp` that is committed, by one
//! function: live operations check, build the op, commit it and put it in the outbox ([`Namespace::take_edits`]); replay
//! ([`Namespace::apply`]) commits the ops of a log.
//!
//! [`Namespace`] holds the parts. Questions are asked of a [`View`], for one caller; each family of changes is a small type
//! that borrows what it needs for one call: `namespace.files(&ctx).create(&request)`.

mod access;
mod acl;
mod answers;
mod apply;
pub mod blocks;
mod cache;
mod call;
mod commit;
#[cfg(test)]
mod commit_test;
mod context;
mod deleted;
mod equal;
pub mod error;
#[cfg(test)]
mod fixture;
mod id_index;
mod ids;
mod image;
mod lease;
mod lease_clock;
mod limits;
mod mode;
mod namespace;
mod next;
mod ops;
mod packed;
mod pages;
mod params;
mod policies;
mod quota;
mod rename_check;
mod requests;
mod resolve;
mod rolling_upgrade;
mod safe_mode_notice;
#[cfg(test)]
mod slices_test;
mod stored_files;
mod subtree;
mod tree;
mod unsupported;
mod usage;
mod view;
mod walk;

pub use answers::*;
pub use apply::ApplyError;
pub use cache::{CacheListing, CacheManager, CacheScanner};
pub use call::LoggedEdit;
pub use context::OpContext;
pub use error::{Error, Result};
pub use ids::Ids;
pub use image::ImageInfo;
pub use mode::symbolic as symbolic_mode;
pub use namespace::Namespace;
pub use ops::acl::Acls;
pub use ops::attributes::Attributes;
pub use ops::block_recovery::BlockRecoveries;
pub use ops::directories::Directories;
pub use ops::files::Files;
pub use ops::lease::LeaseManager;
pub use ops::policy::StoragePolicies;
pub use ops::quota::{Quotas, quota_command};
pub use ops::rolling_upgrade::RollingUpgrades;
pub use ops::writes::FileWrites;
pub use ops::xattr::XAttrs;
pub use params::NamespaceParams;
pub use quota::{QUOTA_DONT_SET, QUOTA_RESET};
pub use requests::*;
pub use rolling_upgrade::RollingUpgrade;
pub use safe_mode_notice::SafeModeNotice;
pub use subtree::{RemovalCheck, SubtreeWalk, Subtrees};
pub use view::View;
pub use view::summary::Summaries;
