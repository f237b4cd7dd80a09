//! Java's property files, as far as VERSION files use them.

use std::fmt::Write;

/// Keys and values in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(Vec<(String, String)>);

impl Properties {
    /// Parses a file; never fails, as Java's `Properties.load` hardly does.
    pub fn parse(text: &str) -> Self {
        let mut properties = Self::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let line = line.trim_start();
            if line.is_empty() || line.starts_with(['#', '!']) {
                continue;
            }
            let mut logical = line.to_owned();
            while continues(&logical) {
                logical.pop();
                match lines.next() {
                    Some(next) => logical.push_str(next.trim_start()),
                    None => break,
                }
            }
            let (key, value) = split(&logical);
            properties.set(&unescape(key), &unescape(value));
        }
        properties
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

    /// The text of the file.
    pub fn to_text(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, (key, value)| {
            escape(key, &mut text);
            text.push('=');
            escape(value, &mut text);
            text.push('\n');
            text
        })
    }
}

impl<K: AsRef<str>, V: AsRef<str>> FromIterator<(K, V)> for Properties {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(iter: T) -> Self {
        let mut properties = Self::default();
        iter.into_iter().for_each(|(key, value)| properties.set(key.as_ref(), value.as_ref()));
        properties
    }
}

/// Whether an odd number of backslashes ends the line.
fn continues(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Key and value, still escaped.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|c: char| {
        let ends = !escaped && (c == '=' || c == ':' || c.is_ascii_whitespace());
        escaped = c == '\\' && !escaped;
        ends
    });
    let Some(end) = end else { return (line, "") };
    let (key, rest) = line.split_at(end);
    let rest = rest.trim_start();
    (key, rest.strip_prefix(['=', ':']).unwrap_or(rest).trim_start())
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some('u')) => {
                chars.next();
                let hex: String = chars.by_ref().take(4).collect();
                let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            ('\\', Some(next)) => {
                chars.next();
                out.push(match next {
                    't' => '\t',
                    'n' => '\n',
                    'r' => '\r',
                    'f' => '\u{c}',
                    other => other,
                });
            }
            (c, _) => out.push(c),
        }
    }
    out
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' | ' ' | '=' | ':' | '#' | '!' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            other => {
                let mut units = [0; 2];
                for unit in other.encode_utf16(&mut units) {
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
                    a\\ b:c\\=d\nlong=one\\\n   two\nempty\n";
        let properties = Properties::parse(text);
        assert_eq!(properties.get("storageID"), Some("DS-1"));
        assert_eq!(properties.get("clusterID"), Some("CID-2"));
        assert_eq!(properties.get("a b"), Some("c=d"));
        assert_eq!(properties.get("long"), Some("onetwo"));
        assert_eq!(properties.get("empty"), Some(""));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(pairs in prop::collection::vec(("[ -~]{1,9}", "[ -~äλ\t]{0,9}"), 0..5)) {
            let properties: Properties = pairs.iter().map(|(k, v)| (k, v)).collect();
            prop_assert_eq!(Properties::parse(&properties.to_text()), properties);
        }

        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = Properties::parse(&text);
        }
    }
}
