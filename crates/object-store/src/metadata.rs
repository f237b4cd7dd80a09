//! What is known of an object.

use chrono::{DateTime, Utc};
use object_store::ObjectMeta;
use object_store::path::Path;
use zerohop_client::FileStatus;

/// The tag of an object's bytes. Every put makes an inode of its own; an append or a truncation changes the length or the time.
pub(crate) fn e_tag(status: &FileStatus) -> String {
    format!("\"{:x}-{:x}-{:x}\"", status.file_id.0, status.modified_ms, status.len)
}

/// The description of an object.
pub(crate) fn object_meta(location: Path, status: &FileStatus) -> ObjectMeta {
    ObjectMeta {
        location,
        last_modified: time(status.modified_ms),
        size: status.len,
        e_tag: Some(e_tag(status)),
        version: None,
    }
}

/// A time of HDFS; the latest that can be told for one that is later.
fn time(ms: u64) -> DateTime<Utc> {
    let ms = i64::try_from(ms).unwrap_or(i64::MAX);
    DateTime::from_timestamp_millis(ms).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_time_can_be_told() {
        assert_eq!(time(1_700_000_000_123).to_rfc3339(), "2023-11-14T22:13:20.123+00:00");
        assert_eq!(time(u64::MAX), DateTime::<Utc>::MAX_UTC);
    }
}
