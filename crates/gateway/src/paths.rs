//! The paths of requests, without what Apache's servers pass over in them.

/// Returns `path` with single slashes, and without slashes at its end (`INode.getPathNames`).
pub(crate) fn merged(path: &str) -> String {
    joined(path.split('/').filter(|part| !part.is_empty()))
}

/// Returns `path` as Hadoop's `Path` has it: like [`merged`], and without `.` and `..`. A `..` that leads out of the root
/// stays, and the client refuses it.
pub(crate) fn normalised(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|above| *above != "..") => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    joined(parts.into_iter())
}

fn joined<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut path = String::new();
    for part in parts {
        path.push('/');
        path.push_str(part);
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubled_and_trailing_slashes_were_refused() {
        for (path, expected) in [
            ("", "/"),
            ("/", "/"),
            ("//", "/"),
            ("/a", "/a"),
            ("//a", "/a"),
            ("/a//b///c", "/a/b/c"),
            ("/a/", "/a"),
            ("/a//", "/a"),
        ] {
            assert_eq!((merged(path), normalised(path)), (expected.into(), expected.into()));
        }
        assert_eq!(merged("/a/./b/../c"), "/a/./b/../c", "these are no names, and find nothing");
    }

    #[test]
    fn the_gateway_refused_dots_that_httpfs_resolves() {
        for (path, expected) in [
            ("/.", "/"),
            ("/./a", "/a"),
            ("/a/./b", "/a/b"),
            ("/a/b/.", "/a/b"),
            ("/a/q/../b", "/a/b"),
            ("/a//../b", "/b"),
            ("/a/b/../..", "/"),
            ("/a/.../b", "/a/.../b"),
            ("/..", "/.."),
            ("/../a", "/../a"),
            ("/a/../../b", "/../b"),
        ] {
            assert_eq!(normalised(path), expected, "{path}");
        }
    }
}
