//! Excluded paths (`-filters`), and how paths are compared and printed.

use std::sync::Arc;

use regex::Regex;

use crate::failure::{Failure, Outcome};
use crate::fs::location::Location;
use crate::fs::store::Store;

/// Patterns of excluded paths. A pattern has to match the whole path with its scheme and authority.
#[derive(Default)]
pub struct Filter {
    patterns: Vec<Regex>,
}

impl Filter {
    /// Reads patterns from a local file, one per line. If the file cannot be read, Hadoop copies everything.
    pub fn read(path: Option<&str>) -> Outcome<Filter> {
        let Some(path) = path else { return Ok(Filter::default()) };
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::io(format!("-filters {path}: {error}")))?;
        let pattern = |line: &str| {
            Regex::new(&format!("^(?:{line})$")).map_err(|error| {
                let error = error.to_string();
                let why = error.lines().last().unwrap_or_default();
                Failure::io(format!("-filters {path}: unsupported pattern `{line}': {why}"))
            })
        };
        let patterns = text.lines().map(pattern).collect::<Outcome<_>>()?;
        Ok(Filter { patterns })
    }

    /// Returns `true` if the path is copied. Entries of an excluded directory are matched themselves.
    pub fn keeps(&self, store: &dyn Store, path: &str) -> bool {
        if self.patterns.is_empty() {
            return true;
        }
        let text = qualified(store, path);
        !self.patterns.iter().any(|pattern| pattern.is_match(&text))
    }
}

/// Formats a path as `Path.toString`.
pub fn qualified(store: &dyn Store, path: &str) -> String {
    match store.is_local() {
        true => format!("file:{path}"),
        false => format!("{}{path}", store.uri()),
    }
}

/// Returns `true` if both stores are the same file system.
pub fn is_same_store(one: &Arc<dyn Store>, other: &Arc<dyn Store>) -> bool {
    if Arc::ptr_eq(one, other) {
        return true;
    }
    let parts = |store: &Arc<dyn Store>| {
        let uri = Location::parse(&store.uri());
        (uri.scheme.clone(), uri.place(), uri.path)
    };
    parts(one) == parts(other)
}

/// Follows two paths through mount points. Returns where they end if that is one file system, otherwise `None`.
///
/// # Errors
/// Fails if a file system behind a mount point cannot be opened.
pub fn in_one_store(
    one: (&Arc<dyn Store>, &str),
    other: (&Arc<dyn Store>, &str),
) -> Outcome<Option<(String, String)>> {
    let ((one, from), (other, to)) = (followed(one)?, followed(other)?);
    Ok(is_same_store(&one, &other).then_some((from, to)))
}

fn followed((store, path): (&Arc<dyn Store>, &str)) -> Outcome<(Arc<dyn Store>, String)> {
    match store.resolve(path) {
        Ok(Some(found)) => Ok((found.store, found.path)),
        Ok(None) => Ok((store.clone(), path.to_owned())),
        // What does not exist yet leads nowhere else.
        Err(failure) if failure.is_not_found() => Ok((store.clone(), path.to_owned())),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::local::LocalStore;

    #[test]
    fn patterns_match_whole_paths_with_their_scheme() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("patterns");
        let text = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Filter::read(path.to_str())
        };
        let filter = text(".*\\.tmp\n/a/exact\nfile:/a/known\n").unwrap();
        let keeps = |path: &str| filter.keeps(&LocalStore::default(), path);
        assert!(!keeps("/a/x.tmp") && keeps("/a/x.tmp/y"));
        assert!(keeps("/a/exact") && !keeps("/a/known"));
        let refused = text("ok\na(?=b)\n").map(|_| ()).unwrap_err().text;
        assert!(refused.contains("`a(?=b)'"), "{refused}");
        assert!(Filter::read(Some("/no/such/file")).is_err());
    }
}
