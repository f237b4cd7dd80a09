//! What every group of calls needs.

use crate::error::{Error, Result};

/// Checks a path before it is sent, as `DFSUtilClient.isValidName` does.
pub(crate) fn wire_path(path: &str) -> Result<String> {
    let invalid =
        || Err(Error::invalid(format!("Pathname {path} from {path} is not a valid DFS filename.")));
    if !path.starts_with('/') {
        return invalid();
    }
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let is_bad =
            part == "." || part == ".." || part.contains(':') || (part.is_empty() && !is_last);
        // `/.reserved/.inodes/<id>/..` is how a parent is asked for by id.
        if is_bad && !(part == ".." && path.starts_with("/.reserved/.inodes/")) {
            return invalid();
        }
    }
    let trimmed = path.trim_end_matches('/');
    Ok(if trimmed.is_empty() { "/" } else { trimmed }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_and_without_dots() {
        assert_eq!(wire_path("/a/b/").unwrap(), "/a/b");
        assert_eq!(wire_path("/").unwrap(), "/");
        for bad in ["", "a", "/a//b", "/a/../b", "/.", "/a:b"] {
            assert!(wire_path(bad).is_err(), "{bad}");
        }
    }
}
