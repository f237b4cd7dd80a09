//! The HTTP client that spans leave by. It blocks: the SDK sends from a thread of its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use parking_lot::Mutex;

use zerohop_daemon::log_limiter::LogLimiter;

/// Answers are short: which spans were refused, and why.
const ANSWER_LEN_MAX: u64 = 1 << 20;

/// Sends requests to the collector.
#[derive(Debug)]
pub struct CollectorClient {
    agent: ureq::Agent,
    failures: Arc<Failures>,
}

/// Requests to the collector that failed; they are logged at a limited rate.
#[derive(Default)]
pub struct Failures {
    limiter: LogLimiter,
    last: Mutex<Option<String>>,
}

impl Failures {
    fn add(&self, text: String) {
        if self.limiter.allow() {
            tracing::warn!("{text}");
        }
        *self.last.lock() = Some(text);
    }

    /// Why the last request failed; `None` if none has.
    pub fn last(&self) -> Option<String> {
        self.last.lock().clone()
    }
}

impl fmt::Debug for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Failures").field(&self.last).finish()
    }
}

impl CollectorClient {
    /// A request may take `timeout`, answer included.
    pub fn new(timeout: Duration, failures: Arc<Failures>) -> Self {
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(timeout))
            .http_status_as_error(false)
            .build();
        Self { agent: config.into(), failures }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let (head, body) = request.into_parts();
        let answer = self.agent.run(Request::from_parts(head, body.as_ref()))?;
        let (head, mut body) = answer.into_parts();
        let bytes = body.with_config().limit(ANSWER_LEN_MAX).read_to_vec()?;
        Ok(Response::from_parts(head, bytes.into()))
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let uri = request.uri().clone();
        let answer = self.send(request);
        let failure = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(answer.status().to_string()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(failure) = failure {
            self.failures.add(format!("spans could not be sent to {uri}: {failure}"));
        }
        Ok(answer?)
    }
}
