//! The port of a NameNode that is still loading: the page of the start, and then all pages.

use super::{site, start_up};
use crate::start_progress::StartProgress;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use zerohop_daemon::http::{Health, MountPoint, Page};
use zerohop_pages::{Body, Content, Level, Notice, Section, Site};

/// Programs wait so long for a NameNode that is loading.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The pages of a NameNode that starts.
#[derive(Clone)]
pub(crate) struct Starting {
    address: String,
    progress: Arc<StartProgress>,
    pages: Arc<MountPoint>,
    is_open: watch::Sender<bool>,
}

impl Starting {
    pub(crate) fn new(address: String, progress: Arc<StartProgress>) -> Self {
        Self { address, progress, pages: Arc::default(), is_open: watch::channel(false).0 }
    }

    /// The router of the port.
    pub(crate) fn router(&self) -> Router {
        Router::new().fallback(answer).with_state(self.clone()).merge(zerohop_pages::assets())
    }

    /// The NameNode is loaded: these are its pages.
    pub(crate) fn open(&self, pages: Router) {
        self.pages.mount(pages);
        self.is_open.send_replace(true);
    }

    fn page(&self) -> Response {
        let site = Site {
            kind: "NameNode",
            name: self.address.clone(),
            state: Some(("starting".to_owned(), Level::Warn)),
            nav: site::nav(),
        };
        let notice = Notice::new(
            Level::Warn,
            "This NameNode is loading its namespace. It serves nothing else yet.",
        );
        let phases = Body::Table(start_up::phases(&self.progress));
        let content = Content::new()
            .with(Section::new("notices", Body::Notices(vec![notice])))
            .with(Section::new("phases", phases).titled("Start"))
            .every(1000);
        site.page("Start-up and safe mode", "/startup", &content).into_response()
    }
}

async fn answer(State(starting): State<Starting>, request: Request) -> Response {
    let mut is_open = starting.is_open.subscribe();
    if !*is_open.borrow() {
        if ["/", "/startup", "/dfshealth.html"].contains(&request.uri().path()) {
            return starting.page();
        }
        if request.uri().path().starts_with("/health") {
            let health = Health::new().with("state", "starting");
            let reason = "the NameNode is loading its namespace";
            return health.with_problem(reason).page("NameNode").into_response();
        }
        // Programs that came early are answered when there is something to answer.
        let opened = tokio::time::timeout(WAIT_MAX, is_open.wait_for(|is_open| *is_open)).await;
        if opened.is_err() {
            return Page::text("NameNode is still loading\n")
                .with_status(StatusCode::SERVICE_UNAVAILABLE)
                .into_response();
        }
    }
    starting.pages.answer(request).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::routing::get;

    #[tokio::test]
    async fn a_program_that_comes_early_is_answered_when_the_namenode_is_loaded() {
        let starting = Starting::new("nn:8020".to_owned(), Arc::default());
        let ask = |path: &str| {
            let (port, path) = (MountPoint::default(), path.to_owned());
            port.mount(starting.router());
            async move {
                let request = Request::builder().uri(path).body(Body::empty()).unwrap();
                port.answer(request).await.status().as_u16()
            }
        };
        assert_eq!((ask("/").await, ask("/health").await), (200, 503));
        assert_eq!(ask("/static/zerohop.css").await, 200);
        let early = tokio::spawn(ask("/jmx"));
        tokio::task::yield_now().await;
        starting.open(Router::new().route("/jmx", get(async || "beans")));
        assert_eq!(early.await.unwrap(), 200);
        assert_eq!(ask("/").await, 404, "now the NameNode's own pages");
    }
}
