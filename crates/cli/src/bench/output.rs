//! What measurements print.

use zerohop_bench::{Report, Row};

use crate::failure::{Failure, Outcome};

/// A line for a figure that was just taken.
pub fn progress(row: &Row) -> String {
    format!("{}: {:.1} {}", row.name, row.value, row.unit)
}

/// The whole report.
pub fn print(report: &Report, as_json: bool) -> Outcome<i32> {
    match as_json {
        true => sayln!("{}", report.to_json().map_err(|error| Failure::io(error.to_string()))?),
        false => say!("{}", report.to_table()),
    }
    Ok(0)
}
