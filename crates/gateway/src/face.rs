//! What the ports have in common: a request comes in, is answered, and is logged.

use crate::call::Call;
use crate::drained;
use crate::exchange::{Exchange, RequestHead};
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
pub(crate) fn router<F: Face>(face: Arc<F>) -> Router {
    Router::new().fallback(handle::<F>).with_state(face)
}

async fn handle<F: Face>(
    State(face): State<Arc<F>>,
    RemoteAddress(remote): RemoteAddress,
    request: Request<Body>,
) -> Response {
    let begun = clock::now();
    let (mut parts, body) = request.into_parts();
    let exchange = Exchange::begin(&mut parts.extensions);
    let body = drained::read_when_dropped(exchange.count_received(body), &parts.headers);
    let head = RequestHead { begun, remote, method: parts.method.clone(), uri: parts.uri.clone() };
    let call = Call {
        method: parts.method,
        uri: parts.uri,
        headers: parts.headers,
        exchange: exchange.clone(),
    };
    let answer = face.answer(call, remote, body).await;
    let response = answer.unwrap_or_else(|failure| failure.response(F::STATUSES));
    exchange.log_when_sent(head, response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::httpfs::HttpFs;
    use zerohop_conf::Conf;

    /// It is allocated and moved a few times with each request: that of an OPEN had room for all of an upload.
    #[test]
    fn the_future_of_a_request_is_small() {
        let face = Arc::new(HttpFs::new(Conf::new()).unwrap());
        let remote = RemoteAddress(SocketAddr::from(([127, 0, 0, 1], 1)));
        let request = Request::builder().uri("/a").body(Body::empty()).unwrap();
        let answer = handle(State(face), remote, request);
        assert!(size_of_val(&answer) < 5 << 10, "{} bytes", size_of_val(&answer));
    }
}
