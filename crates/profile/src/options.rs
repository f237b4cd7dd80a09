//! What is recorded.

use std::time::Duration;

/// The longest recording.
pub const SECONDS_MAX: u64 = 300;
/// The most samples that one thread gives in a second.
pub const HZ_MAX: u32 = 1000;

/// What the pages of this crate's pictures answer when they are only asked whether they are there (`?probe`).
pub const PROBE_ANSWER: &str = "zerohop profile\n";

/// The header in which the page of a recording gives the number of its samples.
pub const SAMPLES_HEADER: &str = "zerohop-samples";

/// What the samples of a recording are spread over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The processor time of each thread: where the process computes.
    #[default]
    Cpu,
    /// The time of day, for all threads: where they wait.
    Wall,
}

/// How long a recording takes, and how often it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Length of the recording.
    pub duration: Duration,
    /// Samples that each thread gives for a second of the clock.
    pub hz: u32,
    /// The clock.
    pub clock: Clock,
    /// Signals take the samples, also where the kernel would do it (`perf_event_open`) and show its own frames.
    pub by_signals: bool,
}

/// Why options are not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadOption {
    /// The length.
    #[error("seconds is a number above 0 and up to {SECONDS_MAX}, not {0:?}")]
    Seconds(String),
    /// The frequency.
    #[error("hz is a whole number from 1 to {HZ_MAX}, not {0:?}")]
    Hz(String),
}

impl Default for Options {
    /// Ten seconds at 99 Hz: not in step with work that happens at round intervals.
    fn default() -> Self {
        Self { duration: Duration::from_secs(10), hz: 99, clock: Clock::Cpu, by_signals: false }
    }
}

impl Options {
    /// From words of a command line or a query; those that are missing have the default.
    ///
    /// # Errors
    /// If one of them is no number or out of range.
    pub fn parse(seconds: Option<&str>, hz: Option<&str>, clock: Clock) -> Result<Self, BadOption> {
        let default = Self::default();
        let duration = match seconds {
            None => default.duration,
            Some(word) => {
                let seconds = word.parse::<f64>().ok();
                let fits = |seconds: &f64| *seconds > 0.0 && *seconds <= SECONDS_MAX as f64;
                let seconds =
                    seconds.filter(fits).ok_or_else(|| BadOption::Seconds(shown(word)))?;
                Duration::from_secs_f64(seconds)
            }
        };
        let hz = match hz {
            None => default.hz,
            Some(word) => {
                let hz = word.parse().ok().filter(|hz| (1..=HZ_MAX).contains(hz));
                hz.ok_or_else(|| BadOption::Hz(shown(word)))?
            }
        };
        Ok(Self { duration, hz, clock, by_signals: false })
    }
}

/// The beginning of a word that may be of any length.
fn shown(word: &str) -> String {
    word.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused() {
        let parse = |seconds, hz| Options::parse(seconds, hz, Clock::Cpu);
        assert_eq!(parse(None, None), Ok(Options::default()));
        let short = parse(Some("0.5"), Some("1000")).unwrap();
        assert_eq!((short.duration, short.hz), (Duration::from_millis(500), 1000));
        let huge = "9".repeat(100_000);
        for word in ["", "0", "-1", "301", "NaN", "inf", "1e300", huge.as_str()] {
            let error = parse(Some(word), None).unwrap_err();
            assert!(error.to_string().len() < 120, "{error}");
        }
        for word in ["", "0", "-1", "1001", "99.5", huge.as_str()] {
            assert!(parse(None, Some(word)).is_err(), "{word:.10}");
        }
    }
}
