//! Addresses of the browser's pages.

use super::host::ADDRESS;
use crate::params::Params;
use crate::paths::normalised;
use std::fmt;
use zerohop_pages::{url_path, url_value};

/// The words for what a form did.
const DONE: [&str; 7] =
    ["created", "uploaded", "deleted", "renamed", "permission", "owner", "replication"];

/// A page of the browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) path: String,
    /// Whom the request names.
    pub(super) user: Option<String>,
    /// Of a directory: the names behind this one.
    pub(super) after: Option<String>,
    /// Of a file: `head` or `tail`.
    pub(super) show: Option<&'static str>,
    /// Of a file: its blocks from this offset on.
    pub(super) offset: u64,
    pub(super) done: Option<&'static str>,
}

impl Address {
    pub(super) fn of(params: &Params) -> Self {
        let path = normalised(params.text("path").unwrap_or("/"));
        let text = |name: &str| params.text(name).map(str::to_owned);
        let one_of = |name: &str, words: &'static [&'static str]| {
            let word = params.text(name)?;
            words.iter().copied().find(|known| *known == word)
        };
        Self {
            path,
            user: text("user.name"),
            after: text("after"),
            show: one_of("show", &["head", "tail"]),
            offset: params.text("offset").and_then(|text| text.parse().ok()).unwrap_or(0),
            done: one_of("done", &DONE),
        }
    }

    /// The beginning of the same path, as the same user.
    pub(super) fn reset(&self) -> Self {
        Self { path: self.path.clone(), user: self.user.clone(), ..Self::default() }
    }

    /// Another path, as the same user.
    pub(super) fn to(&self, path: impl Into<String>) -> Self {
        Self { path: path.into(), user: self.user.clone(), ..Self::default() }
    }

    /// What is in this directory under a name.
    pub(super) fn child(&self, name: &str) -> Self {
        self.to(format!("{}/{name}", self.path.trim_end_matches('/')))
    }

    /// Where WebHDFS gives the bytes of the file.
    pub(super) fn download(&self) -> String {
        let user = self.user.as_deref().map(|user| format!("&user.name={}", url_value(user)));
        format!("/webhdfs/v1{}?op=OPEN{}", url_path(&self.path), user.unwrap_or_default())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{ADDRESS}?path={}", url_path(&self.path))?;
        for (name, value) in [("user.name", self.user.as_deref()), ("after", self.after.as_deref())]
        {
            if let Some(value) = value {
                write!(out, "&{name}={}", url_value(value))?;
            }
        }
        if let Some(show) = self.show {
            write!(out, "&show={show}")?;
        }
        if self.offset > 0 {
            write!(out, "&offset={}", self.offset)?;
        }
        self.done.map_or(Ok(()), |done| write!(out, "&done={done}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let address = Address {
            path: "/a b/<script>&\"'#%".to_owned(),
            user: Some("ann&x=y".to_owned()),
            after: Some("n/=?".to_owned()),
            show: Some("tail"),
            offset: 7,
            done: Some("owner"),
        };
        let text = address.to_string();
        assert!(!text.contains(['<', '"', '\'', '#', ' ']), "{text}");
        let (_, query) = text.split_once('?').unwrap();
        assert_eq!(Address::of(&Params::parse(query)), address);
        let plain = Address::of(&Params::parse("path=a/&show=x&done=<b>&offset=-1"));
        assert_eq!(plain, Address { path: "/a".to_owned(), ..Address::default() });
        assert_eq!(Address::of(&Params::default()).path, "/");
        assert_eq!(Address::of(&Params::parse("path=//a/./b//")).path, "/a/b");
        assert_eq!(Address::of(&Params::default()).child("b").path, "/b");
    }
}
