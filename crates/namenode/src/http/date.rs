//! Dates as Java prints them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `Sat Nov 21 12:30:16 UTC 2026`, in the system's time zone.
pub(super) fn java_date(wall_ms: u64) -> String {
    let time = Timestamp::from_millisecond(wall_ms as i64).unwrap_or_default();
    time.to_zoned(TimeZone::system()).strftime("%a %b %d %H:%M:%S %Z %Y").to_string()
}
