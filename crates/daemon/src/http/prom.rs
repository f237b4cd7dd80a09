//! `/prom`: the records of a daemon in Prometheus' text format, with the names of Hadoop's exporter
//! (`PrometheusMetricsSink`).
//!
//! Hadoop's page is read by Prometheus' scraper only by luck: it repeats `TYPE` lines and escapes nothing. This one keeps to
//! the format: one `TYPE` line for each name, labels escaped, no series twice.

use super::page::Page;
use crate::metrics::{Kind, Metric, Number, Record, series_name};
use crate::process;
use axum::http::StatusCode;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use zerohop_conf::{Conf, keys};

/// The media type of the format.
const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Whether the page is served: it costs nothing until it is asked for, so it takes an explicit `false` to switch it off.
pub(super) fn is_enabled(conf: &Conf) -> bool {
    let key = &keys::HADOOP_PROMETHEUS_ENDPOINT_ENABLED;
    !conf.is_set(key.name) || conf.get(key).unwrap_or(false)
}

/// The page where it is switched off.
pub(super) fn disabled() -> Page {
    let key = keys::HADOOP_PROMETHEUS_ENDPOINT_ENABLED.name;
    Page::text(format!("{key} is false\n")).with_status(StatusCode::NOT_FOUND)
}

/// The page with these records.
pub(super) fn page(records: &[Record]) -> Page {
    Page::new(KIND, text(records, &process::host_name()))
}

/// The series of one name.
struct Family {
    help: String,
    kind: Kind,
    /// Lines without their name.
    series: Vec<(String, Number)>,
    /// The labels that occurred.
    labels: HashSet<String>,
}

fn text(records: &[Record], host: &str) -> String {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for record in records {
        let common = labels_of(record, host);
        for metric in &record.metrics {
            let (name, labels) = series(record, metric, &common);
            let family = match families.entry(name) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(Family {
                    help: metric.help.to_string(),
                    kind: metric.kind,
                    series: Vec::new(),
                    labels: HashSet::new(),
                }),
            };
            // Two sources of one name, as two servers on one port number: the first one counts.
            if family.labels.insert(labels.clone()) {
                family.series.push((labels, metric.value));
            }
        }
    }
    let mut out = String::with_capacity(families.len() * 256);
    for (name, family) in &families {
        // Writing to a String does not fail.
        _ = write_family(&mut out, name, family);
    }
    out
}

fn write_family(out: &mut String, name: &str, family: &Family) -> std::fmt::Result {
    let kind = match family.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
    };
    writeln!(out, "# HELP {name} {}", escaped(&family.help, false))?;
    writeln!(out, "# TYPE {name} {kind}")?;
    for (labels, value) in &family.series {
        match value {
            Number::Whole(value) => writeln!(out, "{name}{{{labels}}} {value}")?,
            Number::Real(value) if value.is_finite() => {
                writeln!(out, "{name}{{{labels}}} {value}")?
            }
            Number::Real(_) => writeln!(out, "{name}{{{labels}}} NaN")?,
        }
    }
    Ok(())
}

/// The labels of all series of a record.
fn labels_of(record: &Record, host: &str) -> String {
    let tags = record.tags.iter().filter(|tag| tag.is_label);
    let named = tags.map(|tag| (tag.name.to_ascii_lowercase(), tag.value.as_str()));
    let all = named.chain([("hostname".to_owned(), host)]);
    let mut labels: Vec<String> = all.map(|(name, value)| label(&name, value)).collect();
    labels.sort();
    labels.dedup();
    labels.join(",")
}

fn label(name: &str, value: &str) -> String {
    format!("{name}=\"{}\"", escaped(value, true))
}

fn series(record: &Record, metric: &Metric, common: &str) -> (String, String) {
    match &metric.series {
        None => (series_name(&record.name, &metric.name), common.to_owned()),
        Some((name, own)) => {
            let own = own.iter().map(|(name, value)| label(name, value));
            let labels: Vec<String> = [common.to_owned()].into_iter().chain(own).collect();
            (series_name(&record.name, name), labels.join(","))
        }
    }
}

/// A text without ends of lines; in a label without quotes as well.
fn escaped(text: &str, is_label: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '"' if is_label => out.push_str("\\\""),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_type_and_labels_are_escaped() {
        let record = |port: &str| {
            let mut record = Record::new(format!("RpcActivityForPort{port}"), "rpc", "rpc")
                .tag("port", port)
                .tag("serverName", "a \"b\\\n")
                .tag_of_bean("NumOpenConnectionsPerUser", "{}");
            record.counter("ReceivedBytes", "Bytes\nreceived", 7_u64);
            record
        };
        let shown = text(&[record("8020"), record("8021"), record("8020")], "host.example");
        let line = |port| {
            format!(
                "rpc_received_bytes{{context=\"rpc\",hostname=\"host.example\",port=\"{port}\",servername=\"a \\\"b\\\\\\n\"}} 7"
            )
        };
        let expected = [
            "# HELP rpc_received_bytes Bytes\\nreceived".to_owned(),
            "# TYPE rpc_received_bytes counter".to_owned(),
            line("8020"),
            line("8021"),
        ];
        assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn metrics_of_users_are_one_series_with_labels() {
        let mut record =
            Record::new("NNTopUserOpCounts", "NNTopUserOpCounts.windowMs=60000", "dfs");
        for user in ["ann", "bob"] {
            let labels = vec![("op", "create".to_owned()), ("user", user.to_owned())];
            record.gauge_of_series(format!("op=create.user={user}.count"), 3_u64, "count", labels);
        }
        let shown = text(&[record], "h");
        assert_eq!(
            shown.matches("# TYPE nn_top_user_op_counts_window_ms_60000_count gauge").count(),
            1
        );
        assert!(shown.contains(
            "nn_top_user_op_counts_window_ms_60000_count{context=\"dfs\",hostname=\"h\",op=\"create\",user=\"bob\"} 3"
        ), "{shown}");
    }

    #[test]
    fn numbers_are_written_as_the_scraper_reads_them() {
        let mut record = Record::new("x", "x", "dfs");
        record.gauge("A", "", 1.5);
        record.gauge("B", "", f64::NAN);
        record.gauge("C", "", -1_i64);
        record.gauge("D", "", 1e21);
        let shown = text(&[record], "h");
        let values: Vec<&str> =
            shown.lines().filter_map(|line| Some(line.rsplit_once("} ")?.1)).collect();
        assert_eq!(values, ["1.5", "NaN", "-1", "1000000000000000000000"]);
    }

    #[test]
    fn only_an_explicit_false_switches_the_page_off() {
        let mut conf = Conf::new();
        assert!(is_enabled(&conf));
        for (value, enabled) in [("true", true), ("false", false)] {
            conf.set("hadoop.prometheus.endpoint.enabled", value);
            assert_eq!(is_enabled(&conf), enabled);
        }
        assert_eq!(disabled().status, StatusCode::NOT_FOUND);
    }
}
