//! A heat map: how many calls took how long, over time.

use super::buckets::{BUCKETS, bucket_start_us};
use super::history::Second;
use serde_json::{Value, json};

/// Columns that a map has at most; a column has several seconds where there are more.
const COLUMNS_MAX: u64 = 300;

/// The calls of one kind to one volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatMap {
    /// Where: a volume's directory, or a block device.
    pub place: String,
    /// What was called.
    pub kind: &'static str,
    /// Seconds of one column.
    pub seconds_each: u64,
    /// A count for each class of latencies, by column; the last column is now.
    pub columns: Vec<[u64; BUCKETS]>,
}

/// Over all columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Calls.
    pub count: u64,
    /// The mean, with the middle of its class for each call, in milliseconds.
    pub mean_ms: f64,
    /// The class in the middle, where it begins, in milliseconds.
    pub median_ms: f64,
    /// Of a hundred calls one takes longer, in milliseconds.
    pub p99_ms: f64,
    /// The longest, in milliseconds: where its class begins.
    pub max_ms: f64,
}

impl HeatMap {
    /// The map of the last `length` seconds before `now` of a history.
    pub fn new(
        place: String,
        kind: &'static str,
        seconds: &[Second],
        now: u64,
        length: u64,
    ) -> Self {
        let seconds_each = length.max(1).div_ceil(COLUMNS_MAX);
        let count = length.max(1).div_ceil(seconds_each);
        let mut columns = vec![[0; BUCKETS]; usize::try_from(count).unwrap_or_default()];
        for second in seconds {
            let age = now.saturating_sub(second.index) / seconds_each;
            let index = count.checked_sub(age + 1).and_then(|index| usize::try_from(index).ok());
            let Some(column) = index.and_then(|index| columns.get_mut(index)) else { continue };
            for (bucket, count) in &second.counts {
                if let Some(cell) = column.get_mut(usize::from(*bucket)) {
                    *cell += u64::from(*count);
                }
            }
        }
        Self { place, kind, seconds_each, columns }
    }

    /// All calls by class.
    fn totals(&self) -> [u64; BUCKETS] {
        let mut totals = [0; BUCKETS];
        for column in &self.columns {
            totals.iter_mut().zip(column).for_each(|(total, count)| *total += count);
        }
        totals
    }

    /// Figures of the whole map; none without calls.
    pub fn summary(&self) -> Option<Summary> {
        let totals = self.totals();
        let count: u64 = totals.iter().sum();
        let at = |share: f64| {
            let rank = ((count as f64 * share).ceil() as u64).max(1);
            let mut seen = 0;
            let bucket = totals.iter().position(|in_bucket| {
                seen += in_bucket;
                seen >= rank
            });
            bucket_start_us(bucket.unwrap_or_default()) as f64 / 1e3
        };
        let middle = |bucket| (bucket_start_us(bucket) + bucket_start_us(bucket + 1)) as f64 / 2e3;
        let sum: f64 =
            totals.iter().enumerate().map(|(bucket, count)| middle(bucket) * *count as f64).sum();
        let mean_ms = sum / count.max(1) as f64;
        (count > 0).then(|| Summary {
            count,
            mean_ms,
            median_ms: at(0.5),
            p99_ms: at(0.99),
            max_ms: at(1.0),
        })
    }

    /// The map for programs: cells that are not empty as column, begin of the class in microseconds, count.
    pub fn json(&self) -> Value {
        let cells = self.columns.iter().enumerate().flat_map(|(index, column)| {
            let filled = column.iter().enumerate().filter(|(_, count)| **count > 0);
            filled.map(move |(bucket, count)| json!([index, bucket_start_us(bucket), count]))
        });
        let summary = self.summary().map(|summary| {
            json!({
                "count": summary.count,
                "meanMs": summary.mean_ms,
                "medianMs": summary.median_ms,
                "p99Ms": summary.p99_ms,
                "maxMs": summary.max_ms,
            })
        });
        json!({
            "place": self.place,
            "kind": self.kind,
            "secondsPerColumn": self.seconds_each,
            "columns": self.columns.len(),
            "summary": summary,
            "cells": cells.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(index: u64, counts: &[(u8, u32)]) -> Second {
        Second { index, counts: counts.into() }
    }

    #[test]
    fn seconds_become_columns_that_end_now() {
        let seconds =
            [second(1, &[(3, 9)]), second(90, &[(3, 1)]), second(100, &[(3, 2), (200, 7)])];
        let map = HeatMap::new("/d".into(), "read", &seconds, 100, 60);
        assert_eq!((map.columns.len(), map.seconds_each), (60, 1));
        assert_eq!((map.columns[59][3], map.columns[49][3]), (2, 1));
        assert_eq!(map.summary().unwrap().count, 3);
        let hour = HeatMap::new("/d".into(), "read", &seconds, 3600, 3600);
        assert_eq!((hour.columns.len(), hour.seconds_each), (300, 12));
        assert_eq!(hour.summary().unwrap().count, 12);
        assert_eq!(HeatMap::new(String::new(), "read", &[], 0, 0).summary(), None);
    }

    #[test]
    fn figures_are_of_all_calls() {
        let seconds = [second(0, &[(10, 990), (40, 10)])];
        let summary = HeatMap::new(String::new(), "read", &seconds, 0, 60).summary().unwrap();
        assert_eq!(summary.median_ms, bucket_start_us(10) as f64 / 1e3);
        assert_eq!(summary.p99_ms, summary.median_ms);
        assert_eq!(summary.max_ms, bucket_start_us(40) as f64 / 1e3);
    }
}
