//! The names of files in archives, which lie below a directory.

use crate::failure::Failure;
use crate::request::Request;
use crate::upload::{CreateDefaults, NewFile};
use zerohop_client::FileSystem;

/// The path of an archive's file below a directory.
///
/// # Errors
/// If the name is absolute, empty, or leads out of the directory.
pub(super) fn below(directory: &str, name: &str) -> Result<String, Failure> {
    let refuse =
        |why: &str| Failure::illegal(format!("{name:?} is not a name in an archive: {why}"));
    if name.starts_with('/') {
        return Err(refuse("it is absolute"));
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.is_empty() {
        return Err(refuse("it is empty"));
    }
    if parts.contains(&"..") {
        return Err(refuse("it has .. in it"));
    }
    Ok(format!("{}/{}", directory.trim_end_matches('/'), parts.join("/")))
}

/// The name of a path in an archive of a directory.
pub(super) fn relative<'a>(directory: &str, path: &'a str) -> &'a str {
    let below = path.strip_prefix(directory.trim_end_matches('/')).unwrap_or(path);
    below.trim_start_matches('/')
}

/// Begins a file of an archive.
pub(super) async fn begin(
    fs: &FileSystem,
    request: &Request,
    defaults: CreateDefaults,
    name: &str,
) -> Result<NewFile, Failure> {
    NewFile::begin(fs, request, defaults, &below(&request.path, name)?).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_directory() {
        assert_eq!(below("/a/", "./b//c").unwrap(), "/a/b/c");
        assert_eq!(below("/", "b").unwrap(), "/b");
        assert_eq!(below("/a", "..b/c..").unwrap(), "/a/..b/c..");
        for bad in ["", ".", "./", "/b", "../b", "b/../../c", "b/.."] {
            assert!(below("/a", bad).is_err(), "{bad}");
        }
        assert_eq!((relative("/a", "/a/b/c"), relative("/", "/b")), ("b/c", "b"));
    }
}
