//! What TestDFSIO reports: the same lines, computed in the same way.

use super::size::MEGA;
use jiff::Zoned;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// A test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// Files made anew.
    Write,
    /// Bytes at the end of the files.
    Append,
    /// From the start on.
    Read,
    /// Anywhere, a buffer at a time.
    ReadRandom,
    /// From the end to the start.
    ReadBackward,
    /// Forward, leaving out some bytes after each buffer.
    ReadSkip,
    /// Cut to the given size.
    Truncate,
}

impl Test {
    /// As the result names it.
    pub const fn name(self) -> &'static str {
        match self {
            Test::Write => "write",
            Test::Append => "append",
            Test::Read => "read",
            Test::ReadRandom => "random read",
            Test::ReadBackward => "backward read",
            Test::ReadSkip => "skip read",
            Test::Truncate => "truncate",
        }
    }
}

/// What one task (one file) did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// Bytes it moved; of a truncate, bytes it cut off.
    pub bytes: u64,
    /// Seconds from the opened file to the closed one.
    pub seconds: f64,
}

impl Task {
    /// MB (2^20 bytes) a second.
    fn rate(&self) -> f64 {
        megabytes(self.bytes) / self.seconds
    }
}

/// What a test did.
#[derive(Clone, Debug, PartialEq)]
pub struct TestResult {
    /// Which test.
    pub test: Test,
    /// Its tasks.
    pub tasks: Vec<Task>,
    /// Seconds of the whole test.
    pub seconds: f64,
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / MEGA as f64
}

impl TestResult {
    /// Bytes of all tasks.
    pub fn bytes(&self) -> u64 {
        self.tasks.iter().map(|task| task.bytes).sum()
    }

    /// MB (2^20 bytes) a second: all bytes by the sum of the tasks' seconds.
    pub fn throughput(&self) -> f64 {
        megabytes(self.bytes()) / self.tasks.iter().map(|task| task.seconds).sum::<f64>()
    }

    /// The mean of the tasks' own rates, MB (2^20 bytes) a second.
    pub fn average_rate(&self) -> f64 {
        self.tasks.iter().map(Task::rate).sum::<f64>() / self.tasks.len() as f64
    }

    /// The standard deviation of the tasks' own rates, as of a whole population.
    pub fn deviation(&self) -> f64 {
        let squares: f64 = self.tasks.iter().map(|task| task.rate().powi(2)).sum();
        (squares / self.tasks.len() as f64 - self.average_rate().powi(2)).abs().sqrt()
    }

    /// TestDFSIO's lines, an empty one last; `now` is the time they show.
    pub fn lines(&self, now: &Zoned) -> [String; 9] {
        [
            format!("----- TestDFSIO ----- : {}", self.test.name()),
            format!("            Date & time: {}", now.strftime("%a %b %d %H:%M:%S %Z %Y")),
            format!("        Number of files: {}", self.tasks.len()),
            format!(" Total MBytes processed: {}", decimal(megabytes(self.bytes()))),
            format!("      Throughput mb/sec: {}", decimal(self.throughput())),
            format!(" Average IO rate mb/sec: {}", decimal(self.average_rate())),
            format!("  IO rate std deviation: {}", decimal(self.deviation())),
            format!("     Test exec time sec: {}", decimal(self.seconds)),
            String::new(),
        ]
    }

    /// Appends the lines to a file, which is made if it is not there; returns them.
    pub fn append_to(&self, path: &Path) -> io::Result<String> {
        let mut text = self.lines(&Zoned::now()).join("\n");
        text.push('\n');
        OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes())?;
        Ok(text)
    }
}

/// As Java's DecimalFormat of `#.##`: two decimals at most, halves to the even one.
pub fn decimal(value: f64) -> String {
    match value {
        _ if value.is_nan() => "NaN".to_owned(),
        _ if value.is_infinite() => "\u{221e}".to_owned(),
        _ => format!("{value:.2}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(tasks: &[(u64, f64)]) -> TestResult {
        let tasks = tasks.iter().map(|(mb, seconds)| Task { bytes: mb << 20, seconds: *seconds });
        TestResult { test: Test::Read, tasks: tasks.collect(), seconds: 40.42 }
    }

    /// Rates 100 and 300: the slow task has three quarters of the time.
    #[test]
    fn throughput_rate_and_deviation_are_three_things() {
        let result = result(&[(100, 1.0), (100, 1.0 / 3.0)]);
        assert!((result.throughput() - 150.0).abs() < 1e-9);
        assert!((result.average_rate() - 200.0).abs() < 1e-9);
        assert!((result.deviation() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn one_task_does_not_deviate() {
        assert!(result(&[(7, 0.123)]).deviation() < 1e-5);
    }

    /// The labels and columns are those in TestDFSIO 3.4.3, `analyzeResult`.
    #[test]
    fn lines_are_those_of_testdfsio() {
        let time: Zoned = "2023-11-14T22:13:20[UTC]".parse().unwrap();
        let lines = result(&[(10240, 16.768), (10240, 16.768)]).lines(&time);
        let expected = "\
----- TestDFSIO ----- : read
            Date & time: Tue Nov 14 22:13:20 UTC 2023
        Number of files: 2
 Total MBytes processed: 20480
      Throughput mb/sec: 610.69
 Average IO rate mb/sec: 610.69
  IO rate std deviation: 0
     Test exec time sec: 40.42
";
        assert_eq!(lines.join("\n"), expected);
    }

    /// What Java 17 prints for the same doubles.
    #[test]
    fn decimals_are_javas() {
        for (value, text) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (0.004, "0"),
            (0.005, "0.01"),
            (0.015, "0.01"),
            (0.125, "0.12"),
            (0.135, "0.14"),
            (0.995, "0.99"),
            (2.675, "2.67"),
            (12.345, "12.35"),
            (12.355, "12.36"),
            (1000.0, "1000"),
            (3688.125, "3688.12"),
            (1_234_567.891, "1234567.89"),
            (f64::INFINITY, "∞"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(decimal(value), text, "{value}");
        }
    }

    #[test]
    fn results_are_appended() {
        let path = std::env::temp_dir().join(format!("zerohop-dfsio-{}", fastrand::u64(..)));
        let one = result(&[(1, 1.0)]);
        let first = one.append_to(&path).unwrap();
        one.append_to(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(text.starts_with(&first) && text.matches("TestDFSIO").count() == 2, "{text}");
    }
}
