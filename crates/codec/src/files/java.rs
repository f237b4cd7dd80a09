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
            let text = if single { float(value as f32) } else { double(value) };
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let point = if digits.contains('.') { "" } else { ".0" };
            format!("{digits}{point}E{exponent}")
        }
    }
}

/// Returns the fewest digits that stand for the number, of two or more that are nearest to it: 4.9e-324, not 5e-324.
fn double(value: f64) -> String {
    let two = format!("{value:.1e}");
    if two.parse() == Ok(value) { two } else { format!("{value:e}") }
}

fn float(value: f32) -> String {
    let two = format!("{value:.1e}");
    if two.parse() == Ok(value) { two } else { format!("{value:e}") }
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
        assert_eq!(number(f64::from_bits(1), false), "4.9E-324");
        assert_eq!(number(-f64::from_bits(2), false), "-9.9E-324");
        assert_eq!(number(f64::from_bits(3), false), "1.5E-323");
        assert_eq!(number(f32::from_bits(1).into(), true), "1.4E-45");
        assert_eq!(number(f32::from_bits(2).into(), true), "2.8E-45");
        assert_eq!(number(f64::MAX, false), "1.7976931348623157E308");
    }
}
