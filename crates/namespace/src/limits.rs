//! What paths and names may be: what the RPC server takes, and what the edit log can carry.

use crate::error::{LimitError, PathError, Result, refuse};
use crate::tree::components;
use zerohop_journal::op::string_fits;

/// UTF-16 units, as Java counts.
const PATH_LEN_MAX: usize = 8000;
const PATH_DEPTH_MAX: usize = 1000;

/// What the RPC server refuses before anything else; here also for what a path below `/.reserved` stands for.
pub(crate) fn check_path_length(operation: &'static str, path: &str) -> Result<()> {
    let is_long = path.len() > PATH_LEN_MAX && path.encode_utf16().count() > PATH_LEN_MAX;
    if is_long || components(path).count() > PATH_DEPTH_MAX {
        let (len_max, depth_max) = (PATH_LEN_MAX, PATH_DEPTH_MAX);
        return refuse(PathError::TooLong { operation, len_max, depth_max });
    }
    Ok(())
}

/// Refuses a string that no edit could carry: it would be another one after a restart.
pub(crate) fn check_text(what: &'static str, text: &str) -> Result<()> {
    if string_fits(text) {
        return Ok(());
    }
    refuse(LimitError::Text { what, len: text.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_as_long_as_java_says() {
        let path = |letter: &str, count: usize| format!("/{}", letter.repeat(count));
        for (letter, most) in [("a", 7999), ("ä", 7999), ("世", 7999), ("😀", 3999)] {
            assert!(check_path_length("create", &path(letter, most)).is_ok());
            let e = check_path_length("create", &path(letter, most + 1)).unwrap_err();
            assert_eq!(
                e.to_string(),
                "create: Pathname too long.  Limit 8000 characters, 1000 levels."
            );
        }
        assert!(check_path_length("create", &"/a".repeat(1000)).is_ok());
        assert!(check_path_length("create", &"//a/".repeat(1000)).is_ok());
        assert!(check_path_length("create", &"/a".repeat(1001)).is_err());
    }
}
