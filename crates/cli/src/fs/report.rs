//! What `-v` says of reads.

use zerohop_client::{RangeCount, ReadReason, ReadStatistics};

/// A line for each way and reason, and one of totals.
pub fn lines(read: &ReadStatistics) -> Vec<String> {
    let mut lines: Vec<String> = read.ranges.iter().map(|range| line(range, read)).collect();
    lines.push(format!(
        "reads: {} bytes in all, {} verified; replicas: {} found open, {} asked for, {} waited for; \
         {} failed over, {} corrupt",
        read.total(),
        read.checked_bytes,
        read.cache_hits,
        read.cache_misses,
        read.waits,
        read.failovers,
        read.corrupt
    ));
    lines
}

fn line(range: &RangeCount, read: &ReadStatistics) -> String {
    let RangeCount { path, reason, bytes, ops, .. } = range;
    let what = format!("reads: {} {bytes} bytes in {ops} ranges", path.name());
    match (&read.last, &read.detail) {
        (Some((last_path, ReadReason::None)), Some(note))
            if *reason == ReadReason::None && last_path == path =>
        {
            format!("{what} ({note})")
        }
        _ if *reason == ReadReason::None => what,
        (Some((_, last)), Some(detail)) if last == reason => {
            format!("{what}, not local: {} ({detail})", reason.name())
        }
        _ => format!("{what}, not local: {}", reason.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_client::ReadPath;

    #[test]
    fn every_way_has_its_line_and_its_reason() {
        let range = |path, reason, bytes| {
            let mut range = RangeCount::new(path, reason);
            (range.bytes, range.ops) = (bytes, 1);
            range
        };
        let mut read = ReadStatistics::default();
        read.ranges = vec![
            range(ReadPath::LocalMapped, ReadReason::None, 7),
            range(ReadPath::TcpLocal, ReadReason::SocketAbsent, 5),
        ];
        read.last = Some((ReadPath::TcpLocal, ReadReason::SocketAbsent));
        read.detail = Some("nobody answers".to_owned());
        let lines = lines(&read);
        assert_eq!(lines[0], "reads: local-mapped 7 bytes in 1 ranges");
        assert_eq!(
            lines[1],
            "reads: tcp-local 5 bytes in 1 ranges, not local: socket-absent (nobody answers)"
        );
        assert_eq!(lines.len(), 3);
        let mut by_path = ReadStatistics::default();
        by_path.ranges = vec![range(ReadPath::Local, ReadReason::None, 7)];
        by_path.last = Some((ReadPath::Local, ReadReason::None));
        by_path.detail = Some("a hole".to_owned());
        assert_eq!(super::lines(&by_path)[0], "reads: local 7 bytes in 1 ranges (a hole)");
    }
}
