//! What a request is refused with: a status, and a `RemoteException` as Java's servers write it.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::borrow::Cow;
use std::fmt;
use zerohop_client::{Error, ErrorKind};
use zerohop_wire::RemoteException;

/// Why a request was refused.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    /// The Java class of the exception, with its package.
    class: Cow<'static, str>,
    message: String,
}

const IO: &str = "java.io.IOException";
const ILLEGAL: &str = "java.lang.IllegalArgumentException";
const UNSUPPORTED: &str = "java.lang.UnsupportedOperationException";
const NOT_FOUND: &str = "java.io.FileNotFoundException";

impl Failure {
    fn new(status: StatusCode, class: impl Into<Cow<'static, str>>, message: String) -> Self {
        Self { status, class: class.into(), message }
    }

    /// The request makes no sense.
    pub(crate) fn illegal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ILLEGAL, message.into())
    }

    /// The operation is known and not done.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, UNSUPPORTED, message.into())
    }

    /// The caller did not say who it is, or may not be whom it says.
    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        let class = "org.apache.hadoop.security.authentication.client.AuthenticationException";
        Self::new(StatusCode::UNAUTHORIZED, class, message.into())
    }

    /// The caller may not do this; `refusal` is what a server of Apache's answers.
    pub(crate) fn forbidden(refusal: RemoteException) -> Self {
        Self::new(StatusCode::FORBIDDEN, refusal.class, refusal.message)
    }

    /// This gateway does not do this for anybody.
    pub(crate) fn not_permitted(message: String) -> Self {
        let class = "org.apache.hadoop.security.AccessControlException";
        Self::new(StatusCode::FORBIDDEN, class, message)
    }

    /// An I/O error.
    pub(crate) fn io(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, IO, message.into())
    }

    /// A range that the file does not have.
    pub(crate) fn not_satisfiable(len: u64) -> Response {
        let failure = Self::new(
            StatusCode::RANGE_NOT_SATISFIABLE,
            IO,
            format!("The file has {len} bytes, and the range begins behind them"),
        );
        let mut response = failure.into_response();
        if let Ok(value) = format!("bytes */{len}").parse() {
            response.headers_mut().insert(header::CONTENT_RANGE, value);
        }
        response
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// `HttpFSExceptionProvider`: what is no I/O error has a status of its own.
fn status_of(class: &str) -> StatusCode {
    match class {
        NOT_FOUND => StatusCode::NOT_FOUND,
        "java.lang.SecurityException" => StatusCode::UNAUTHORIZED,
        ILLEGAL
        | UNSUPPORTED
        | "org.apache.hadoop.HadoopIllegalArgumentException"
        | "org.apache.hadoop.fs.InvalidPathException" => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let class = match (error.java_class(), error.kind()) {
            (Some(class), _) => class.to_owned().into(),
            (None, ErrorKind::NotFound) => NOT_FOUND.into(),
            (None, ErrorKind::Invalid) => ILLEGAL.into(),
            (None, ErrorKind::Unsupported) => UNSUPPORTED.into(),
            (None, _) => Cow::Borrowed(IO),
        };
        // Apache's servers put a stack trace behind the first line.
        let message = error.server_message().map_or_else(|| error.to_string(), str::to_owned);
        let message = message.lines().next().unwrap_or_default().to_owned();
        Self::new(status_of(&class), class, message)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let name = self.class.rsplit(['.', '$']).next().unwrap_or_default();
        let body = json!({ "RemoteException": {
            "message": self.message,
            "exception": name,
            "javaClassName": self.class,
        }});
        let kind = (header::CONTENT_TYPE, "application/json");
        (self.status, [kind], body.to_string()).into_response()
    }
}
