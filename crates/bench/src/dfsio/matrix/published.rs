//! The eight rows that were published for HDFS short-circuit reads, and ours beside them.

use super::row::Row;

/// One published row: two readers, two files of 10,240 MB, 1 MB buffer, `TestDFSIO -read`, a box with
/// an SSD, 32 cores and 188 GB, Java 6; MB are TestDFSIO's of 2^20 bytes. What was then called
/// "domain socket" are descriptors passed over one: our `local` and `local-mapped`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Whether the bytes took no network hop.
    pub is_local: bool,
    /// Whether checksums were checked.
    pub verified: bool,
    /// `warm` or `dropped`.
    pub cache: &'static str,
    /// MB/s.
    pub throughput: f64,
    /// MB/s.
    pub average_rate: f64,
    /// MB/s.
    pub rate_deviation: f64,
    /// Of the job.
    pub seconds: f64,
}

impl Published {
    /// How its bytes were read.
    pub fn path(&self) -> &'static str {
        if self.is_local { "local" } else { "tcp" }
    }
}

const fn row(
    (is_local, verified, cache): (bool, bool, &'static str),
    [throughput, average_rate, rate_deviation, seconds]: [f64; 4],
) -> Published {
    Published { is_local, verified, cache, throughput, average_rate, rate_deviation, seconds }
}

/// All eight.
pub const PUBLISHED: [Published; 8] = [
    row((false, true, "warm"), [610.7, 610.8, 5.0, 40.4]),
    row((false, true, "dropped"), [567.7, 567.8, 6.5, 42.3]),
    row((false, false, "warm"), [1521.1, 1522.7, 49.5, 28.4]),
    row((false, false, "dropped"), [694.9, 694.9, 0.06, 40.3]),
    row((true, false, "warm"), [3688.1, 3688.2, 20.6, 28.4]),
    row((true, false, "dropped"), [2534.0, 2534.1, 11.3, 26.3]),
    row((true, true, "dropped"), [585.1, 585.2, 8.8, 42.4]),
    row((true, true, "warm"), [611.6, 611.8, 10.6, 38.3]),
];

/// The published rows, each with ours of the same kind: the most readers, and of the local ways the
/// faster one.
pub fn beside_published(rows: &[Row]) -> Vec<(Published, Option<&Row>)> {
    let readers = rows.iter().filter(|row| row.op == "read").map(|row| row.threads).max();
    let is_same = |published: &Published, row: &Row| {
        let is_local = matches!(row.path, "local" | "local-mapped");
        row.op == "read"
            && Some(row.threads) == readers
            && row.throughput.is_some()
            && row.path != "domain-socket"
            && (is_local, row.verified, row.cache)
                == (published.is_local, published.verified, published.cache)
    };
    let ours = |published: &Published| {
        let same = rows.iter().filter(|row| is_same(published, row));
        same.max_by(|a, b| a.throughput.unwrap_or(0.0).total_cmp(&b.throughput.unwrap_or(0.0)))
    };
    PUBLISHED.iter().map(|published| (*published, ours(published))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::rows;
    use super::*;

    #[test]
    fn ours_stands_beside_its_kind_only() {
        let rows = rows();
        for (published, ours) in beside_published(&rows.rows) {
            let is_kind = published.is_local && published.verified && published.cache == "warm";
            assert_eq!(ours.is_some(), is_kind, "{published:?}");
        }
    }
}
