//! The query of a request's URL.

use std::collections::HashMap;

/// Names and values; the first of a name counts.
pub fn values(raw: &str) -> HashMap<String, String> {
    let mut values = HashMap::new();
    for pair in raw.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        values.entry(decoded(name)).or_insert_with(|| decoded(value));
    }
    values
}

/// `+` and `%xx` undone; what does not fit stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or(&[]);
                continue;
            }
            (b'+', _) => bytes.push(b' '),
            _ => bytes.push(*first),
        }
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded() {
        let values = values("path=%2Fa+b%2f%C3%A9&files=1&files=2&x");
        assert_eq!(values.get("path").map(String::as_str), Some("/a b/é"));
        assert_eq!(values.get("files").map(String::as_str), Some("1"));
        assert_eq!(values.get("x").map(String::as_str), Some(""));
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
    }
}
