//! URLs of a daemon's port that another part of the process answers.

use super::page::Page;
use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use std::sync::OnceLock;
use tower_service::Service;

/// A place in a daemon's URLs for the pages of another part of the process, which a daemon cannot depend on (WebHDFS, which
/// is a client of the cluster). Nothing is there until it is mounted.
#[derive(Debug, Default)]
pub struct MountPoint(OnceLock<Router>);

impl MountPoint {
    /// Answers requests by `router` from here on; the first one stays.
    pub fn mount(&self, router: Router) {
        _ = self.0.set(router);
    }

    /// Whether anything is mounted.
    pub fn is_mounted(&self) -> bool {
        self.0.get().is_some()
    }

    /// Answers a request; with status 404 while nothing is mounted.
    pub async fn answer(&self, request: Request<Body>) -> Response {
        match self.0.get() {
            Some(router) => match router.clone().call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            },
            None => Page::text("Nothing is served here.\n")
                .with_status(StatusCode::NOT_FOUND)
                .into_response(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;

    #[tokio::test]
    async fn what_is_mounted_first_answers() {
        let mount = MountPoint::default();
        let ask = async || {
            let request = Request::builder().uri("/a").body(Body::empty()).unwrap();
            mount.answer(request).await.status().as_u16()
        };
        assert_eq!((ask().await, mount.is_mounted()), (404, false));
        mount.mount(Router::new().route("/a", get(async || "a")));
        mount.mount(Router::new());
        assert_eq!(ask().await, 200);
    }
}
