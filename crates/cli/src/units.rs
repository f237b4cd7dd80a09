//! Sizes, shares and times in Hadoop's notation.

use jiff::Timestamp;
use jiff::tz::TimeZone;

const SYMBOLS: [char; 6] = ['K', 'M', 'G', 'T', 'P', 'E'];

/// As StringUtils.TraditionalBinaryPrefix.long2String: `1.5 K`, exact multiples without decimals.
pub fn human(bytes: i64, unit: &str, decimals: u32) -> String {
    if bytes == i64::MIN {
        return format!("-8 E{unit}");
    }
    let sign = if bytes < 0 { "-" } else { "" };
    let size = bytes.unsigned_abs();
    if size < 1024 {
        let space = if unit.is_empty() { "" } else { " " };
        return format!("{sign}{size}{space}{unit}");
    }
    let mut index = ((size.ilog2() / 10) as usize - 1).min(SYMBOLS.len() - 1);
    let mut number = quotient(size, index, decimals);
    if number.starts_with("1024") && number.len() > 4 && index + 1 < SYMBOLS.len() {
        index += 1;
        number = quotient(size, index, decimals);
    }
    format!("{sign}{number} {}{unit}", SYMBOLS.get(index).unwrap_or(&'?'))
}

/// `size` in units of 1024^(index + 1), rounded half up as Java's formatter rounds.
fn quotient(size: u64, index: usize, decimals: u32) -> String {
    let shift = 10 * (index + 1);
    let divisor = 1_u128 << shift;
    if u128::from(size) % divisor == 0 {
        return (size >> shift).to_string();
    }
    let scale = 10_u128.pow(decimals);
    let scaled = (u128::from(size) * scale + divisor / 2) / divisor;
    if decimals == 0 {
        return scaled.to_string();
    }
    format!("{}.{:0width$}", scaled / scale, scaled % scale, width = decimals as usize)
}

/// A size as ls, du, df and count print it.
pub fn size(bytes: i64, human_readable: bool) -> String {
    if human_readable { human(bytes, "", 1) } else { bytes.to_string() }
}

/// As StringUtils.formatPercent.
pub fn percent(part: f64, whole: f64, decimals: usize) -> String {
    let share = part / whole * 100.0;
    if share.is_nan() {
        return "NaN%".to_owned();
    }
    format!("{share:.decimals$}%")
}

/// Milliseconds since 1970 in the pattern of `strftime`, in local time or UTC.
pub fn time(millis: i64, pattern: &str, zone: &TimeZone) -> String {
    match Timestamp::from_millisecond(millis) {
        Ok(timestamp) => timestamp.to_zoned(zone.clone()).strftime(pattern).to_string(),
        Err(_) => "?".to_owned(),
    }
}

/// Milliseconds since 1970 now.
pub fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_half_up() {
        assert_eq!(human(1023, "", 1), "1023");
        assert_eq!(human(1024, "", 1), "1 K");
        assert_eq!(human(1280, "", 1), "1.3 K");
        assert_eq!(human(1536, "", 1), "1.5 K");
        assert_eq!(human((1 << 20) - 1, "", 1), "1.0 M");
        assert_eq!(human(128 << 20, "", 1), "128 M");
        assert_eq!(human(i64::MAX, "", 1), "8.0 E");
        assert_eq!(human(-2048, "B", 2), "-2 KB");
        assert_eq!(human(10, "B", 2), "10 B");
        assert_eq!(human(1500, "B", 2), "1.46 KB");
    }

    #[test]
    fn shares() {
        assert_eq!(percent(1.0, 3.0, 2), "33.33%");
        assert_eq!(percent(0.0, 0.0, 0), "NaN%");
    }
}
