//! What a daemon counts and measures, under the names of Hadoop's metrics.
//!
//! Each daemon has typed metrics ([`Counter`], [`Gauge`], [`Rate`]) that its threads change with a few atomic operations, and
//! makes [`Record`]s of them and of the state it has at the time of the question. `/jmx` and `/prom` are two ways to write the same
//! records, so a value has one source. A record is what Hadoop's metrics system calls a record: the names of its metrics are
//! the attributes of a bean, and the names of series of Hadoop's Prometheus exporter follow from them ([`series_name`]).

mod counters;
mod interval;
mod names;
#[cfg(target_os = "linux")]
mod process;
mod quantiles;
mod rate;
mod record;

pub use counters::{Counter, Gauge, GaugeGuard};
pub use interval::IntervalMean;
pub use names::series_name;
#[cfg(target_os = "linux")]
pub use process::{Memory, ThreadStates, process_record};
pub use quantiles::{Intervals, QuantileFigures, Quantiles, QuantilesOverTime};
pub use rate::{Rate, RateFigures};
pub use record::{Kind, LabelText, Metric, Number, Record, Series, Tag};
