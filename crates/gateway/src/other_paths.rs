//! The paths in the parameters of a request: the destination of a RENAME, and the sources of a CONCAT.

use crate::failure::Failure;
use crate::operation::Operation;
use crate::paths::{merged, normalised};
use crate::request::Request;
use std::borrow::Cow;
use zerohop_client::FileSystem;
use zerohop_conf::Location;

/// Returns the path of the parameter `destination`, as `DestinationParam` and HttpFS read it.
///
/// # Errors
/// Fails if it is missing, or if it is relative and the request came to WebHDFS.
pub(crate) fn destination(fs: &FileSystem, request: &Request) -> Result<String, Failure> {
    let text = request.params.needed("destination")?;
    if request.is_of_httpfs {
        return Ok(of_httpfs(fs, text));
    }
    match text.starts_with('/') {
        true => Ok(normalised(text)),
        false => Err(Failure::illegal(format!(
            "Invalid value for webhdfs parameter \"destination\": Invalid parameter value: destination = \"{text}\" \
             is not an absolute path."
        ))),
    }
}

/// Returns the paths of the parameter `sources`.
///
/// # Errors
/// Fails if it is missing.
pub(crate) fn sources(fs: &FileSystem, request: &Request) -> Result<Vec<String>, Failure> {
    let all = request.params.needed("sources")?.split(',');
    let read = |text| if request.is_of_httpfs { of_httpfs(fs, text) } else { merged_source(text) };
    Ok(all.map(read).collect())
}

/// Returns the paths besides its own that an operation takes a file from, or replaces a file at.
///
/// # Errors
/// Returns the same errors as [`destination`] and [`sources`].
pub(crate) fn all(fs: &FileSystem, request: &Request) -> Result<Vec<String>, Failure> {
    match request.operation {
        Operation::Rename => Ok(vec![destination(fs, request)?]),
        Operation::Concat => sources(fs, request),
        _ => Ok(Vec::new()),
    }
}

/// Returns the path of a source. Leaves a relative one as is: the client refuses it.
fn merged_source(text: &str) -> String {
    if text.starts_with('/') { merged(text) } else { text.to_owned() }
}

/// Returns a path as HttpFS reads it: the address of this file system may stand before it, and one that is relative begins at the
/// user's home directory.
fn of_httpfs(fs: &FileSystem, text: &str) -> String {
    let text = without_address(text, fs.uri());
    match text.starts_with('/') {
        true => normalised(&text),
        // Another file system's: the client refuses it.
        false if text.contains("://") => text.into_owned(),
        false => normalised(&format!("{}/{text}", fs.home())),
    }
}

/// Returns the path of `webhdfs://host:port/path`, by which HttpFS's own client names the new place, and of a path below the
/// address of the file system.
fn without_address<'a>(text: &'a str, own: &str) -> Cow<'a, str> {
    let location = Location::parse(text);
    let is_own = location.has_scheme("hdfs") && location.place() == Location::parse(own).place();
    let is_known = is_own || location.has_scheme("webhdfs") || location.has_scheme("swebhdfs");
    match is_known && location.path.starts_with('/') {
        true => Cow::Owned(location.path),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Method;
    use zerohop_client::User;
    use zerohop_conf::Conf;

    fn file_system() -> FileSystem {
        let mut conf = Conf::new();
        conf.set("fs.defaultFS", "hdfs://nn:8020");
        FileSystem::connect_as(&conf, None, User::new("ann")).unwrap()
    }

    #[tokio::test]
    async fn the_address_of_a_new_place_was_taken_for_a_part_of_its_path() {
        for (text, path) in [
            ("webhdfs://gw:14000/a/b", "/a/b"),
            ("swebhdfs://gw/a b", "/a b"),
            ("/a/webhdfs://x/b", "/a/webhdfs://x/b"),
            ("hdfs://nn:8020/a", "/a"),
            ("hdfs://nn/a", "/a"),
            ("hdfs://bob@NN/a", "/a"),
            ("hdfs://mm/a", "hdfs://mm/a"),
            ("hdfs://nn:80201/a", "hdfs://nn:80201/a"),
            ("webhdfs://gw", "webhdfs://gw"),
        ] {
            assert_eq!(without_address(text, file_system().uri()), path, "{text}");
        }
    }

    #[tokio::test]
    async fn a_new_place_with_doubled_slashes_or_dots_was_refused() {
        let fs = file_system();
        let to = |is_httpfs: bool, text: &str| {
            let uri = format!("/webhdfs/v1/f?op=RENAME&destination={text}").parse().unwrap();
            let read = if is_httpfs { Request::of_httpfs } else { Request::of_webhdfs };
            destination(&fs, &read(&Method::PUT, &uri).unwrap()).map_err(|why| why.to_string())
        };
        for (text, path) in [
            ("//x", "/x"),
            ("/a//b/", "/a/b"),
            ("/a/./b", "/a/b"),
            ("/a/q/../b", "/a/b"),
            ("/../b", "/../b"),
        ] {
            assert_eq!(to(true, text).as_deref(), Ok(path), "{text}");
            assert_eq!(to(false, text).as_deref(), Ok(path), "{text}");
        }
        assert_eq!(to(true, "x").as_deref(), Ok("/user/ann/x"));
        assert_eq!(to(true, "..").as_deref(), Ok("/user"));
        assert_eq!(to(true, "hdfs://nn:8020/a//b").as_deref(), Ok("/a/b"));
        let relative = "Invalid parameter value: destination = \"x\" is not an absolute path.";
        assert!(to(false, "x").unwrap_err().ends_with(relative));
    }

    #[tokio::test]
    async fn sources_with_dots_are_resolved_on_httpfs_only() {
        let fs = file_system();
        let uri = "/webhdfs/v1/f?op=CONCAT&sources=/a//b,/a/./c/,d".parse().unwrap();
        let of = |request: Request| sources(&fs, &request).unwrap();
        let httpfs = of(Request::of_httpfs(&Method::POST, &uri).unwrap());
        assert_eq!(httpfs, ["/a/b", "/a/c", "/user/ann/d"]);
        let webhdfs = of(Request::of_webhdfs(&Method::POST, &uri).unwrap());
        assert_eq!(webhdfs, ["/a/b", "/a/./c", "d"]);
    }
}
