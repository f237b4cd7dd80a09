//! What a request asks for: WebHDFS's URLs, and Hoop's, which have no prefix.

use crate::call::PREFIX;
use crate::failure::Failure;
use crate::operation::Operation;
use crate::params::Params;
use crate::paths::{merged, normalised};
use axum::http::{Method, Uri};
use percent_encoding::percent_decode_str;

/// What a request asks for.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) operation: Operation,
    /// The absolute, decoded path, without doubled slashes and slashes at its end.
    pub(crate) path: String,
    pub(crate) params: Params,
    /// Whether the URL is one of Hoop's.
    pub(crate) is_hoop: bool,
    /// True if the request came to HttpFS's port, which reads paths as Hadoop's `Path` does.
    pub(crate) is_of_httpfs: bool,
}

impl Request {
    /// A CREATE without parameters, as a form of the file browser asks for it.
    pub(crate) fn of_form(path: &str) -> Self {
        let (operation, params) = (Operation::Create, Params::default());
        Self { operation, path: path.to_owned(), params, is_hoop: false, is_of_httpfs: false }
    }

    /// Reads a request to HttpFS's port.
    pub(crate) fn of_httpfs(method: &Method, uri: &Uri) -> Result<Self, Failure> {
        check_method(method)?;
        let params = Params::parse(uri.query().unwrap_or_default());
        let below = below_prefix(uri);
        let path = normalised(&decoded(below.unwrap_or(uri.path()))?);
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
        Ok(Self { operation, path, params, is_hoop: below.is_none(), is_of_httpfs: true })
    }

    /// Reads a request to WebHDFS on the port of a NameNode or DataNode.
    pub(crate) fn of_webhdfs(method: &Method, uri: &Uri) -> Result<Self, Failure> {
        check_method(method)?;
        let params = Params::parse(uri.query().unwrap_or_default());
        let Some(below) = below_prefix(uri) else {
            return Err(Failure::not_found(format!("{} is not served here", uri.path())));
        };
        let path = merged(&decoded(below)?);
        let Some(name) = params.text("op") else {
            return Err(Failure::unsupported("null is not supported"));
        };
        let operation = Operation::find(name).filter(|operation| {
            let reads_head = *operation == Operation::Open && method == Method::HEAD;
            !operation.is_of_gateway() && (operation.method() == method || reads_head)
        });
        let operation = operation.ok_or_else(|| {
            Failure::illegal(format!(
                "Invalid value for webhdfs parameter \"op\": {name} is not a valid {method} operation."
            ))
        })?;
        Ok(Self { operation, path, params, is_hoop: false, is_of_httpfs: false })
    }
}

fn check_method(method: &Method) -> Result<(), Failure> {
    let is_known = Operation::ALL.iter().any(|operation| operation.takes(method));
    if is_known { Ok(()) } else { Err(Failure::method_not_allowed(method)) }
}

fn below_prefix(uri: &Uri) -> Option<&str> {
    let below = uri.path().strip_prefix(PREFIX);
    below.filter(|path| path.is_empty() || path.starts_with('/'))
}

fn decoded(path: &str) -> Result<String, Failure> {
    let path = percent_decode_str(path).decode_utf8();
    let path = path.map_err(|_| Failure::illegal("The path is not UTF-8"))?;
    Ok(path.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: Method, uri: &str) -> Result<Request, Failure> {
        Request::of_httpfs(&method, &uri.parse().unwrap())
    }

    #[test]
    fn paths_are_decoded_once() {
        let request = read(Method::GET, "/webhdfs/v1/a%20b/%C3%A9%2525+?op=open").unwrap();
        assert_eq!((request.path.as_str(), request.operation), ("/a b/é%25+", Operation::Open));
        assert_eq!(read(Method::PUT, "/webhdfs/v1?op=MKDIRS").unwrap().path, "/");
        assert!(read(Method::GET, "/webhdfs/v1/%FF?op=OPEN").is_err());
        // Appends to one file queue by its path.
        for (uri, path) in [
            ("/webhdfs/v1/log/?op=APPEND", "/log"),
            ("/log/?op=append", "/log"),
            ("/webhdfs/v1/?op=APPEND", "/"),
            ("/webhdfs/v1//?op=APPEND", "/"),
            ("/webhdfs/v1/log//?op=APPEND", "/log"),
            ("/webhdfs/v1//a/./b/%2e%2e//log%2F?op=APPEND", "/a/log"),
            ("/a/../log?op=append", "/log"),
        ] {
            assert_eq!(read(Method::POST, uri).unwrap().path, path, "{uri}");
        }
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
        assert_eq!(
            refused(Method::PATCH, "/webhdfs/v1/a?op=OPEN"),
            "No operation is asked for with PATCH"
        );
        assert!(refused(Method::PUT, "/a").contains("missing"));
    }

    #[test]
    fn webhdfs_names_the_parameter_that_makes_no_sense() {
        let read = |method, uri: &str| Request::of_webhdfs(&method, &uri.parse().unwrap());
        let refused = |method, uri| read(method, uri).unwrap_err().to_string();
        let unknown = refused(Method::PUT, "/webhdfs/v1/a?op=open");
        assert!(unknown.ends_with("\"op\": open is not a valid PUT operation."), "{unknown}");
        assert_eq!(refused(Method::GET, "/webhdfs/v1/a"), "null is not supported");
        assert!(refused(Method::GET, "/webhdfs/v2/a?op=OPEN").contains("not served here"));
        assert_eq!(read(Method::HEAD, "/webhdfs/v1/a?OP=open").unwrap().operation, Operation::Open);
        let path = read(Method::GET, "/webhdfs/v1//a//b%2F/../c/?op=LISTSTATUS").unwrap().path;
        assert_eq!(path, "/a/b/../c", "only HttpFS resolves dots");
    }
}
