//! What the ports have in common: a request comes in, is answered, and is logged.

use crate::call::Call;
use crate::drained;
use crate::exchange::{Exchange, RequestHead};
use crate::failure::{Failure, Statuses};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, Request, header};
use axum::response::Response;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_daemon::http::{FromAllowedOrigin, RemoteAddress};
use zerohop_pages::check_same_site;
use zerohop_system::clock;

const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
/// Content types that a browser sends to another site without asking.
const OF_FORMS: [&str; 4] =
    ["", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

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
    let is_allowed = parts.extensions.get::<FromAllowedOrigin>().is_some()
        || is_of_own_site(&parts.method, &parts.headers);
    let body = drained::read_when_dropped(exchange.count_received(body), &parts.headers);
    let head = RequestHead { begun, remote, method: parts.method.clone(), uri: parts.uri.clone() };
    let call = Call {
        method: parts.method,
        uri: parts.uri,
        headers: parts.headers,
        exchange: exchange.clone(),
    };
    let answer = match is_allowed {
        true => face.answer(call, remote, body).await,
        false => Err(Failure::not_permitted("A page of another site sent this request".to_owned())),
    };
    let mut response = answer.unwrap_or_else(|failure| failure.response(F::STATUSES));
    // Files hold any bytes, and a browser must not guess that they are a page.
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    exchange.log_when_sent(head, response)
}

/// Returns `false` if a form of another site's page can have sent the request: a POST with one of the content types that forms
/// have, or none. Browsers ask before they send anything else to another site.
fn is_of_own_site(method: &Method, headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(|kind| kind.to_str().unwrap_or_default());
    let kind = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
    let is_form = kind.is_none_or(|kind| OF_FORMS.iter().any(|of| kind.eq_ignore_ascii_case(of)));
    *method != Method::POST || !is_form || check_same_site(headers).is_ok()
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

    async fn ask(request: axum::http::request::Builder) -> Response {
        let face = Arc::new(HttpFs::new(Conf::new()).unwrap());
        let remote = RemoteAddress(SocketAddr::from(([127, 0, 0, 1], 1)));
        handle(State(face), remote, request.body(Body::empty()).unwrap()).await
    }

    #[tokio::test]
    async fn a_form_of_another_site_could_post_files_and_truncate_them() {
        for operation in ["PUTARCHIVE", "TRUNCATE&newlength=0", "CONCAT&sources=/b"] {
            let uri = format!("/webhdfs/v1/a?user.name=root&op={operation}");
            let post = || Request::post(&uri).header("host", "gw:14000");
            for kind in [None, Some("multipart/form-data; boundary=b"), Some("Text/Plain;x")] {
                let form = |from: &str| {
                    let form = post().header("origin", from);
                    kind.into_iter().fold(form, |form, kind| form.header("content-type", kind))
                };
                let refused = ask(form("http://evil.example")).await;
                assert_eq!(refused.status(), 403, "{operation}, {kind:?}");
                // There is no cluster: what is let through is refused by another status.
                assert_ne!(ask(form("http://gw:14000")).await.status(), 403, "{operation}");
            }
            let asked_before = post().header("origin", "http://evil.example");
            let asked_before = asked_before.header("content-type", "application/octet-stream");
            assert_ne!(ask(asked_before).await.status(), 403, "{operation}");
            assert_ne!(ask(post().header("user-agent", "curl/8")).await.status(), 403);
        }
    }

    /// APPEND, TRUNCATE and CONCAT have no body, and so the content type of a form.
    #[tokio::test]
    async fn a_page_of_an_allowed_origin_could_not_post() {
        for operation in ["APPEND", "TRUNCATE&newlength=0", "CONCAT&sources=/b"] {
            let uri = format!("/webhdfs/v1/a?user.name=root&op={operation}");
            let post = Request::post(&uri).header("host", "gw:14000");
            let allowed = post.header("origin", "http://app.example").extension(FromAllowedOrigin);
            assert_ne!(ask(allowed).await.status(), 403, "{operation}");
        }
    }

    #[tokio::test]
    async fn browsers_could_take_the_bytes_of_an_answer_for_a_page() {
        for uri in ["/webhdfs/v1/a?op=OPEN&user.name=u", "/webhdfs/v1/?op=NONE", "/webhdfs/v1"] {
            let answer = ask(Request::get(uri)).await;
            assert_eq!(answer.headers()["x-content-type-options"], "nosniff", "{uri}");
        }
    }
}
