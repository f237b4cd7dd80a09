//! What the pages show.

use crate::allowed_hosts::AllowedHosts;
use crate::journals::Journals;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_conf::Conf;
use zerohop_transport::rpc::server::CallActivity;

/// What the pages show.
pub(crate) struct Shown {
    pub(crate) conf: Arc<Conf>,
    pub(crate) journals: Arc<Journals>,
    pub(crate) hosts: Arc<AllowedHosts>,
    pub(crate) rpc: SocketAddr,
    pub(crate) started_ms: u64,
    /// What the calls of the RPC server do.
    pub(crate) calls: Arc<CallActivity>,
}
