//! What a request asks for: WebHDFS's URLs, and Hoop's, which have no prefix.

use crate::failure::Failure;
use crate::operation::Operation;
use crate::params::Params;
use axum::http::{Method, Uri};
use percent_encoding::percent_decode_str;

const PREFIX: &str = "/webhdfs/v1";

/// What a request asks for.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) operation: Operation,
    /// Absolute, decoded.
    pub(crate) path: String,
    pub(crate) params: Params,
    /// Whether the URL is one of Hoop's.
    pub(crate) is_hoop: bool,
}

impl Request {
    pub(crate) fn read(method: &Method, uri: &Uri) -> Result<Self, Failure> {
        let params = Params::parse(uri.query().unwrap_or_default());
        let below = uri.path().strip_prefix(PREFIX);
        let below = below.filter(|path| path.is_empty() || path.starts_with('/'));
        let path = percent_decode_str(below.unwrap_or(uri.path())).decode_utf8();
        let path = path.map_err(|_| Failure::illegal("The path is not UTF-8"))?;
        let path = if path.is_empty() { "/".to_owned() } else { path.into_owned() };
        let operation = match params.text("op") {
            Some(name) => Operation::find(name).ok_or_else(|| {
                Failure::illegal(format!(
                    "No enum constant org.apache.hadoop.fs.http.client.HttpFSFileSystem.Operation.{}",
                    name.to_ascii_uppercase()
                ))
            })?,
            // To get a path is to read it.
            None if below.is_none() && matches!(*method, Method::GET | Method::HEAD) => Operation::Open,
            None => return Err(Failure::illegal("Parameter [op] is missing")),
        };
        if !operation.takes(method) {
            return Err(Failure::io(format!(
                "Invalid HTTP {method} operation [{}]",
                operation.name()
            )));
        }
        Ok(Self { operation, path, params, is_hoop: below.is_none() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: Method, uri: &str) -> Result<Request, Failure> {
        Request::read(&method, &uri.parse().unwrap())
    }

    #[test]
    fn paths_are_decoded_once() {
        let request = read(Method::GET, "/webhdfs/v1/a%20b/%C3%A9%2525+?op=open").unwrap();
        assert_eq!((request.path.as_str(), request.operation), ("/a b/é%25+", Operation::Open));
        assert_eq!(read(Method::PUT, "/webhdfs/v1?op=MKDIRS").unwrap().path, "/");
        assert!(read(Method::GET, "/webhdfs/v1/%FF?op=OPEN").is_err());
    }

    #[test]
    fn hoop_reads_what_it_gets_and_creates_by_post() {
        let request = read(Method::GET, "/d/f?user.name=u").unwrap();
        assert_eq!(
            (request.path.as_str(), request.operation, request.is_hoop),
            ("/d/f", Operation::Open, true)
        );
        assert_eq!(read(Method::POST, "/d/f?op=create").unwrap().operation, Operation::Create);
        assert_eq!(read(Method::GET, "/webhdfs/v1x?user.name=u").unwrap().path, "/webhdfs/v1x");
    }

    #[test]
    fn operations_are_asked_for_with_their_method() {
        let refused = |method, uri| read(method, uri).unwrap_err().to_string();
        assert_eq!(
            refused(Method::GET, "/webhdfs/v1/a?op=DELETE"),
            "Invalid HTTP GET operation [DELETE]"
        );
        assert!(refused(Method::GET, "/webhdfs/v1/a?op=foo").ends_with("Operation.FOO"));
        assert!(refused(Method::GET, "/webhdfs/v1/a").contains("missing"));
        assert!(refused(Method::PUT, "/a").contains("missing"));
    }
}
