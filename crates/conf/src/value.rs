//! From the text of a value to its type, by Hadoop's rules.

use std::time::Duration;

use crate::Unit;

/// A type that a value can have.
pub trait Value: Sized {
    /// What fits, for the error message: "a whole number".
    const EXPECTED: &'static str;

    /// Reads a trimmed, non-empty text; `None` where it does not fit.
    fn parse(text: &str, unit: Unit) -> Option<Self>;

    /// The value of a key that is not set and has no default; `None` makes that an error.
    fn absent() -> Option<Self> {
        None
    }
}

impl Value for bool {
    const EXPECTED: &'static str = "true or false";

    fn parse(text: &str, _unit: Unit) -> Option<Self> {
        match text {
            _ if text.eq_ignore_ascii_case("true") => Some(true),
            _ if text.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        }
    }
}

macro_rules! whole_number {
    ($($kind:ty),*) => { $(
        impl Value for $kind {
            const EXPECTED: &'static str =
                "a whole number in range (sizes may end in k, m, g, t, p or e)";

            fn parse(text: &str, unit: Unit) -> Option<Self> {
                let number = match unit {
                    Unit::Bytes => parse_size(text)?,
                    _ => parse_whole(text)?,
                };
                number.try_into().ok()
            }
        }
    )* };
}
whole_number!(i32, i64, u16, u32, u64, usize);

macro_rules! fraction {
    ($($kind:ty),*) => { $(
        impl Value for $kind {
            const EXPECTED: &'static str = "a number";

            // Java's Float.parseFloat takes a trailing f or d.
            fn parse(text: &str, _unit: Unit) -> Option<Self> {
                let digits = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
                digits.parse::<$kind>().ok().filter(|number| number.is_finite())
            }
        }
    )* };
}
fraction!(f32, f64);

impl Value for String {
    const EXPECTED: &'static str = "a text";

    fn parse(text: &str, _unit: Unit) -> Option<Self> {
        Some(text.to_owned())
    }

    fn absent() -> Option<Self> {
        Some(String::new())
    }
}

impl Value for Vec<String> {
    const EXPECTED: &'static str = "a list with commas";

    fn parse(text: &str, _unit: Unit) -> Option<Self> {
        let items = text.split([',', '\n']).map(str::trim).filter(|item| !item.is_empty());
        Some(items.map(str::to_owned).collect())
    }

    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

impl Value for Duration {
    const EXPECTED: &'static str = "a time (a number with ns, us, ms, s, m, h, d or no suffix)";

    fn parse(text: &str, unit: Unit) -> Option<Self> {
        parse_duration(text, unit)
    }
}

impl<T: Value> Value for Option<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn parse(text: &str, unit: Unit) -> Option<Self> {
        T::parse(text, unit).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// A whole number, decimal or hexadecimal with 0x, as Configuration.getLong takes it.
fn parse_whole(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let magnitude: i128 = match hex {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?.into(),
        None => digits.parse::<u64>().ok()?.into(),
    };
    (if negative { -magnitude } else { magnitude }).try_into().ok()
}

/// A size in bytes: `134217728`, `128m`, `1G`. The suffixes k, m, g, t, p, e are powers of 1024.
pub fn parse_size(text: &str) -> Option<i64> {
    let text = text.trim();
    let Some(suffix) = text.chars().last().filter(char::is_ascii_alphabetic) else {
        return parse_whole(text);
    };
    if text.starts_with("0x") || text.starts_with("0X") {
        return parse_whole(text);
    }
    let shift = match suffix.to_ascii_lowercase() {
        'k' => 10,
        'm' => 20,
        'g' => 30,
        't' => 40,
        'p' => 50,
        'e' => 60,
        _ => return None,
    };
    let number = parse_whole(text.get(..text.len() - 1)?.trim_end())?;
    number.checked_mul(1 << shift)
}

const SUFFIXES: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// A time: `30`, `30s`, `500ms`, `1.5h`; `unit` is meant where no suffix stands. Negative ones,
/// which Hadoop uses for "off", become zero.
pub fn parse_duration(text: &str, unit: Unit) -> Option<Duration> {
    let text = text.trim().to_ascii_lowercase();
    let default = match unit {
        Unit::Seconds => 1_000_000_000,
        Unit::Minutes => 60_000_000_000,
        Unit::Millis | Unit::Plain | Unit::Bytes => 1_000_000,
    };
    let (digits, nanos) = SUFFIXES
        .iter()
        .find_map(|(suffix, nanos)| text.strip_suffix(suffix).map(|digits| (digits, *nanos)))
        .unwrap_or((&text, default));
    let nanos = match parse_whole(digits) {
        Some(number) => u128::from(u64::try_from(number).unwrap_or(0)) * u128::from(nanos),
        None => (f64::parse(digits, Unit::Plain)?.max(0.0) * nanos as f64) as u128,
    };
    let seconds = u64::try_from(nanos / 1_000_000_000).unwrap_or(u64::MAX);
    Some(Duration::new(seconds, (nanos % 1_000_000_000) as u32))
}
