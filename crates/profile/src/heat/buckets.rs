//! Latencies in classes: two for each doubling, from a microsecond to over a minute.

use std::time::Duration;

/// Classes; the last has all that is longer.
pub const BUCKETS: usize = 54;

/// The class of a latency.
pub(crate) fn bucket_of(took: Duration) -> usize {
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    if micros < 2 {
        return 0;
    }
    let octave = micros.ilog2() as usize;
    // The upper half of an octave begins at one and a half times its beginning.
    let is_upper = micros >= (3 << octave) / 2;
    (2 * octave - 1 + usize::from(is_upper)).min(BUCKETS - 1)
}

/// Where a class begins, in microseconds.
pub fn bucket_start_us(bucket: usize) -> u64 {
    match bucket {
        0 => 0,
        _ => {
            let octave = bucket.div_ceil(2);
            let start = 1 << octave;
            if bucket.is_multiple_of(2) { start * 3 / 2 } else { start }
        }
    }
}

/// A latency for people.
pub(crate) fn shown(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{} ms", short(micros as f64 / 1e3)),
        _ => format!("{} s", short(micros as f64 / 1e6)),
    }
}

fn short(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { format!("{value:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_latency_is_in_the_class_that_begins_before_it() {
        for micros in (0..5000).chain([1 << 20, (3 << 20) / 2 - 1, (3 << 20) / 2, 60_000_000]) {
            let bucket = bucket_of(Duration::from_micros(micros));
            assert!(bucket_start_us(bucket) <= micros, "{micros}: {bucket}");
            assert!(micros < bucket_start_us(bucket + 1), "{micros}: {bucket}");
        }
        assert_eq!(bucket_of(Duration::MAX), BUCKETS - 1);
        assert!(bucket_start_us(BUCKETS - 1) > 60_000_000);
    }

    #[test]
    fn latencies_have_units() {
        let texts = [7, 1_500, 48_000, 2_000_000].map(shown);
        assert_eq!(texts, ["7 µs", "1.5 ms", "48 ms", "2.0 s"]);
    }
}
