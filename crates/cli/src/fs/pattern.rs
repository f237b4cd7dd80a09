//! Hadoop's globs: `*`, `?`, `[a-z]`, `[^a]`, `{a,b}`, and `\` before a character that means itself.

use regex::Regex;

use crate::failure::{Failure, Outcome};

/// The pattern of one name in a path.
pub enum Pattern {
    /// No wildcard: the name itself.
    Literal(String),
    /// With wildcards.
    Wild(Regex),
}

impl Pattern {
    pub fn new(glob: &str) -> Outcome<Pattern> {
        let (regex, wild) = translate(glob)?;
        if !wild {
            return Ok(Pattern::Literal(unescape(glob)));
        }
        let regex = Regex::new(&format!("(?s)^(?:{regex})$"))
            .map_err(|_| Failure::io(format!("Illegal file pattern: {glob}")))?;
        Ok(Pattern::Wild(regex))
    }

    pub fn matches(&self, name: &str) -> bool {
        match self {
            Pattern::Literal(literal) => literal == name,
            Pattern::Wild(regex) => regex.is_match(name),
        }
    }
}

/// Takes the backslashes away that only protect the next character.
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next().or(Some('\\'))),
            _ => out.push(c),
        }
    }
    out
}

fn illegal(problem: &str, position: usize, glob: &str) -> Failure {
    Failure::io(format!(
        "Illegal file pattern: error parsing regexp: {problem} at pos {position}: `{glob}`"
    ))
}

/// The regular expression of a glob, and whether it has a wildcard at all.
fn translate(glob: &str) -> Outcome<(String, bool)> {
    let mut regex = String::new();
    let mut wild = false;
    let mut groups = 0_usize;
    let mut in_set = false;
    let mut previous = '\0';
    let mut chars = glob.char_indices();
    while let Some((position, c)) = chars.next() {
        match c {
            '\\' => {
                let Some((_, next)) = chars.next() else {
                    return Err(illegal("Missing escaped character", position, glob));
                };
                push_literal(&mut regex, next);
            }
            '*' if !in_set => {
                regex.push_str(".*");
                wild = true;
            }
            '?' if !in_set => {
                regex.push('.');
                wild = true;
            }
            '{' if !in_set => {
                regex.push_str("(?:");
                groups += 1;
                wild = true;
            }
            ',' if !in_set && groups > 0 => regex.push('|'),
            '}' if !in_set && groups > 0 => {
                groups -= 1;
                regex.push(')');
            }
            '[' if in_set => return Err(illegal("Unclosed character class", position, glob)),
            '[' => {
                in_set = true;
                wild = true;
                regex.push('[');
            }
            ']' if in_set => {
                in_set = false;
                regex.push(']');
            }
            '!' | '^' if in_set && previous == '[' => regex.push('^'),
            '-' if in_set => regex.push('-'),
            _ => push_literal(&mut regex, c),
        }
        previous = c;
    }
    if in_set {
        return Err(illegal("Unclosed character class", glob.len(), glob));
    }
    if groups > 0 {
        return Err(illegal("Unclosed group", glob.len(), glob));
    }
    Ok((regex, wild))
}

fn push_literal(regex: &mut String, c: char) {
    if "\\.+*?()|[]{}^$#&-~".contains(c) {
        regex.push('\\');
    }
    regex.push(c);
}

/// Writes out the groups that hold a slash: `/{a/b,c}/d` becomes `/a/b/d` and `/c/d`.
pub fn expand_groups(glob: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut waiting = vec![(glob.to_owned(), 0)];
    while let Some((text, from)) = waiting.pop() {
        match split_group(&text, from) {
            None => done.push(text),
            Some((start, end)) => {
                let (prefix, inner, suffix) =
                    (&text[..start], &text[start + 1..end], &text[end + 1..]);
                for alternative in split_alternatives(inner).into_iter().rev() {
                    waiting.push((format!("{prefix}{alternative}{suffix}"), prefix.len()));
                }
            }
        }
    }
    done
}

/// Bounds of the leftmost outer group that holds a slash.
fn split_group(text: &str, from: usize) -> Option<(usize, usize)> {
    let (mut depth, mut start, mut slash) = (0_usize, 0, false);
    let mut chars = text.char_indices().skip_while(|(position, _)| *position < from);
    while let Some((position, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '{' => {
                if depth == 0 {
                    start = position;
                    slash = false;
                }
                depth += 1;
            }
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 && slash {
                    return Some((start, position));
                }
            }
            '/' if depth > 0 => slash = true,
            _ => {}
        }
    }
    None
}

fn split_alternatives(inner: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0_usize, 0);
    let mut parts = Vec::new();
    let mut chars = inner.char_indices();
    while let Some((position, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&inner[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(glob: &str, name: &str) -> bool {
        Pattern::new(glob).unwrap().matches(name)
    }

    #[test]
    fn wildcards() {
        assert!(matches("a*", "abc") && matches("*", "") && !matches("a?", "a"));
        assert!(matches("[a-c]x", "bx") && !matches("[^a-c]x", "bx") && matches("[!a]", "b"));
        assert!(matches("{ab,c{d,e}}*", "cex") && !matches("{ab,cd}", "abcd"));
        assert!(matches("a.b+(c)|$", "a.b+(c)|$") && !matches("a.*", "ab"));
        assert!(matches("\\*a", "*a") && !matches("\\*a", "ba"));
        assert!(matches("part-[0-9][0-9]", "part-07"));
        assert!(matches("[.&~]", "&"));
        assert!(Pattern::new("[a").is_err() && Pattern::new("{a").is_err());
        assert!(Pattern::new("a\\").is_err());
    }

    #[test]
    fn groups_with_slashes_are_written_out() {
        assert_eq!(expand_groups("/{a/b,c}/d{x,y}"), ["/a/b/d{x,y}", "/c/d{x,y}"]);
        assert_eq!(expand_groups("/{a,b}{c/d,e/f}"), ["/{a,b}c/d", "/{a,b}e/f"]);
        assert_eq!(expand_groups("/{a,{b/c,d}}"), ["/a", "/b/c", "/d"]);
        assert_eq!(expand_groups("/\\{a/b,c}"), ["/\\{a/b,c}"]);
    }

    proptest! {
        #[test]
        fn no_text_panics(glob in "[a-c*?\\[\\]{},\\\\/!^é-]{0,16}", name in any::<String>()) {
            for flat in expand_groups(&glob) {
                if let Ok(pattern) = Pattern::new(&flat) {
                    let _ = pattern.matches(&name);
                }
            }
            let _ = unescape(&glob);
        }
    }
}
