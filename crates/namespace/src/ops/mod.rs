//! The operations that change the namespace, a type for each family: they check, build an edit, commit it and answer.

pub(crate) mod acl;
pub(crate) mod attributes;
pub(crate) mod block_recovery;
pub(crate) mod directories;
pub(crate) mod directory_rules;
pub(crate) mod files;
pub(crate) mod lease;
mod lease_recovery;
mod new_directories;
mod open_file;
pub(crate) mod policy;
pub(crate) mod quota;
mod replication;
pub(crate) mod rolling_upgrade;
pub(crate) mod writes;
pub(crate) mod xattr;
