//! Patterns of names (`GlobPattern`), for `filter` of LISTSTATUS.

use crate::failure::Failure;
use crate::params::invalid;
use regex::Regex;

/// The names that a pattern with `*`, `?`, `[a-z]`, `[^a]`, `{a,b}` and `\` stands for.
///
/// # Errors
/// If brackets or braces do not match, or nothing follows the last `\`.
pub(crate) fn glob(pattern: &str) -> Result<Regex, Failure> {
    let bad = || invalid("filter", pattern, "a pattern of names");
    let mut regex = String::from("(?s)^");
    let (mut braces, mut is_in_set) = (0u32, false);
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => regex.push_str(&regex::escape(&rest.next().ok_or_else(bad)?.to_string())),
            ']' if is_in_set => {
                is_in_set = false;
                regex.push(']');
            }
            '[' | '&' | '~' if is_in_set => regex.extend(['\\', c]),
            c if is_in_set => regex.push(c),
            '*' => regex.push_str(".*"),
            '?' => regex.push('.'),
            '{' => {
                braces += 1;
                regex.push_str("(?:");
            }
            '}' if braces > 0 => {
                braces -= 1;
                regex.push(')');
            }
            ',' if braces > 0 => regex.push('|'),
            '[' => {
                is_in_set = true;
                regex.push('[');
                if rest.next_if(|next| matches!(next, '^' | '!')).is_some() {
                    regex.push('^');
                }
            }
            c => regex.push_str(&regex::escape(&c.to_string())),
        }
    }
    regex.push('$');
    match braces == 0 && !is_in_set {
        true => Regex::new(&regex).map_err(|_| bad()),
        false => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_hadoops_shell() {
        for (pattern, yes, no) in [
            ("*.log", "a.log", "a.log2"),
            ("a?c", "abc", "ac"),
            ("[a-c]x", "bx", "dx"),
            ("[^a]x", "bx", "ax"),
            ("[!a]x", "bx", "ax"),
            ("{ab,c?}1", "cd1", "ad1"),
            ("a\\*", "a*", "ab"),
            ("a.b|c$", "a.b|c$", "axb"),
            ("a,b", "a,b", "a"),
            ("é*", "éa", "ea"),
        ] {
            let regex = glob(pattern).unwrap();
            assert!(regex.is_match(yes) && !regex.is_match(no), "{pattern}");
        }
        for bad in ["[a", "{a", "a\\", "[z-a]"] {
            assert!(glob(bad).is_err(), "{bad}");
        }
    }
}
