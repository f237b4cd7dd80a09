//! What a request is refused with: a status, and a `RemoteException` as Java's servers write it.

use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;
use zerohop_client::{Error, ErrorKind};
use zerohop_wire::RemoteException;

/// Why a request was refused.
#[derive(Debug)]
pub(crate) struct Failure {
    /// None where the class says it.
    status: Option<StatusCode>,
    /// The Java class of the exception, with its package.
    class: Cow<'static, str>,
    message: String,
    lease: Option<Box<Lease>>,
    /// The message that WebHDFS has for a parameter that cannot be read, where `message` is HttpFS's; `None` for other failures.
    of_parameter: Option<Box<str>>,
}

/// Who writes the file that a request wants to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    /// The name of the client.
    pub(crate) holder: String,
    /// Since the file was changed last: the client has not had it for longer without writing.
    pub(crate) age_max: Duration,
}

const IO: &str = "java.io.IOException";
const ILLEGAL: &str = "java.lang.IllegalArgumentException";
const UNSUPPORTED: &str = "java.lang.UnsupportedOperationException";
const NOT_FOUND: &str = "java.io.FileNotFoundException";

/// What is asked for with other methods is refused.
const METHODS: &str = "DELETE,GET,HEAD,OPTIONS,POST,PUT";

/// Answers a request for the methods that are served.
pub(crate) fn allowed_methods() -> Response {
    (StatusCode::OK, [(header::ALLOW, METHODS)]).into_response()
}

/// Who writes the file, and for how many seconds at most.
const LEASE_HOLDER: HeaderName = HeaderName::from_static("zerohop-lease-holder");
const LEASE_AGE_MAX: HeaderName = HeaderName::from_static("zerohop-lease-age-max");

/// By whose rules exceptions become statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statuses {
    /// `HttpFSExceptionProvider`: what no rule names is an error of the server.
    HttpFs,
    /// WebHDFS's `ExceptionHandler`: I/O errors are refusals.
    WebHdfs,
}

impl Failure {
    fn new(class: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        let (class, message) = (class.into(), message.into());
        Self { status: None, class, message, lease: None, of_parameter: None }
    }

    fn with_status(self, status: StatusCode) -> Self {
        Self { status: Some(status), ..self }
    }

    /// The same, with the client that is in the way.
    pub(crate) fn with_lease(self, lease: Lease) -> Self {
        Self { lease: Some(Box::new(lease)), ..self }
    }

    /// The request makes no sense.
    pub(crate) fn illegal(message: impl Into<String>) -> Self {
        Self::new(ILLEGAL, message)
    }

    /// Creates the refusal of an ACL entry (`AclEntry.parseAclEntry`).
    pub(crate) fn acl_entry(message: impl Into<String>) -> Self {
        Self::new("org.apache.hadoop.HadoopIllegalArgumentException", message)
    }

    /// Creates the refusal of a malformed parameter, for which HttpFS and WebHDFS have different messages.
    pub(crate) fn parameter(of_httpfs: String, of_webhdfs: String) -> Self {
        Self { of_parameter: Some(of_webhdfs.into()), ..Self::illegal(of_httpfs) }
    }

