//! Numbers, times and addresses as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const PATH: &AsciiSet = &VALUE.remove(b'/');

/// A size: `1.50 GB`, in powers of 1024 as everywhere in Hadoop.
pub fn bytes(size: u64) -> String {
    let units = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let power = size.max(1).ilog2() / 10;
    let unit = units.get(power as usize).copied().unwrap_or_default();
    if power == 0 {
        return format!("{size} B");
    }
    format!("{:.2} {unit}", size as f64 / (f64::from(power) * 10.0).exp2())
}

/// A number with its thousands apart: `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A part of a whole: `12.3 %`; of nothing it is 0.
pub fn percent(part: u64, whole: u64) -> String {
    format!("{:.1} %", share(part, whole) * 100.0)
}

pub(crate) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).clamp(0.0, 1.0) }
}

/// A span of time: `350 ms`, `42 s`, `3 min 20 s`, `5 h 3 min`, `12 d 4 h`.
pub fn age(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0 => format!("{ms} ms"),
        1..60 => format!("{s} s"),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        3600..86_400 => format!("{} h {} min", s / 3600, s % 3600 / 60),
        _ => format!("{} d {} h", s / 86_400, s % 86_400 / 3600),
    }
}

/// A moment, in milliseconds since 1970, in the system's time zone; `never` for 0.
pub fn date(wall_ms: u64) -> String {
    if wall_ms == 0 {
        return "never".to_owned();
    }
    let time = i64::try_from(wall_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    match time {
        Some(time) => {
            time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
        }
        None => format!("{wall_ms} ms since 1970"),
    }
}

/// A value within the query of an address.
pub fn url_value(text: &str) -> String {
    utf8_percent_encode(text, VALUE).to_string()
}

/// The path of a file within an address.
pub fn url_path(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        assert_eq!([bytes(0), bytes(1023), bytes(1536)], ["0 B", "1023 B", "1.50 KB"]);
        assert_eq!(bytes(u64::MAX), "16.00 EB");
        assert_eq!([count(0), count(999), count(1_234_567)], ["0", "999", "1,234,567"]);
        assert_eq!([percent(1, 8), percent(5, 0), percent(9, 3)], ["12.5 %", "0.0 %", "100.0 %"]);
        assert_eq!([age(350), age(200_000), age(90_000_000)], ["350 ms", "3 min 20 s", "1 d 1 h"]);
        assert_eq!(date(0), "never");
        assert!(date(u64::MAX).ends_with("since 1970"));
    }

    #[test]
    fn addresses_hold_any_name() {
        assert_eq!(url_path("/a b/<é>&?#"), "/a%20b/%3C%C3%A9%3E%26%3F%23");
        assert_eq!(url_value("a/b=c"), "a%2Fb%3Dc");
    }
}
