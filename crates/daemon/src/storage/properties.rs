//! Java's property files (`java.util.Properties`), which VERSION files are.
//!
//! Written here because they are part of Hadoop's disk format; the crates that read them lose characters outside of the Basic
//! Multilingual Plane.

use std::fmt::Write;

/// The first line of what [`Properties::to_text`] gives.
const COMMENT: &str = "#zerohop";
/// What Java takes for space in these files.
const SPACE: [char; 3] = [' ', '\t', '\u{c}'];

/// Keys and values in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(Vec<(String, String)>);

/// A `\u` without four hexadecimal digits. Java refuses the file, too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed \\uxxxx encoding in {line:?}")]
pub struct MalformedEscape {
    /// The line that has it.
    pub line: String,
}

impl Properties {
    /// Reads a file's content, as `Properties.load` does.
    ///
    /// # Errors
    /// If an escape is malformed.
    pub fn parse(content: &[u8]) -> Result<Self, MalformedEscape> {
        let text = text_of(content).replace("\r\n", "\n").replace('\r', "\n");
        let mut properties = Self::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let line = line.trim_start_matches(SPACE);
            if line.is_empty() || line.starts_with(['#', '!']) {
                continue;
            }
            let mut logical = line.to_owned();
            while continues(&logical) {
                logical.pop();
                match lines.next() {
                    Some(next) => logical.push_str(next.trim_start_matches(SPACE)),
                    None => break,
                }
            }
            let (key, value) = split(&logical);
            match (unescaped(key), unescaped(value)) {
                (Some(key), Some(value)) => properties.set(&key, &value),
                _ => return Err(MalformedEscape { line: logical }),
            }
        }
        Ok(properties)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Sets a value.
    pub fn set(&mut self, key: &str, value: &str) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => value.clone_into(old),
            None => self.0.push((key.to_owned(), value.to_owned())),
        }
    }

    /// The content of a file, as `Properties.store` writes it: in ASCII, a line for each key.
    pub fn to_text(&self) -> String {
        let mut text = format!("{COMMENT}\n");
        for (key, value) in &self.0 {
            escape(key, true, &mut text);
            text.push('=');
            escape(value, false, &mut text);
            text.push('\n');
        }
        text
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for Properties {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(iter: T) -> Self {
        let mut properties = Self::default();
        iter.into_iter().for_each(|(key, value)| properties.set(key.as_ref(), value.as_ref()));
        properties
    }
}

/// Java writes and reads these files in ISO 8859-1, whose codes are Unicode's. The first releases of this program wrote
/// UTF-8 below their comment.
fn text_of(content: &[u8]) -> String {
    let latin = || content.iter().copied().map(char::from).collect();
    if !content.starts_with(COMMENT.as_bytes()) {
        return latin();
    }
    std::str::from_utf8(content).map_or_else(|_| latin(), str::to_owned)
}

/// Whether an odd number of backslashes ends the line.
fn continues(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Key and value, still escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|c: char| {
        let ends = !escaped && (c == '=' || c == ':' || SPACE.contains(&c));
        escaped = c == '\\' && !escaped;
        ends
    });
    let Some(end) = end else { return (line, "") };
    let (key, rest) = line.split_at(end);
    let rest = rest.trim_start_matches(SPACE);
    (key, rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start_matches(SPACE))
}

/// The text with its escapes undone; `None` if one is malformed.
fn unescaped(text: &str) -> Option<String> {
    // Java escapes a character beyond 16 bits as the two units of UTF-16.
    let mut units = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let meant = match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('u')) => {
                let digits: String = chars.by_ref().take(4).collect();
                let is_hex = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit());
                units.push(u16::from_str_radix(&digits, 16).ok().filter(|_| is_hex)?);
                continue;
            }
            ('\\', Some('t')) => '\t',
            ('\\', Some('n')) => '\n',
            ('\\', Some('r')) => '\r',
            ('\\', Some('f')) => '\u{c}',
            ('\\', Some(other)) => other,
            ('\\', None) => break,
            (c, _) => c,
        };
        units.extend_from_slice(meant.encode_utf16(&mut [0; 2]));
    }
    Some(String::from_utf16_lossy(&units))
}

fn escape(text: &str, is_key: bool, out: &mut String) {
    for (at, c) in text.chars().enumerate() {
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{c}' => out.push_str("\\f"),
            ' ' if is_key || at == 0 => out.push_str("\\ "),
            '\\' | '=' | ':' | '#' | '!' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    // Writing to a string does not fail.
                    let _ = write!(out, "\\u{unit:04X}");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_of_apache_is_read() {
        let text = "#Sat Nov 21 12:00:00 UTC 2026\nstorageID=DS-1\nclusterID = CID-2\r\n\
                    a\\ b:c\\=d\nlong=one\\\r\n   two\nempty\n";
        let properties = Properties::parse(text.as_bytes()).unwrap();
        assert_eq!(properties.get("storageID"), Some("DS-1"));
        assert_eq!(properties.get("clusterID"), Some("CID-2"));
        assert_eq!(properties.get("a b"), Some("c=d"));
        assert_eq!(properties.get("long"), Some("onetwo"));
        assert_eq!(properties.get("empty"), Some(""));
    }

    #[test]
    fn text_outside_of_ascii_is_javas() {
        let value = "CID é Ω 😀 a=b";
        let properties = Properties::from_iter([("clusterID", value)]);
        let text = properties.to_text();
        let line = "clusterID=CID \\u00E9 \\u03A9 \\uD83D\\uDE00 a\\=b\n";
        assert_eq!(text, format!("#zerohop\n{line}"));
        assert_eq!(Properties::parse(text.as_bytes()).unwrap(), properties);
        // By hand, in an editor that knows ISO 8859-1; and as the first releases of this program.
        let mut by_hand = text.replace("\\u00E9", "\u{1}").into_bytes();
        by_hand.iter_mut().filter(|byte| **byte == 1).for_each(|byte| *byte = 0xe9);
        assert_eq!(Properties::parse(&by_hand).unwrap(), properties);
        let utf_8 = text.replace("\\u00E9", "é");
        assert_eq!(Properties::parse(utf_8.as_bytes()).unwrap(), properties);
        let malformed = text.replace("\\u00E9", "\\u00+9");
        let error = Properties::parse(malformed.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("malformed \\uxxxx encoding in"), "{error}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            pairs in prop::collection::vec(("[ -~äλ😀]{1,9}", "[ -~äλ😀\t]{0,9}"), 0..5),
        ) {
            let properties: Properties = pairs.iter().map(|(k, v)| (k, v)).collect();
            let text = properties.to_text();
            prop_assert!(text.is_ascii());
            prop_assert_eq!(Properties::parse(text.as_bytes()), Ok(properties));
        }

        #[test]
        fn any_bytes_are_read_without_panic(content: Vec<u8>) {
            let _ = Properties::parse(&content);
        }
    }
}
