//! Who asks.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The address of the other end of a request's connection.
#[derive(Clone, Copy, Debug)]
pub struct RemoteAddress(pub SocketAddr);

impl<S: Sync> FromRequestParts<S> for RemoteAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // [`HttpServer`](super::HttpServer) puts it into every request.
        let unknown = Self(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0));
        Ok(parts.extensions.get().copied().unwrap_or(unknown))
    }
}
