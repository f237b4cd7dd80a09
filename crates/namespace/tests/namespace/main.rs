//! The namespace as its callers see it: given a tree, when an operation runs, then this is answered and logged.

mod acls;
mod apache;
mod attributes;
mod caching;
mod concats;
mod deletes;
mod images;
mod leases;
mod limits;
mod listings;
mod permissions;
mod quotas;
mod random;
mod refusals;
mod renames;
mod rolling_upgrades;
mod standby;
mod world;
mod writes;