    /// The operation is known and not done.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(UNSUPPORTED, message)
    }

    /// No operation is asked for with this method.
    pub(crate) fn method_not_allowed(method: &Method) -> Self {
        let message = format!("No operation is asked for with {method}");
        Self::new(UNSUPPORTED, message).with_status(StatusCode::METHOD_NOT_ALLOWED)
    }

    /// There is nothing of that name.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(NOT_FOUND, message)
    }

    /// Something is at the path already, and is not to be replaced.
    pub(crate) fn exists(path: &str) -> Self {
        let class = "org.apache.hadoop.fs.FileAlreadyExistsException";
        Self::new(class, format!("{path} already exists"))
    }

    /// The caller did not say who it is, or may not be whom it says.
    pub(crate) fn unauthorized(message: impl Into<String>) -> Self {
        let class = "org.apache.hadoop.security.authentication.client.AuthenticationException";
        Self::new(class, message).with_status(StatusCode::UNAUTHORIZED)
    }

    /// A part of this process refuses as a server of Apache's does.
    pub(crate) fn refused(refusal: RemoteException) -> Self {
        Self::new(refusal.class, refusal.message)
    }

    /// The caller may not do this; `refusal` is what a server of Apache's answers.
    pub(crate) fn forbidden(refusal: RemoteException) -> Self {
        Self::new(refusal.class, refusal.message).with_status(StatusCode::FORBIDDEN)
    }

    /// This gateway does not do this for anybody.
    pub(crate) fn not_permitted(message: String) -> Self {
        let class = "org.apache.hadoop.security.AccessControlException";
        Self::new(class, message).with_status(StatusCode::FORBIDDEN)
    }

    /// A delegation token that nobody gave.
    pub(crate) fn invalid_token() -> Self {
        let class = "org.apache.hadoop.security.token.SecretManager$InvalidToken";
        Self::new(class, "Renewal or cancellation of a token that is not known")
    }

    /// Storage policies are satisfied by the mover.
    pub(crate) fn no_policy_satisfier() -> Self {
        let class = "org.apache.hadoop.hdfs.server.namenode.UnsupportedActionException";
        let message = "Cannot request to satisfy storage policy when storage policy satisfier feature has been disabled by admin. Seek for an admin help to enable it or use Mover tool.";
        Self::new(class, message)
    }

    /// A path lacks one of the attributes that the request names.
    pub(crate) fn no_such_xattr() -> Self {
        let class = "org.apache.hadoop.hdfs.protocol.XAttrNotFoundException";
        Self::new(class, "At least one of the attributes provided was not found.")
    }

    /// What the request asks for depends on something that is not so.
    pub(crate) fn precondition(message: String) -> Self {
        Self::new(IO, message).with_status(StatusCode::PRECONDITION_FAILED)
    }

    /// The caller did not send its request's body in time.
    pub(crate) fn timeout(message: String) -> Self {
        Self::new("java.net.SocketTimeoutException", message)
            .with_status(StatusCode::REQUEST_TIMEOUT)
    }

    /// The caller asks too often.
    pub(crate) fn too_many(message: String) -> Self {
        Self::new(IO, message).with_status(StatusCode::TOO_MANY_REQUESTS)
    }

    /// An I/O error.
    pub(crate) fn io(message: impl Into<String>) -> Self {
        Self::new(IO, message)
    }

    /// A range that the file does not have.
    pub(crate) fn not_satisfiable(len: u64) -> Response {
        let message = format!("The file has {len} bytes, and the range begins behind them");
        let failure = Self::new(IO, message).with_status(StatusCode::RANGE_NOT_SATISFIABLE);
        let mut response = failure.response(Statuses::HttpFs);
        if let Ok(value) = format!("bytes */{len}").parse() {
            response.headers_mut().insert(header::CONTENT_RANGE, value);
        }
        response
    }

    /// Returns the exception, as Java's servers with these rules write it.
    pub(crate) fn exception(&self, statuses: Statuses) -> Value {
        let name = self.class.rsplit(['.', '$']).next().unwrap_or_default();
        let message = match (&self.of_parameter, statuses) {
            (None, _) => Cow::Borrowed(self.message.as_str()),
            (Some(message), Statuses::WebHdfs) => Cow::Borrowed(&**message),
            // HttpFS shows the exception that caused this one.
            (Some(_), Statuses::HttpFs) => Cow::Owned(format!("{ILLEGAL}: {}", self.message)),
        };
        json!({ "message": message, "exception": name, "javaClassName": self.class })
    }

    /// The status that servers with these rules give it.
    pub(crate) fn status(&self, statuses: Statuses) -> StatusCode {
        self.status.unwrap_or_else(|| statuses.of_class(&self.class))
    }

    /// The answer, as servers with these rules give it.
    pub(crate) fn response(self, statuses: Statuses) -> Response {
        let body = json!({ "RemoteException": self.exception(statuses) });
        let status = self.status(statuses);
        let kind = [(header::CONTENT_TYPE, "application/json")];
        let mut response = (status, kind, body.to_string()).into_response();
        if status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(METHODS));
        }
        if let Some(lease) = self.lease {
            let age = lease.age_max.as_secs().to_string();
            for (name, value) in [(LEASE_HOLDER, lease.holder), (LEASE_AGE_MAX, age)] {
                if let Ok(value) = HeaderValue::from_str(&value) {
                    response.headers_mut().insert(name, value);
                }
            }
        }
        response
    }
}

impl Statuses {
    fn of_class(self, class: &str) -> StatusCode {
        match (class, self) {
            (NOT_FOUND, _) => StatusCode::NOT_FOUND,
            ("java.lang.SecurityException", Self::HttpFs) => StatusCode::UNAUTHORIZED,
            ("java.lang.SecurityException", Self::WebHdfs) => StatusCode::FORBIDDEN,
            (
                ILLEGAL
                | UNSUPPORTED
                | "org.apache.hadoop.HadoopIllegalArgumentException"
                | "org.apache.hadoop.fs.InvalidPathException",
                _,
            ) => StatusCode::BAD_REQUEST,
            // Another client writes the file; the message names it. HttpFS has 500 for these, too.
            (
                "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException"
                | "org.apache.hadoop.hdfs.protocol.RecoveryInProgressException",
                Self::HttpFs,
            ) => StatusCode::CONFLICT,
            (_, Self::HttpFs) => StatusCode::INTERNAL_SERVER_ERROR,
            // No I/O errors, all others are.
            (class, Self::WebHdfs) if class.starts_with("java.lang.") => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
            (_, Self::WebHdfs) => StatusCode::FORBIDDEN,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
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
        Self::new(class, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conflict_names_the_holder_and_how_long_it_may_have_had_the_file() {
        let class = "org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException";
        let lease = Lease { holder: "DFSClient_a".to_owned(), age_max: Duration::from_secs(7) };
        let response = Failure::new(class, "x").with_lease(lease).response(Statuses::HttpFs);
        assert_eq!(response.status(), StatusCode::CONFLICT);
        assert_eq!(response.headers()["zerohop-lease-holder"], "DFSClient_a");
        assert_eq!(response.headers()["zerohop-lease-age-max"], "7");
    }

    #[test]
    fn statuses_are_those_of_the_server_in_question() {
        let statuses = |failure: fn() -> Failure| {
            [Statuses::HttpFs, Statuses::WebHdfs]
                .map(|rules| failure().response(rules).status().as_u16())
        };
        assert_eq!(statuses(|| Failure::io("x")), [500, 403]);
        assert_eq!(statuses(|| Failure::not_found("x")), [404, 404]);
        assert_eq!(statuses(|| Failure::illegal("x")), [400, 400]);
        assert_eq!(statuses(|| Failure::unauthorized("x")), [401, 401]);

        assert_eq!(statuses(|| Failure::new("java.lang.NullPointerException", "x")), [500, 500]);
        assert_eq!(
            statuses(|| Failure::new("org.apache.hadoop.ipc.StandbyException", "x")),
            [500, 403]
        );
    }
}
