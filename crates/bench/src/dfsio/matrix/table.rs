//! The rows for a terminal.

use super::published::beside_published;
use super::row::{Row, Rows};
use crate::report::{aligned, number};

const HEAD: [&str; 13] = [
    "op",
    "path",
    "verified",
    "cache",
    "call",
    "threads",
    "MB/s",
    "calls/s",
    "of limit",
    "p50 us",
    "p99 us",
    "client CPU",
    "DataNode CPU",
];

impl Rows {
    /// All rows, then the published ones with ours beside them.
    pub fn to_table(&self) -> String {
        let mut lines = vec![HEAD.map(str::to_owned).to_vec()];
        lines.extend(self.rows.iter().map(cells));
        let mut text = format!("{}\n\n{}", self.machine, aligned(&lines, &RIGHT));
        text.push_str(&self.notes());
        text.push_str("\nThe eight published rows (TestDFSIO -read, two readers) and ours; MB/s as TestDFSIO counts them\n\n");
        text.push_str(&self.to_published_table());
        text
    }

    /// The eight published rows, with ours of the same kind beside them.
    pub fn to_published_table(&self) -> String {
        let head = [
            "path",
            "verified",
            "cache",
            "published",
            "ours",
            "times",
            "ours by",
            "average rate",
            "deviation",
            "readers",
        ];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        for (published, ours) in beside_published(&self.rows) {
            let of = |pick: fn(&Row) -> Option<f64>| figure(ours.and_then(pick));
            let times = ours.and_then(|row| row.throughput).map(|ours| ours / published.throughput);
            lines.push(vec![
                published.path().to_owned(),
                yes_or_no(published.verified).to_owned(),
                published.cache.to_owned(),
                format!("{:.1}", published.throughput),
                of(|row| row.throughput),
                times.map_or("-".to_owned(), |times| format!("{times:.1}x")),
                ours.map_or("-", |row| row.path).to_owned(),
                of(|row| row.average_rate),
                of(|row| row.rate_deviation),
                ours.map_or("-".to_owned(), |row| row.threads.to_string()),
            ]);
        }
        aligned(&lines, &[3, 4, 5, 7, 8, 9])
    }

    fn notes(&self) -> String {
        let mut text = "\nlimit: read(2) of a plain file of the same bytes, pread(2) on the open block files for random reads, each in\n\
            turn with the row's own runs; MB and GB of 10^6 and 10^9 bytes; CPU in seconds for a GB\n"
            .to_owned();
        let mut reasons: Vec<&str> = Vec::new();
        for why in self.rows.iter().filter_map(|row| row.not_available.as_deref()) {
            if !reasons.contains(&why) {
                reasons.push(why);
            }
        }
        for (number, why) in reasons.iter().enumerate() {
            text.push_str(&format!("not available [{}]: {why}\n", number + 1));
        }
        text
    }
}

/// Columns whose numbers end where the others end.
const RIGHT: [usize; 9] = [4, 5, 6, 7, 8, 9, 10, 11, 12];

/// A figure, or a dash.
pub fn figure(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), number)
}

/// A small figure to three places, or a dash.
pub fn fine(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.3}"))
}

/// `4 KiB`, `1 MiB`, or bytes.
pub fn size(bytes: usize) -> String {
    match bytes {
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

fn cells(row: &Row) -> Vec<String> {
    let ratio = match (&row.not_available, row.ratio) {
        (Some(_), _) => "n/a".to_owned(),
        (None, ratio) => ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
    };
    let figures = [
        figure(row.mb_s),
        figure(row.ops_s),
        ratio,
        figure(row.p50_us),
        figure(row.p99_us),
        fine(row.client_cpu_s_per_gb),
        fine(row.datanode_cpu_s_per_gb),
    ];
    circumstances(row).into_iter().chain(figures).collect()
}

/// The first columns of a row: what was done, and how.
pub fn circumstances(row: &Row) -> [String; 6] {
    [
        row.op.to_owned(),
        row.path.to_owned(),
        yes_or_no(row.verified).to_owned(),
        row.cache.to_owned(),
        size(row.size),
        row.threads.to_string(),
    ]
}

fn yes_or_no(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::rows;

    #[test]
    fn rows_without_figures_say_so_and_why() {
        let text = rows().to_table();
        let line = text.lines().find(|line| line.contains("20000")).unwrap();
        assert!(line.contains("local-mapped") && line.contains("1.11"), "{line}");
        assert!(text.contains(" n/a "), "{text}");
        assert!(text.contains("not available [1]: reads went by tcp-local"), "{text}");
        assert!(text.contains("15.6x"), "{text}");
    }
}
