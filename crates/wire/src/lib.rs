//! Codecs of the Hadoop wire formats; nothing here knows a socket or a clock.
//!
//! Ids are newtypes: swapping a block id and a generation stamp does not compile.

pub mod block;
pub mod exception;
pub mod ids;

pub use block::{Block, ExtendedBlock};
pub use exception::{JavaException, RemoteException};
pub use ids::{BlockId, GenerationStamp, InodeId, TxId};
