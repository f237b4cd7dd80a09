//! Globs against a file system, with as few calls as the pattern allows.

use super::location::child;
use super::pattern::{Pattern, expand_groups, unescape};
use super::status::Status;
use super::store::Store;
use crate::failure::Outcome;

/// A path that the pattern may lead through.
struct Candidate {
    path: String,
    /// Known where a listing brought it.
    status: Option<Status>,
}

/// What matches an absolute pattern, in order of path; `None`: there is no wildcard and no such path.
pub fn glob(store: &dyn Store, pattern: &str) -> Outcome<Option<Vec<Status>>> {
    let patterns = expand_groups(pattern);
    let several = patterns.len() > 1;
    let mut saw_wildcard = false;
    let mut found = Vec::new();
    for flat in &patterns {
        found.extend(glob_flat(store, flat, &mut saw_wildcard)?);
    }
    if found.is_empty() && !saw_wildcard && !several {
        return Ok(None);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Some(found))
}

fn glob_flat(store: &dyn Store, pattern: &str, saw_wildcard: &mut bool) -> Outcome<Vec<Status>> {
    let mut candidates = vec![Candidate { path: "/".to_owned(), status: None }];
    let mut names = pattern.split('/').filter(|name| !name.is_empty()).peekable();
    while let Some(name) = names.next() {
        let last = names.peek().is_none();
        let part = Pattern::new(name)?;
        candidates = match &part {
            Pattern::Literal(_) => step_down(candidates, &unescape(name)),
            Pattern::Wild(_) => {
                *saw_wildcard = true;
                list_matching(store, candidates, &part, last)?
            }
        };
    }
    let mut found = Vec::new();
    for candidate in candidates {
        match candidate.status {
            Some(status) => found.push(status),
            None => found.extend(existing(store, candidate.path)?),
        }
    }
    Ok(found)
}

fn existing(store: &dyn Store, path: String) -> Outcome<Option<Status>> {
    match store.status(&path) {
        Ok(status) => Ok(Some(Status { path, ..status })),
        Err(failure) if failure.is_not_found() => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// A name without wildcard is not asked for until it must be.
fn step_down(candidates: Vec<Candidate>, name: &str) -> Vec<Candidate> {
    let step =
        |candidate: Candidate| Candidate { path: child(&candidate.path, name), status: None };
    candidates.into_iter().map(step).collect()
}

fn list_matching(
    store: &dyn Store,
    candidates: Vec<Candidate>,
    pattern: &Pattern,
    last: bool,
) -> Outcome<Vec<Candidate>> {
    let mut matching = Vec::new();
    for directory in candidates {
        let mut has_begun = false;
        // A file lists itself, which must not count as an entry of a directory.
        let mut keep = |page: Vec<Status>| {
            has_begun = true;
            for status in page {
                let own = status.path == directory.path;
                if !own && pattern.matches(status.name()) && (last || status.is_dir()) {
                    let path = child(&directory.path, status.name());
                    matching.push(Candidate {
                        path: path.clone(),
                        status: Some(Status { path, ..status }),
                    });
                }
            }
            Ok(())
        };
        match store.list(&directory.path, &mut keep) {
            // A file or a missing directory has no matches. A directory that goes missing during the list has unknown ones.
            Err(failure) if has_begun || !failure.is_not_found() => return Err(failure),
            _ => {}
        }
    }
    Ok(matching)
}
