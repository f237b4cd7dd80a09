//! The file systems that a command has opened, by scheme and authority.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use zerohop_conf::{Authority, Conf};

use super::har;
use super::hdfs;
use super::local::LocalStore;
use super::location::Location;
use super::store::{Store, Stores};
use super::viewfs;
use super::webhdfs;
use crate::failure::{Failure, Outcome};

/// File systems that lead to one another before they are taken for a circle.
const DEPTH_MAX: usize = 8;

/// The file systems that a command has opened.
pub struct OpenStores {
    conf: Conf,
    local: Arc<dyn Store>,
    remote: Mutex<HashMap<String, Arc<dyn Store>>>,
    /// Number of file systems that led here.
    depth: usize,
}

impl OpenStores {
    pub fn new(conf: Conf) -> OpenStores {
        OpenStores::at_depth(conf, 0)
    }

    fn at_depth(conf: Conf, depth: usize) -> OpenStores {
        OpenStores { conf, local: Arc::new(LocalStore::default()), remote: Mutex::default(), depth }
    }

    pub fn local(&self) -> Arc<dyn Store> {
        self.local.clone()
    }

    /// Returns all that are open but the local one.
    pub fn remote(&self) -> Vec<Arc<dyn Store>> {
        self.remote.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Returns scheme and authority of a location. If one is missing, the default file system gives it.
    fn complete(&self, location: &Location) -> Outcome<(String, Option<String>)> {
        let lower = |scheme: &str| scheme.to_ascii_lowercase();
        if let (Some(scheme), Some(authority)) = (&location.scheme, &location.authority) {
            return Ok((lower(scheme), Some(authority.clone())));
        }
        let scheme = location.scheme.as_deref().map(lower);
        if matches!(scheme.as_deref(), Some("file")) {
            return Ok(("file".to_owned(), None));
        }
        let default = Location::default_of(&self.conf)?;
        let default_scheme = default.scheme.as_deref().map(lower).unwrap_or_default();
        let scheme = scheme.unwrap_or_else(|| default_scheme.clone());
        let of_default = default.authority.filter(|_| scheme == default_scheme);
        Ok((scheme, location.authority.clone().or(of_default)))
    }

    /// Returns the store known by `key`, or the one that `connect` makes.
    fn known_or(
        &self,
        key: String,
        connect: impl FnOnce() -> Outcome<Arc<dyn Store>>,
    ) -> Outcome<Arc<dyn Store>> {
        let lock = || self.remote.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = lock().get(&key) {
            return Ok(store.clone());
        }
        // Without the lock: an archive is read when it is opened.
        let store = connect()?;
        Ok(lock().entry(key).or_insert(store).clone())
    }

    /// Returns the file systems that one of these leads to.
    fn below(&self, uri: &str) -> Outcome<Arc<dyn Stores>> {
        if self.depth >= DEPTH_MAX {
            return Err(Failure::io(format!(
                "{uri}: {DEPTH_MAX} file systems lead to one another; is this a circle?"
            )));
        }
        Ok(Arc::new(OpenStores::at_depth(self.conf.clone(), self.depth + 1)))
    }

    fn incomplete(&self, location: &Location, scheme: &str) -> Failure {
        let named = match (&location.scheme, Location::default_of(&self.conf)) {
            (None, Ok(default)) => default.prefix(),
            _ => location.prefix(),
        };
        let name = if scheme == "hdfs" { "HDFS" } else { scheme };
        Failure::io(format!(
            "Incomplete {name} URI, no host: {named}{}; set fs.defaultFS in core-site.xml or give -fs {scheme}://HOST:PORT",
            location.path
        ))
    }
}

impl Stores for OpenStores {
    fn open(&self, location: &Location) -> Outcome<Arc<dyn Store>> {
        let (scheme, authority) = self.complete(location)?;
        let host = || authority.clone().ok_or_else(|| self.incomplete(location, &scheme));
        match scheme.as_str() {
            "file" => Ok(self.local()),
            "hdfs" => {
                // One file system has several names: the port may be the default one, and a user does not count.
                let place = Authority::parse(&host()?);
                let key = format!("hdfs://{}", place.address().to_ascii_lowercase());
                self.known_or(key, || hdfs::connect(&self.conf, &format!("hdfs://{place}")))
            }
            "webhdfs" | "swebhdfs" => {
                let authority = host()?;
                let authority = authority.rsplit_once('@').map_or(&*authority, |(_, host)| host);
                let key = format!("{scheme}://{authority}");
                self.known_or(key, || webhdfs::connect(&self.conf, &scheme, authority))
            }
            "viewfs" => {
                let uri = format!("viewfs://{}", authority.as_deref().unwrap_or_default());
                let below = self.below(&uri)?;
                let name = authority.as_deref();
                self.known_or(uri, || viewfs::connect(&self.conf, name, below))
            }
            "har" => {
                let archive = har::Archive::of(location, authority.as_deref(), &self.conf)?;
                let below = self.below(archive.uri())?;
                self.known_or(archive.uri().to_owned(), || har::open(archive, &*below))
            }
            _ => Err(Failure::io(format!("No FileSystem for scheme \"{scheme}\""))),
        }
    }
}

#[cfg(test)]
#[path = "stores_test.rs"]
mod tests;
