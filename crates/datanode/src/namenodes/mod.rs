//! The NameNodes, as all parts of a DataNode know them: name services, a link to each NameNode, and the
//! news that wait for them. Who talks stands in `services`.

pub(crate) mod addresses;
mod identity;
mod incremental;
mod link;
mod service;

pub(crate) use identity::PoolIdentity;
pub(crate) use incremental::News;
pub(crate) use link::{Link, Progress, ReportWish};
pub(crate) use service::PoolService;
