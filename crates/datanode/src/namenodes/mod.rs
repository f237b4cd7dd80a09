//! The NameNodes, as all parts of a DataNode know them: name services, a link to each NameNode, and the
//! changes of blocks that wait to be reported to it. `services` talks to them.

pub(crate) mod addresses;
mod identity;
mod incremental;
mod link;
mod service;

pub(crate) use identity::PoolIdentity;
pub(crate) use incremental::BlockChange;
pub(crate) use link::{Link, Progress, ReportWish};
pub(crate) use service::PoolService;
