//! Paths with scheme and host as text, without any file system.

use zerohop_conf::{Authority, Conf};

use crate::failure::Outcome;
use crate::running::check_named;

/// The parts of a path with an optional scheme and host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub scheme: Option<String>,
    pub authority: Option<String>,
    pub path: String,
}

impl Location {
    /// A scheme is what stands before `:/`, a host what follows `//`.
    pub fn parse(text: &str) -> Location {
        let zerohop_conf::Location { scheme, authority, path } =
            zerohop_conf::Location::parse(text);
        Location { scheme, authority, path }
    }

    /// Returns `true` if the text names this scheme, in capitals or not.
    pub fn has_scheme(&self, scheme: &str) -> bool {
        self.scheme.as_deref().is_some_and(|found| found.eq_ignore_ascii_case(scheme))
    }

    /// Returns the authority of an HDFS as something to compare and to connect to.
    pub fn place(&self) -> Option<Authority> {
        self.authority.as_deref().map(Authority::parse)
    }

    /// Where paths without scheme and host belong; it has a scheme.
    pub fn default_of(conf: &Conf) -> Outcome<Location> {
        check_named(conf)?;
        Ok(Location::parse(&conf.default_fs()?))
    }

    /// What stands in front of the path.
    pub fn prefix(&self) -> String {
        match (&self.scheme, &self.authority) {
            (Some(scheme), Some(authority)) => format!("{scheme}://{authority}"),
            (Some(scheme), None) => format!("{scheme}://"),
            (None, Some(authority)) => format!("//{authority}"),
            (None, None) => String::new(),
        }
    }
}

/// The absolute path without doubled slashes, `.` and `..`.
pub fn absolute(path: &str, home: &str) -> String {
    let joined;
    let path = if path.starts_with('/') {
        path
    } else {
        joined = format!("{home}/{path}");
        &joined
    };
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            _ => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

/// The path of an entry of a directory.
pub fn child(directory: &str, name: &str) -> String {
    if directory.ends_with('/') {
        format!("{directory}{name}")
    } else {
        format!("{directory}/{name}")
    }
}

/// The directory above; `None` for the root.
pub fn parent(path: &str) -> Option<&str> {
    if path == "/" {
        return None;
    }
    let end = path.rfind('/')?;
    Some(if end == 0 { "/" } else { &path[..end] })
}

/// The last name of a path.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// `path` seen from `home`, as PathData.relativize; `.` for `home` itself.
pub fn relative(home: &str, path: &str) -> String {
    if home == path {
        return ".".to_owned();
    }
    let from: Vec<&str> = home.split('/').filter(|name| !name.is_empty()).collect();
    let to: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut names = vec![".."; from.len() - common];
    names.extend_from_slice(&to[common..]);
    names.join("/")
}

/// A text with `%20` and the like, decoded; `None` where it has no such thing.
pub fn decoded(text: &str) -> Option<String> {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned()).filter(|decoded| decoded != text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations() {
        let parts = |text: &str| {
            let location = Location::parse(text);
            (
                location.scheme.unwrap_or_default(),
                location.authority.unwrap_or_default(),
                location.path,
            )
        };
        let expect = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(parts("hdfs://h:8020/a/b"), expect("hdfs", "h:8020", "/a/b"));
        assert_eq!(parts("hdfs:///a"), expect("hdfs", "", "/a"));
        assert_eq!(parts("file:/a"), expect("file", "", "/a"));
        assert_eq!(parts("hdfs://h"), expect("hdfs", "h", ""));
        assert_eq!(parts("a:b/c"), expect("", "", "a:b/c"));
        assert_eq!(parts("/a:b"), expect("", "", "/a:b"));
    }

    #[test]
    fn paths_are_made_absolute_and_relative_again() {
        assert_eq!(absolute("//a/./b/../c/", "/h"), "/a/c");
        assert_eq!(absolute("a", "/h"), "/h/a");
        assert_eq!(absolute("..", "/"), "/");
        assert_eq!(relative("/user/me", "/user/me/a/b"), "a/b");
        assert_eq!(relative("/user/me", "/user/you"), "../you");
        assert_eq!(relative("/user/me", "/"), "../..");
        assert_eq!(relative("/user/me", "/user/me"), ".");
        assert_eq!(parent("/a"), Some("/"));
        assert_eq!(parent("/"), None);
    }

    #[test]
    fn escapes_of_uris() {
        assert_eq!(decoded("a%20b%c3%A9").as_deref(), Some("a bé"));
        for text in ["a b", "100%", "%zz", "%f", "%ff"] {
            assert_eq!(decoded(text), None, "{text}");
        }
    }
}
