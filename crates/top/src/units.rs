//! Sizes, rates and times for people.

/// Bytes with a binary prefix: `1.5 K`.
pub(crate) fn bytes(count: u64) -> String {
    scaled(count as f64)
}

/// Bytes a second.
pub(crate) fn bytes_per_s(rate: f64) -> String {
    format!("{}/s", scaled(rate))
}

fn scaled(value: f64) -> String {
    let mut value = value;
    for prefix in ["", "K", "M", "G", "T", "P"] {
        if value < 1023.95 {
            return match prefix {
                "" => format!("{value:.0} B"),
                _ => format!("{value:.1} {prefix}"),
            };
        }
        value /= 1024.0;
    }
    format!("{value:.1} E")
}

/// Calls a second: as many digits as there is something to see.
pub(crate) fn per_s(rate: f64) -> String {
    if rate == 0.0 || rate >= 10.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}

pub(crate) fn ms(time: f64) -> String {
    if time >= 100.0 { format!("{time:.0}") } else { format!("{time:.2}") }
}

pub(crate) fn percent(part: u64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1}%", part as f64 * 100.0 / whole as f64),
    }
}

/// `3 d 4 h`, `4 h 5 min`, `5 min 6 s`, `6 s`.
pub(crate) fn duration(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match () {
        () if days > 0 => format!("{days} d {} h", hours % 24),
        () if hours > 0 => format!("{hours} h {} min", minutes % 60),
        () if minutes > 0 => format!("{minutes} min {} s", seconds % 60),
        () => format!("{seconds} s"),
    }
}

/// What a terminal may show of a text from outside: no control characters, which would be obeyed.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_read() {
        assert_eq!(
            [bytes(0), bytes(1023), bytes(1024), bytes(1 << 20)],
            ["0 B", "1023 B", "1.0 K", "1.0 M"]
        );
        assert_eq!([bytes((1 << 20) - 1), bytes(u64::MAX)], ["1.0 M", "16.0 E"]);
        assert_eq!(bytes_per_s(1536.0), "1.5 K/s");
        assert_eq!([per_s(0.0), per_s(0.25), per_s(12.3)], ["0", "0.2", "12"]);
        assert_eq!([percent(1, 3), percent(0, 0)], ["33.3%", "-"]);
        assert_eq!(
            [duration(7), duration(61), duration(3_700), duration(90_000)],
            ["7 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]
        );
        assert_eq!(printable("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
    }
}
