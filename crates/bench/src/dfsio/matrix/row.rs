//! A row of the matrix as it is reported.

use super::cell::Cell;
use serde::Serialize;

/// One measured row. A figure that was not taken is `null`. MB and GB count in powers of 10.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// `read` (from start to end), `scan` (without a copy), `random-read` or `vectored-read`.
    pub op: &'static str,
    /// `tcp`, `domain-socket`, `local` or `local-mapped`.
    pub path: &'static str,
    /// Whether every byte was checked against its checksum.
    pub verified: bool,
    /// `warm`, or `dropped` before each run.
    pub cache: &'static str,
    /// Bytes of each call.
    pub size: usize,
    /// Readers at once.
    pub threads: usize,
    /// All readers together.
    pub mb_s: Option<f64>,
    /// Calls a second of all readers together.
    pub ops_s: Option<f64>,
    /// read(2) or pread(2) of the same bytes with as many threads, in turn with the row's own runs.
    pub limit_mb_s: Option<f64>,
    /// Calls a second of the same.
    pub limit_ops_s: Option<f64>,
    /// The row as a part of its limit.
    pub ratio: Option<f64>,
    /// Half of the random reads were faster.
    pub p50_us: Option<f64>,
    /// One in a hundred random reads was slower.
    pub p99_us: Option<f64>,
    /// The same of pread(2).
    pub limit_p50_us: Option<f64>,
    /// The same of pread(2).
    pub limit_p99_us: Option<f64>,
    /// CPU seconds of this process.
    pub client_cpu_s_per_gb: Option<f64>,
    /// CPU seconds of the watched processes: the DataNode, or the whole cluster started for this.
    pub datanode_cpu_s_per_gb: Option<f64>,
    /// As TestDFSIO: all bytes by the sum of the readers' seconds, in MB of 2^20 bytes.
    pub throughput: Option<f64>,
    /// As TestDFSIO: the mean of the readers' own rates, in MB of 2^20 bytes a second.
    pub average_rate: Option<f64>,
    /// As TestDFSIO: the standard deviation of these rates.
    pub rate_deviation: Option<f64>,
    /// Seconds of a run.
    pub seconds: Option<f64>,
    /// Bytes of all runs that came from a file or a map on this machine.
    pub local_bytes: u64,
    /// Runs that count; figures are their medians.
    pub runs: usize,
    /// `mb_s` of each run, in the order of the runs.
    pub mb_s_runs: Vec<f64>,
    /// `limit_mb_s` of each run; each was measured just before the run of the same number.
    pub limit_mb_s_runs: Vec<f64>,
    /// Why there are no figures.
    pub not_available: Option<String>,
}

impl Row {
    /// A row without figures.
    pub fn of(cell: &Cell) -> Self {
        Self {
            op: cell.op.name(),
            path: cell.mode.name(),
            verified: cell.verified,
            cache: cell.cache(),
            size: cell.size,
            threads: cell.threads,
            ..Self::default()
        }
    }

    /// Without figures, and why.
    pub fn missing(cell: &Cell, why: impl Into<String>) -> Self {
        Self { not_available: Some(why.into()), ..Self::of(cell) }
    }

    /// Whether `other` differs in path and verification at most.
    pub fn is_beside(&self, other: &Row) -> bool {
        let circumstances = |row: &Row| (row.op, row.cache, row.size, row.threads);
        circumstances(self) == circumstances(other)
    }
}

/// All rows of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Processor, number of cores, kernel.
    pub machine: String,
    /// Bytes of each file.
    pub file_len: u64,
    /// In the order they were measured.
    pub rows: Vec<Row>,
}

impl Rows {
    /// An array of rows.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&self.rows)
    }

    /// A line of names, then a line a row; figures that were not taken are empty.
    pub fn to_csv(&self) -> serde_json::Result<String> {
        let names = fields(&Row::default())?;
        let mut text = line(names.iter().map(|(name, _)| name.as_str()));
        for row in &self.rows {
            text.push_str(&line(fields(row)?.iter().map(|(_, value)| value.as_str())));
        }
        Ok(text)
    }
}

/// Names and values in the order they are declared.
fn fields(row: &Row) -> serde_json::Result<Vec<(String, String)>> {
    let text = serde_json::to_string(row)?;
    let in_order: Ordered = serde_json::from_str(&text)?;
    Ok(in_order.0)
}

/// A JSON object whose order counts.
struct Ordered(Vec<(String, String)>);

impl<'de> serde::Deserialize<'de> for Ordered {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Ordered;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: serde::de::MapAccess<'de>>(
                self,
                mut map: M,
            ) -> Result<Self::Value, M::Error> {
                let mut all = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, serde_json::Value>()? {
                    let text = match value {
                        serde_json::Value::Null => String::new(),
                        serde_json::Value::String(text) => text,
                        other => other.to_string(),
                    };
                    all.push((name, text));
                }
                Ok(Ordered(all))
            }
        }
        from.deserialize_map(Visitor)
    }
}

fn line<'a>(cells: impl Iterator<Item = &'a str>) -> String {
    let quoted = |cell: &str| match cell.contains([',', '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    };
    let cells: Vec<String> = cells.map(quoted).collect();
    cells.join(",") + "\n"
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::dfsio::matrix::{Op, ReadMode};

    /// Rows as of a run, one of them without figures.
    pub fn rows() -> Rows {
        let cell = Cell {
            op: Op::Read,
            mode: ReadMode::LocalMapped,
            verified: true,
            is_dropped: false,
            size: 1 << 20,
            threads: 2,
        };
        let measured = Row {
            mb_s: Some(20_000.0),
            limit_mb_s: Some(18_000.0),
            ratio: Some(1.11),
            throughput: Some(9_536.7),
            local_bytes: 5 << 30,
            runs: 5,
            ..Row::of(&cell)
        };
        let missing =
            Row::missing(&Cell { verified: false, ..cell }, "reads went by tcp-local (a, \"b\")");
        Rows { machine: "a machine".to_owned(), file_len: 1 << 30, rows: vec![measured, missing] }
    }

    #[test]
    fn json_is_an_array_with_these_fields() {
        let json: serde_json::Value = serde_json::from_str(&rows().to_json().unwrap()).unwrap();
        let rows = json.as_array().unwrap();
        assert_eq!(rows.len(), 2);
        for name in [
            "op",
            "path",
            "verified",
            "cache",
            "size",
            "threads",
            "mb_s",
            "ops_s",
            "limit_mb_s",
            "limit_ops_s",
            "ratio",
            "p50_us",
            "p99_us",
            "client_cpu_s_per_gb",
            "datanode_cpu_s_per_gb",
            "local_bytes",
            "runs",
        ] {
            assert!(rows.iter().all(|row| row.get(name).is_some()), "{name}");
        }
        assert_eq!(rows[0]["path"], "local-mapped");
        assert_eq!(rows[0]["mb_s"], 20_000.0);
        assert!(rows[1]["mb_s"].is_null() && rows[1]["not_available"].is_string());
    }

    #[test]
    fn csv_has_a_cell_for_each_name() {
        let text = rows().to_csv().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("op,path,verified,cache,size,threads,mb_s,"), "{text}");
        assert!(lines[1].starts_with("read,local-mapped,true,warm,1048576,2,20000.0,,"), "{text}");
        assert_eq!(lines[0].matches(',').count(), lines[1].matches(',').count());
        assert!(lines[2].ends_with("\"reads went by tcp-local (a, \"\"b\"\")\""), "{text}");
        assert_eq!(Rows::default().to_csv().unwrap().lines().count(), 1);
    }
}
