//! Fields of the line protocol (the same as `Text.java`).

/// Escapes what would break a line or a field.
pub fn escape(field: &str) -> String {
    field.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

/// The reverse of [`escape`].
pub fn unescape(field: &str) -> String {
    let mut out = String::with_capacity(field.len());
    let mut chars = field.chars();
    while let Some(c) = chars.next() {
        let next = if c == '\\' { chars.next() } else { None };
        out.push(match next {
            None => c,
            Some('t') => '\t',
            Some('n') => '\n',
            Some('r') => '\r',
            Some(other) => other,
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_survive_escaping() {
        for field in ["", "plain", "a\tb\nc\rd\\e", "\\t", "\\\\n"] {
            assert_eq!(unescape(&escape(field)), field);
            assert!(!escape(field).contains(['\t', '\n', '\r']));
        }
    }
}
