//! A path as the user wrote it, with what it turned out to be.

use std::sync::Arc;

use super::store::{Status, Store};
use crate::failure::{Failure, Outcome};

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
        let colon = text.find(':').filter(|at| *at > 0 && text.find('/') == Some(at + 1));
        let (scheme, rest) = match colon {
            Some(at) => (Some(text[..at].to_owned()), &text[at + 1..]),
            None => (None, text),
        };
        let (authority, path) = match rest.strip_prefix("//").filter(|rest| !rest.is_empty()) {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let authority = Some(&rest[..end]).filter(|text| !text.is_empty());
                (authority.map(str::to_owned), &rest[end..])
            }
            None => (None, rest),
        };
        Location { scheme, authority, path: path.to_owned() }
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

/// The path of an entry of a folder.
pub fn child(folder: &str, name: &str) -> String {
    if folder.ends_with('/') { format!("{folder}{name}") } else { format!("{folder}/{name}") }
}

/// The folder above; `None` for the root.
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

/// A path of the command line or of a listing.
#[derive(Clone)]
pub struct Item {
    pub store: Arc<dyn Store>,
    /// As it is printed.
    pub text: String,
    /// Absolute, without scheme.
    pub path: String,
    /// `None`: it does not exist.
    pub status: Option<Status>,
}

impl Item {
    /// Looks a path up; it need not exist.
    pub fn look_up(store: &Arc<dyn Store>, text: &str) -> Outcome<Item> {
        let location = Location::parse(text);
        let path = absolute(&location.path, &store.home());
        let status = match store.status(&path) {
            Ok(status) => Some(status),
            Err(failure) if failure.is_not_found() => None,
            Err(failure) => return Err(failure),
        };
        Ok(Item { store: store.clone(), text: text.to_owned(), path, status })
    }

    pub fn exists(&self) -> bool {
        self.status.is_some()
    }

    pub fn is_dir(&self) -> bool {
        self.status.as_ref().is_some_and(Status::is_dir)
    }

    /// The status, or the error that it does not exist.
    pub fn found(&self) -> Outcome<&Status> {
        self.status.as_ref().ok_or_else(|| Failure::not_found(&self.text))
    }

    /// The status of something that is no folder.
    pub fn found_file(&self) -> Outcome<&Status> {
        let status = self.found()?;
        if status.is_dir() { Err(Failure::is_directory(&self.text)) } else { Ok(status) }
    }

    /// The entry of a listing of this folder.
    pub fn listed(&self, status: Status) -> Item {
        let name = status.name();
        let text = self.child_text(name);
        let path = child(&self.path, name);
        Item { store: self.store.clone(), text, path, status: Some(status) }
    }

    /// Looks an entry of this folder up by name.
    pub fn child(&self, name: &str) -> Outcome<Item> {
        Item::look_up(&self.store, &self.child_text(name))
    }

    fn child_text(&self, name: &str) -> String {
        if self.text == "." { name.to_owned() } else { child(&self.text, name) }
    }

    /// Asks again.
    pub fn refresh(&mut self) -> Outcome {
        self.status = None;
        match self.store.status(&self.path) {
            Ok(status) => {
                self.status = Some(status);
                Ok(())
            }
            Err(failure) if failure.is_not_found() => Err(Failure::not_found(&self.text)),
            Err(failure) => Err(failure),
        }
    }

    /// Whether the text ends like a folder: `dir/`, `.`, `..`.
    pub fn looks_like_folder(&self) -> bool {
        let path = Location::parse(&self.text).path;
        matches!(file_name(&path), "" | "." | "..")
    }

    /// Whether the folder that is to hold this path exists.
    pub fn parent_exists(&self) -> Outcome<bool> {
        if self.looks_like_folder() {
            return self.store.exists(&self.path);
        }
        self.store.exists(parent(&self.path).unwrap_or("/"))
    }

    /// The path with scheme and host.
    pub fn qualified(&self) -> String {
        match self.store.is_local() {
            true => format!("file://{}", self.path),
            false => format!("{}{}", self.store.uri(), self.path),
        }
    }

    /// The error of a path whose parent is missing; it names the whole path.
    pub fn no_parent(&self) -> Failure {
        let mut failure = Failure::not_found(&self.text);
        let qualified = self.qualified();
        if qualified != self.text {
            failure.text.push_str(&format!(": `{qualified}'"));
        }
        failure
    }
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
}
