//! Figures of both sides beside each other.

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use zerohop_bench::{Row, median};

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Better {
    /// A rate.
    More,
    /// A time.
    Less,
}

/// One side's figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    /// The median of the runs.
    pub value: f64,
    /// Every run.
    pub runs: Vec<f64>,
    /// CPU time of clients and servers together for a unit of work, the median of the runs.
    pub cpu: Option<f64>,
}

impl Figure {
    /// The median of some runs.
    pub fn new(runs: Vec<f64>) -> Self {
        Self { value: median(&runs), runs, cpu: None }
    }

    /// With the CPU time of each run.
    pub fn with_cpu(self, runs: &[f64]) -> Self {
        Self { cpu: Some(median(runs)), ..self }
    }

    /// What our own benchmark measured; the CPU time of all its processes together.
    pub fn of_row(row: &Row) -> Self {
        let cpu = row.costs.iter().map(|cost| cost.value).sum();
        let cpu = (!row.costs.is_empty()).then_some(cpu);
        Self { value: row.value, runs: row.runs.clone(), cpu }
    }
}

/// The same work on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The work.
    pub name: String,
    /// The figures' unit.
    pub unit: &'static str,
    /// The CPU times' unit.
    pub cpu_unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// Apache Hadoop.
    pub apache: Figure,
    /// This repository.
    pub ours: Figure,
    /// How many times better ours shall be.
    pub goal: Option<f64>,
}

impl Pair {
    /// How many times better ours is.
    pub fn ratio(&self) -> f64 {
        match self.better {
            Better::More => self.ours.value / self.apache.value,
            Better::Less => self.apache.value / self.ours.value,
        }
    }

    /// Apache's CPU time as a multiple of ours.
    fn cpu_ratio(&self) -> Option<f64> {
        let ours = self.ours.cpu.filter(|ours| *ours > 0.0)?;
        Some(self.apache.cpu? / ours)
    }

    fn cells(&self) -> Vec<String> {
        let cpu = |figure: &Figure| figure.cpu.map_or(String::new(), number);
        let times = |ratio: f64| format!("{}x", number(ratio));
        let goal = self.goal.map_or(String::new(), |goal| {
            let word = if self.ratio() >= goal { "reached" } else { "missed" };
            format!("{} {word}", times(goal))
        });
        vec![
            self.name.clone(),
            number(self.apache.value),
            number(self.ours.value),
            self.unit.to_owned(),
            times(self.ratio()),
            goal,
            cpu(&self.apache),
            cpu(&self.ours),
            self.ours.cpu.map_or(String::new(), |_| self.cpu_unit.to_owned()),
            self.cpu_ratio().map_or(String::new(), times),
        ]
    }
}

/// The table of all pairs.
pub fn table(pairs: &[Pair]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "work",
        "Apache",
        "ours",
        "",
        "ours better",
        "goal",
        "CPU Apache",
        "CPU ours",
        "",
        "less CPU",
    ]);
    for pair in pairs {
        table.add_row(pair.cells());
    }
    for column in [1, 2, 4, 6, 7, 9] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// Three digits that count.
pub fn number(value: f64) -> String {
    match value.abs() {
        abs if abs >= 100.0 => format!("{value:.0}"),
        abs if abs >= 10.0 => format!("{value:.1}"),
        abs if abs >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(better: Better) -> Pair {
        let apache = Figure::new(vec![10.0, 1.0, 10.0]).with_cpu(&[4.0]);
        let ours = Figure::new(vec![40.0]).with_cpu(&[1.0]);
        let (name, unit, cpu_unit) = ("work".to_owned(), "MB/s", "s/GB");
        Pair { name, unit, cpu_unit, better, apache, ours, goal: Some(3.0) }
    }

    #[test]
    fn a_ratio_says_how_many_times_better() {
        assert_eq!(pair(Better::More).ratio(), 4.0);
        assert_eq!(pair(Better::Less).ratio(), 0.25);
        let text = table(&[pair(Better::More), pair(Better::Less)]);
        assert!(text.contains("reached") && text.contains("missed"), "{text}");
    }
}
