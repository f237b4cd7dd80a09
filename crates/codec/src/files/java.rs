//! Numbers as Java prints them.

/// What `Double.toString` says, or `Float.toString` of a number of single precision. Java writes 1.0 and 1.0E10
/// where Rust writes 1 and 10000000000.
pub(super) fn number(value: f64, single: bool) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let plain = value == 0.0 || (1e-3..1e7).contains(&value.abs());
    match (plain, single) {
        (true, true) => format!("{:?}", value as f32),
        (true, false) => format!("{value:?}"),
        (false, _) => {
            let text = if single { format!("{:e}", value as f32) } else { format!("{value:e}") };
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let point = if digits.contains('.') { "" } else { ".0" };
            format!("{digits}{point}E{exponent}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_javas() {
        assert_eq!(number(1e10, false), "1.0E10");
        assert_eq!(number(0.5, true), "0.5");
        assert_eq!(number(1.0, false), "1.0");
        assert_eq!(number(-0.0, false), "-0.0");
        assert_eq!(number(1.5e-5, true), "1.5E-5");
    }
}
