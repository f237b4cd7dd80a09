//! Paths as text: which are valid, and how they split.

use std::borrow::Cow;

/// Whether a path may be created (`DFSUtil.isValidName`): absolute, no `.`, `..` or `:` in a component, no `//`.
pub(crate) fn is_valid_name(path: &str) -> bool {
    let Some(rest) = path.strip_prefix('/') else { return false };
    if rest.is_empty() {
        return true;
    }
    // `..` may follow an inode's number: /.reserved/.inodes/<id>/..
    let dots_allowed = rest.starts_with(".reserved/.inodes/") && rest.split('/').count() > 3;
    let mut parts = rest.split('/').peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let valid = match part {
            "." => false,
            ".." => dots_allowed,
            "" => last,
            _ => !part.contains(':'),
        };
        if !valid {
            return false;
        }
    }
    true
}

/// The components of an absolute path, the root left out.
pub(crate) fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty())
}

/// The path without empty components: what messages and edits show.
pub(crate) fn canonical(path: &str) -> Cow<'_, str> {
    if path == "/" || (!path.ends_with('/') && !path.contains("//")) {
        return Cow::Borrowed(path);
    }
    let mut text = String::with_capacity(path.len());
    for part in components(path) {
        text.push('/');
        text.push_str(part);
    }
    if text.is_empty() {
        text.push('/');
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_judged_as_hadoop_does() {
        for good in ["/", "/a", "/a/b/", "/.reserved/.inodes/16385/..", "/a b", "/ä"] {
            assert!(is_valid_name(good), "{good}");
        }
        for bad in ["", "a", "/a//b", "/a/./b", "/a/../b", "/a:b", "//"] {
            assert!(!is_valid_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_path_is_copied_only_if_it_must_change() {
        assert!(matches!(canonical("/a/b"), Cow::Borrowed(_)));
        assert_eq!(canonical("/a//b/"), "/a/b");
        assert_eq!(canonical("//"), "/");
    }
}
