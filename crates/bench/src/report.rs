//! Figures, their limits and their costs: a table for people, JSON for programs.

use crate::measure::{Percentiles, median};
use comfy_table::{CellAlignment, Table, presets};
use procfs::{CpuInfo, Current};
use serde::Serialize;
use std::fmt::Write;

/// What the machine allows for the same work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limit {
    /// How it was measured.
    pub name: String,
    /// In the figure's unit.
    pub value: f64,
}

/// CPU time of a process, for a unit of work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The process.
    pub name: String,
    /// In `unit`.
    pub value: f64,
    /// `s/GB` or `us/op`.
    pub unit: &'static str,
}

/// One figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// What was measured.
    pub name: String,
    /// The median of the runs.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Every run.
    pub runs: Vec<f64>,
    /// Times of single operations, where they were taken.
    pub latency: Option<Percentiles>,
    /// What it is measured against.
    pub limit: Option<Limit>,
    /// CPU time of each process.
    pub costs: Vec<Cost>,
    /// Operations that failed, where they are counted.
    pub failures: Option<u64>,
}

impl Row {
    /// A figure from several runs.
    pub fn new(name: impl Into<String>, unit: &'static str, runs: Vec<f64>) -> Self {
        Self { name: name.into(), value: median(&runs), unit, runs, ..Self::default() }
    }

    /// A figure of times of single operations; its value is their median.
    pub fn latency(name: impl Into<String>, latency: Percentiles) -> Self {
        let row = Self::new(name, "us", vec![latency.p50_us]);
        Self { latency: Some(latency), ..row }
    }

    /// Beside what the machine allows.
    pub fn against(mut self, name: impl Into<String>, value: f64) -> Self {
        self.limit = Some(Limit { name: name.into(), value });
        self
    }

    /// With CPU time.
    pub fn cost(mut self, name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        self.costs.push(Cost { name: name.into(), value, unit });
        self
    }

    /// With the number of operations that failed.
    pub fn failed(self, failures: u64) -> Self {
        Self { failures: Some(failures), ..self }
    }

    /// The figure as a part of its limit.
    pub fn ratio(&self) -> Option<f64> {
        self.limit.as_ref().filter(|limit| limit.value > 0.0).map(|limit| self.value / limit.value)
    }
}

/// All figures of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Processor, number of cores, kernel.
    pub machine: String,
    /// The figures in the order they were taken.
    pub rows: Vec<Row>,
}

impl Report {
    /// An empty report of this machine.
    pub fn new() -> Self {
        Self { machine: machine(), rows: Vec::new() }
    }

    /// The report as JSON.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// The report as a table for a terminal.
    pub fn to_table(&self) -> String {
        let head = ["what", "figure", "", "spread", "of the limit", "CPU"].map(str::to_owned);
        let mut lines = vec![head.to_vec()];
        lines.extend(self.rows.iter().map(line));
        format!("{}\n\n{}", self.machine, aligned(&lines, &[1]))
    }
}

/// Cells under each other; the columns in `right` end where their longest cell ends.
pub fn aligned(lines: &[Vec<String>], right: &[usize]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_rows(lines);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    for index in right {
        if let Some(column) = table.column_mut(*index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt() + "\n"
}

fn line(row: &Row) -> Vec<String> {
    let limit = match (&row.limit, row.ratio()) {
        (Some(limit), Some(ratio)) => {
            format!("{ratio:.2} of {} {}", number(limit.value), limit.name)
        }
        _ => String::new(),
    };
    let costs = row.costs.iter().map(|cost| {
        let Cost { name, value, unit } = cost;
        match *unit {
            "s/GB" => format!("{name} {value:.3} {unit}"),
            _ => format!("{name} {value:.1} {unit}"),
        }
    });
    let costs: Vec<String> = costs.collect();
    vec![
        row.name.clone(),
        number(row.value),
        row.unit.to_owned(),
        spread(row),
        limit,
        costs.join(", "),
    ]
}

fn spread(row: &Row) -> String {
    let mut text = String::new();
    if let Some(latency) = row.latency {
        // Writing to a string does not fail.
        let _ = match row.unit {
            "us" => write!(text, "p99 {}", number(latency.p99_us)),
            _ => {
                let (p50, p99) = (number(latency.p50_us), number(latency.p99_us));
                write!(text, "p50 {p50} us, p99 {p99} us")
            }
        };
    } else if row.runs.len() > 1 {
        let least = row.runs.iter().copied().fold(f64::INFINITY, f64::min);
        let most = row.runs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let _ = write!(text, "{} to {}", number(least), number(most));
    }
    if let Some(failures) = row.failures {
        let _ = write!(text, ", {failures} failed");
    }
    text
}

/// As many digits as count.
pub fn number(value: f64) -> String {
    match value.abs() {
        abs if abs >= 100.0 => format!("{value:.0}"),
        abs if abs >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

fn machine() -> String {
    let cpus = CpuInfo::current().ok();
    let model = cpus.as_ref().and_then(|cpus| cpus.model_name(0)).unwrap_or("unknown processor");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy();
    format!(
        "{model}, {cores} cores, Linux {release}, checksums by {}",
        zerohop_checksum::kernel_name()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_figure_limit_and_cost() {
        let row = Row::new("read", "MB/s", vec![900.0, 1000.0, 950.0])
            .against("raw sendfile", 1000.0)
            .cost("DataNode", 0.25, "s/GB");
        assert_eq!(row.ratio(), Some(0.95));
        let table = Report { machine: "m".to_owned(), rows: vec![row] }.to_table();
        let line = table.lines().last().unwrap();
        assert!(line.contains("0.95 of 1000 raw sendfile"), "{line}");
        assert!(line.contains("DataNode 0.250 s/GB"), "{line}");
    }
}
