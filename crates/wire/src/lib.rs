//! Codecs of the Hadoop wire formats; nothing here knows a socket or a clock.
//!
//! Ids are newtypes: swapping a block id and a generation stamp does not compile.
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests measure and wait"))]

pub mod acl;
mod authority;
pub mod block;
pub mod block_report;
pub mod caching;
pub mod caller;
pub mod checksum_type;
pub mod erasure;
pub mod exception;
pub mod file_status;
pub mod file_types;
pub mod ids;
pub mod meta_header;
pub mod reads;
mod setters;
pub mod slot;
pub mod storage_type;
pub mod trace_context;
pub mod transfer;
pub mod xattr;

pub use acl::{AclEntry, InvalidAclEntry};
pub use authority::authority;
pub use block::{Block, ExtendedBlock};
pub use block_report::{ReplicaState, ReportedReplica};
pub use caching::{CacheDirective, CacheExpiry, CachePool};
pub use caller::{CallerContext, CallerIdentity, RpcIds};
pub use checksum_type::{ChecksumError, ChecksumType, DataChecksum};
pub use erasure::{ErasureCodingPolicy, ErasureCodingPolicyState, erasure_policy_name};
pub use exception::{JavaException, RemoteException};
pub use file_status::FileStatus;
pub use file_types::{AclKind, AclScope, FileKind, XAttrNamespace};
pub use ids::{BlockId, GenerationStamp, InodeId, TxId};
pub use reads::read_freshness;
pub use slot::{ShmId, Slot, SlotId};
pub use storage_type::StorageType;
pub use trace_context::TraceContext;
pub use xattr::XAttr;
