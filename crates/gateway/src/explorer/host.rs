//! What the parts of the browser have in common: the server that they are a part of, and what a form did.

use crate::failure::Failure;
use crate::operation::Operation;
use crate::params::Params;
use axum::http::HeaderMap;
use std::future::Future;
use std::net::SocketAddr;
use zerohop_client::FileSystem;
use zerohop_pages::Site;

/// Where it is.
pub(crate) const ADDRESS: &str = "/explorer";

/// The server that the browser is a part of.
pub(crate) trait ExplorerHost: Send + Sync + 'static {
    /// The cluster as the user of a request sees it.
    fn file_system(
        &self,
        params: &Params,
        headers: &HeaderMap,
        from: SocketAddr,
    ) -> impl Future<Output = Result<FileSystem, Failure>> + Send;

    /// Refuses what this server does for nobody.
    fn check(&self, operation: Operation) -> Result<(), Failure>;

    /// Closes the streams of appends at and below a path before something is done to it.
    fn close_streams(&self, path: &str) -> impl Future<Output = ()> + Send;

    /// What is the same on all pages of the server.
    fn site(&self) -> Site;
}

/// What a form did.
pub(super) struct Changed {
    /// The page to show next.
    pub(super) path: String,
    /// One of the words that the browser knows.
    pub(super) what: &'static str,
}
