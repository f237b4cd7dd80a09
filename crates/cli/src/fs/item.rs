//! A path as the user wrote it, with what it turned out to be.

use std::sync::Arc;

use super::location::{Location, absolute, child, file_name, parent};
use super::status::Status;
use super::store::Store;
use crate::failure::{Failure, Outcome};

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
        Item::at(store, text.to_owned(), absolute(&location.path, &store.home()))
    }

    /// Looks an absolute path up, which is printed as `text`.
    pub fn at(store: &Arc<dyn Store>, text: String, path: String) -> Outcome<Item> {
        let status = match store.status(&path) {
            Ok(status) => Some(status),
            Err(failure) if failure.is_not_found() => None,
            Err(failure) => return Err(failure),
        };
        Ok(Item { store: store.clone(), text, path, status })
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

    /// The status of something that is no directory.
    pub fn found_file(&self) -> Outcome<&Status> {
        let status = self.found()?;
        if status.is_dir() { Err(Failure::is_directory(&self.text)) } else { Ok(status) }
    }

    /// The entry of a listing of this directory.
    pub fn listed(&self, status: Status) -> Item {
        let name = status.name();
        let text = self.child_text(name);
        let path = child(&self.path, name);
        Item { store: self.store.clone(), text, path, status: Some(status) }
    }

    /// Looks an entry of this directory up by name.
    pub fn child(&self, name: &str) -> Outcome<Item> {
        Item::at(&self.store, self.child_text(name), child(&self.path, name))
    }

    /// An entry of this directory that is known not to exist.
    pub fn absent_child(&self, name: &str) -> Item {
        let (text, path) = (child(&self.text, name), child(&self.path, name));
        Item { store: self.store.clone(), text, path, status: None }
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

    /// Whether the text ends like a directory: `dir/`, `.`, `..`.
    pub fn looks_like_directory(&self) -> bool {
        let path = Location::parse(&self.text).path;
        matches!(file_name(&path), "" | "." | "..")
    }

    /// Whether the directory that is to hold this path exists.
    pub fn parent_exists(&self) -> Outcome<bool> {
        if self.looks_like_directory() {
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
