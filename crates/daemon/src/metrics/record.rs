//! A record: the metrics of one source at one moment, with their tags.

use super::counters::{Counter, Gauge};
use super::quantiles::{PERCENTILES, QuantileFigures};
use super::rate::RateFigures;
use std::borrow::Cow;
use std::sync::Arc;

/// Whether a metric only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It grows until the process ends.
    Counter,
    /// It may shrink.
    Gauge,
}

/// The value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number.
    Whole(i64),
    /// A number with a fraction.
    Real(f64),
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self::Whole(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Number {
    fn from(value: u32) -> Self {
        Self::Whole(i64::from(value))
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        Self::Whole(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Whole(value)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<&Counter> for Number {
    fn from(counter: &Counter) -> Self {
        counter.get().into()
    }
}

impl From<&Gauge> for Number {
    fn from(gauge: &Gauge) -> Self {
        gauge.get().into()
    }
}

/// The value of a label: text that many series have is not copied for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelText {
    /// A word of the program.
    Fixed(&'static str),
    /// A word of a user's.
    Shared(Arc<str>),
}

impl LabelText {
    /// The text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Fixed(text) => text,
            Self::Shared(text) => text,
        }
    }
}

/// One of several metrics that are one series with labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The name of the metric that all of them are in `/prom`.
    pub name: &'static str,
    /// Names and values of the labels. A record has each combination once.
    pub labels: [Option<(&'static str, LabelText)>; 2],
}

/// A metric at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name, which is that of the bean's attribute ([`bean_name`](Self::bean_name) for one of a series).
    pub name: Cow<'static, str>,
    /// What it counts, in a few words.
    pub help: Cow<'static, str>,
    /// Whether it only grows.
    pub kind: Kind,
    /// Its value.
    pub value: Number,
    /// Where several metrics are one series with labels.
    pub series: Option<Series>,
}

impl Metric {
    /// The name of the bean's attribute: `op=create.user=ann.count` for a metric `count` with two labels.
    pub fn bean_name(&self) -> Cow<'_, str> {
        let Some(series) = &self.series else { return Cow::Borrowed(&self.name) };
        let mut name = String::new();
        for (label, value) in series.labels.iter().flatten() {
            for part in [label, "=", value.as_str(), "."] {
                name.push_str(part);
            }
        }
        Cow::Owned(name + &self.name)
    }
}

/// A word about the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Its name; in `/jmx` it follows `tag.`, in `/prom` it is a label, in small letters.
    pub name: &'static str,
    /// The word.
    pub value: String,
    /// Whether series have it as a label. Words that change with each call have no place there: each would begin new series.
    pub is_label: bool,
}

/// The metrics of one source at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The source, which is the bean's name.
    pub source: Cow<'static, str>,
    /// The record's name, with which the names of series begin.
    pub name: Cow<'static, str>,
    /// Words about it; the machine's name is added where the record is written.
    pub tags: Vec<Tag>,
    /// The metrics.
    pub metrics: Vec<Metric>,
}

impl Record {
    /// An empty record of a source in a context (`dfs`, `rpc`, `jvm`).
    pub fn new(
        source: impl Into<Cow<'static, str>>,
        name: impl Into<Cow<'static, str>>,
        context: &str,
    ) -> Self {
        let record = Self {
            source: source.into(),
            name: name.into(),
            tags: Vec::new(),
            metrics: Vec::new(),
        };
        record.tag("Context", context)
    }

    /// Adds a tag that is a label, too.
    #[must_use]
    pub fn tag(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.tags.push(Tag { name, value: value.into(), is_label: true });
        self
    }

    /// Adds a tag that `/jmx` alone shows.
    #[must_use]
    pub fn tag_of_bean(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.tags.push(Tag { name, value: value.into(), is_label: false });
        self
    }

    /// The value of a metric.
    pub fn get(&self, name: &str) -> Option<Number> {
        let metric = self.metrics.iter().find(|metric| metric.name == name);
        metric.map(|metric| metric.value)
    }

    /// Adds a metric that only grows.
    pub fn counter(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
        value: impl Into<Number>,
    ) {
        self.push(name.into(), help.into(), Kind::Counter, value.into());
    }

    /// Adds a metric that may shrink.
    pub fn gauge(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
        value: impl Into<Number>,
    ) {
        self.push(name.into(), help.into(), Kind::Gauge, value.into());
    }

    /// Adds a metric of a series; its name in the bean is `name` behind the labels.
    pub fn gauge_of_series(
        &mut self,
        name: &'static str,
        value: impl Into<Number>,
        series: Series,
    ) {
        self.metrics.push(Metric {
            name: name.into(),
            help: Cow::Borrowed(series.name),
            kind: Kind::Gauge,
            value: value.into(),
            series: Some(series),
        });
    }

    /// Adds a rate: `NumOps`, `AvgTime`, and percentiles of a latency.
    pub fn rate(&mut self, name: &str, help: &str, rate: &RateFigures) {
        self.rate_in(name, help, rate, "Time", "Latency");
    }

    /// Adds a rate whose values are no times: `Avg` and `Percentile` are followed by `unit` and `percentile_unit`.
    pub fn rate_in(
        &mut self,
        name: &str,
        help: &str,
        rate: &RateFigures,
        unit: &str,
        percentile_unit: &str,
    ) {
        self.counter(format!("{name}NumOps"), format!("Number of ops for {help}"), rate.count);
        self.gauge(format!("{name}Avg{unit}"), format!("Average for {help}"), rate.mean);
        self.quantiles(name, help, &rate.quantiles, percentile_unit);
    }

    /// Adds percentiles over intervals.
    pub fn quantiles(
        &mut self,
        name: &str,
        help: &str,
        quantiles: &[(u32, QuantileFigures)],
        unit: &str,
    ) {
        for (seconds, figures) in quantiles {
            let name = format!("{name}{seconds}s");
            let text = format!("Number of ops for {help} in an interval of {seconds} s");
            self.gauge(format!("{name}NumOps"), text, figures.count);
            for (percentile, value) in PERCENTILES.iter().zip(figures.values) {
                let text = format!("{percentile}th percentile for {help} in {seconds} s");
                self.gauge(format!("{name}{percentile}thPercentile{unit}"), text, value);
            }
        }
    }

    fn push(
        &mut self,
        name: Cow<'static, str>,
        help: Cow<'static, str>,
        kind: Kind,
        value: Number,
    ) {
        self.metrics.push(Metric { name, help, kind, value, series: None });
    }
}
