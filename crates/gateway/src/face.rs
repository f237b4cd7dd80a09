//! What the ports have in common: a request comes in, is answered, and is logged.

use crate::call::Call;
use crate::failure::{Failure, Statuses};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_daemon::http::RemoteAddress;
use zerohop_system::clock;

/// The REST of one kind of server.
pub(crate) trait Face: Send + Sync + 'static {
    /// The status that an exception gets.
    const STATUSES: Statuses;

    /// Answers a request from `from`.
    fn answer(
        &self,
        call: Call,
        from: SocketAddr,
        body: Body,
    ) -> impl Future<Output = Result<Response, Failure>> + Send;
}

/// Answers all requests by a face.
pub(crate) fn router<F: Face>(face: F) -> Router {
    Router::new().fallback(handle::<F>).with_state(Arc::new(face))
}

async fn handle<F: Face>(
    State(face): State<Arc<F>>,
    RemoteAddress(remote): RemoteAddress,
    request: Request<Body>,
) -> Response {
    let begun = clock::now();
    let (parts, body) = request.into_parts();
    let (method, uri) = (parts.method.clone(), parts.uri.clone());
    let call = Call { method: parts.method, uri: parts.uri, headers: parts.headers };
    let answer = face.answer(call, remote, body).await;
    let response = answer.unwrap_or_else(|failure| failure.response(F::STATUSES));
    let (status, ms) = (response.status().as_u16(), clock::since(begun).as_millis());
    tracing::info!(target: "requests", "{remote} {method} {uri} {status} {ms} ms");
    response
}
