//! Addresses of a server's host, with errors that have a kind. The standard library's errors have only a text, which differs between
//! C libraries.

use std::error::Error;
use std::ffi::{CString, c_int};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::ptr::{null, null_mut};

/// A host without an address. Its `io::Error` has the kind `NotFound`.
#[derive(Debug)]
struct Unresolved {
    source: io::Error,
    is_certain: bool,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl Error for Unresolved {}

/// Returns `true` if the resolver says that the host of a failed [`resolve`] does not exist. Other errors, such as those of a name
/// server that does not answer, may pass.
pub(super) fn is_unknown_host(error: &io::Error) -> bool {
    let unresolved = error.get_ref().and_then(|source| source.downcast_ref::<Unresolved>());
    unresolved.is_some_and(|unresolved| unresolved.is_certain)
}

/// Returns the addresses of `host:port`.
pub(super) async fn resolve(addr: &str) -> io::Result<Vec<SocketAddr>> {
    let source = match tokio::net::lookup_host(addr).await {
        Ok(found) => return Ok(found.collect()),
        Err(error) => error,
    };
    let host = addr.rsplit_once(':').map_or(addr, |(host, _)| host).to_owned();
    // Only the resolver's own function says by a number what has failed.
    let number = tokio::task::spawn_blocking(move || number_for(&host)).await;
    let is_certain = matches!(number, Ok(libc::EAI_NONAME));
    Err(io::Error::new(io::ErrorKind::NotFound, Unresolved { source, is_certain }))
}

/// Returns the number with which the resolver fails for `host`, 0 if it does not.
fn number_for(host: &str) -> c_int {
    let Ok(host) = CString::new(host) else { return libc::EAI_NONAME };
    let mut found = null_mut();
    // SAFETY: a C string, no service and no hints; `found` has room for the pointer to the answer.
    let number = unsafe { libc::getaddrinfo(host.as_ptr(), null(), null(), &mut found) };
    if number == 0 {
        // SAFETY: the answer of a call that succeeded, freed once.
        unsafe { libc::freeaddrinfo(found) };
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An unknown host was known by the English words of one C library.
    #[tokio::test]
    async fn an_unknown_host_has_a_kind() {
        // The resolver refuses the name without a name server.
        let error = resolve("no name:8020").await.unwrap_err();
        assert!(is_unknown_host(&error) && error.kind() == io::ErrorKind::NotFound, "{error}");
        let words = io::Error::other("Name or service not known");
        assert!(!is_unknown_host(&words));
        assert_eq!(number_for("127.0.0.1"), 0);
        assert_eq!(number_for("no\0name"), libc::EAI_NONAME);
        let found = resolve("127.0.0.1:8020").await.unwrap();
        assert_eq!(found, ["127.0.0.1:8020".parse().unwrap()]);
    }
}
