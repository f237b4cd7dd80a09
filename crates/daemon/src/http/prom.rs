//! `/prom`: the records of a daemon in Prometheus' text format, with the names of Hadoop's exporter
//! (`PrometheusMetricsSink`).
//!
//! Hadoop's page is read by Prometheus' scraper only by luck: it repeats `TYPE` lines and escapes nothing. This one keeps to
//! the format: one `TYPE` line for each name, labels escaped, no series twice.

use super::page::Page;
use crate::metrics::{Kind, LabelText, Metric, Number, Record, Series, series_name};
use crate::process;
use axum::http::StatusCode;
use std::collections::{HashMap, HashSet};
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

type Label = (&'static str, LabelText);

/// The series of one name.
struct Family<'a> {
    name: String,
    help: &'a str,
    kind: Kind,
    /// The series' lines.
    lines: String,
    members: Vec<Member>,
    /// The labels of all lines, once they are asked for.
    labels: Option<HashSet<String>>,
}

/// A record with series in a family.
struct Member {
    /// The place of the record's labels among those of all records.
    common: usize,
    /// Whether it has a series without other labels.
    is_plain: bool,
}

/// The families of all names, in the order in which they came.
#[derive(Default)]
struct Families<'a> {
    all: Vec<Family<'a>>,
    by_name: HashMap<String, usize>,
}

/// A record that is being written.
struct Writing<'a> {
    record: &'a Record,
    /// Its labels, and their place among those of all records.
    labels: &'a str,
    common: usize,
    /// The families of its series by the address of their name, and whether another record could have the same labels.
    series: Vec<(&'static str, usize, bool)>,
}

fn text(records: &[Record], host: &str) -> String {
    let labels: Vec<String> = records.iter().map(|record| labels_of(record, host)).collect();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut families = Families::default();
    for (record, labels) in records.iter().zip(&labels) {
        let next = places.len();
        let common = *places.entry(labels).or_insert(next);
        let mut writing = Writing { record, labels, common, series: Vec::new() };
        record.metrics.iter().for_each(|metric| families.add(&mut writing, metric));
    }
    let mut families = families.all;
    families.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let len = |family: &Family<'_>| {
        "# HELP  \n# TYPE  counter\n".len()
            + 2 * family.name.len()
            + family.help.len()
            + family.lines.len()
    };
    let mut out = String::with_capacity(families.iter().map(len).sum());
    for family in &families {
        // Writing to a String does not fail.
        _ = write_family(&mut out, family);
    }
    out
}

impl<'a> Families<'a> {
    fn add(&mut self, writing: &mut Writing<'a>, metric: &'a Metric) {
        match &metric.series {
            None => self.add_plain(writing, metric),
            Some(series) => self.add_to_series(writing, metric, series),
        }
    }

    /// Two sources of one name, as two servers on one port number: the first one counts.
    fn add_plain(&mut self, writing: &Writing<'a>, metric: &'a Metric) {
        let name = series_name(&writing.record.name, &metric.name);
        let at = self.place(name, metric);
        let Some(family) = self.all.get_mut(at) else { return };
        let is_there = |member: &Member| member.common == writing.common && member.is_plain;
        if !family.members.iter().any(is_there) {
            family.join(writing, true);
            family.push(writing.labels, &[], metric.value);
        }
    }

    /// A record has its series once; another one with the same labels may have them, too.
    fn add_to_series(&mut self, writing: &mut Writing<'a>, metric: &'a Metric, series: &Series) {
        let known = writing.series.iter().find(|(name, ..)| std::ptr::eq(*name, series.name));
        let (at, is_shared) = match known {
            Some((_, at, is_shared)) => (*at, *is_shared),
            None => {
                let at = self.place(series_name(&writing.record.name, series.name), metric);
                let Some(family) = self.all.get_mut(at) else { return };
                let is_shared = family.members.iter().any(|member| member.common == writing.common);
                family.join(writing, false);
                writing.series.push((series.name, at, is_shared));
                (at, is_shared)
            }
        };
        let Some(family) = self.all.get_mut(at) else { return };
        if !is_shared || family.is_new(writing.labels, &series.labels) {
            family.push(writing.labels, &series.labels, metric.value);
        }
    }

    /// The place of the family of a name; its first metric says of what kind it is.
    fn place(&mut self, name: String, metric: &'a Metric) -> usize {
        if let Some(at) = self.by_name.get(&name) {
            return *at;
        }
        let at = self.all.len();
        self.by_name.insert(name.clone(), at);
        self.all.push(Family {
            name,
            help: &metric.help,
            kind: metric.kind,
            lines: String::new(),
            members: Vec::new(),
            labels: None,
        });
        at
    }
}

impl Family<'_> {
    fn join(&mut self, writing: &Writing<'_>, is_plain: bool) {
        self.members.push(Member { common: writing.common, is_plain });
        // Its lines are not among them.
        self.labels = None;
    }

    fn push(&mut self, common: &str, own: &[Option<Label>], value: Number) {
        self.lines.push_str(&self.name);
        self.lines.push('{');
        push_labels(&mut self.lines, common, own);
        // Writing to a String does not fail.
        _ = match value {
            Number::Whole(value) => writeln!(self.lines, "}} {value}"),
            Number::Real(value) if value.is_finite() => writeln!(self.lines, "}} {value}"),
            Number::Real(_) => writeln!(self.lines, "}} NaN"),
        };
    }

    /// Whether no line has these labels.
    fn is_new(&mut self, common: &str, own: &[Option<Label>]) -> bool {
        let mut labels = String::new();
        push_labels(&mut labels, common, own);
        let (lines, start) = (&self.lines, self.name.len() + 1);
        let of_line = |line: &str| Some(line.rsplit_once("} ")?.0.get(start..)?.to_owned());
        let known = self.labels.get_or_insert_with(|| lines.lines().filter_map(of_line).collect());
        known.insert(labels)
    }
}

fn write_family(out: &mut String, family: &Family<'_>) -> std::fmt::Result {
    let kind = match family.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
    };
    let name = &family.name;
    write!(out, "# HELP {name} ")?;
    push_escaped(out, family.help, false);
    write!(out, "\n# TYPE {name} {kind}\n")?;
    out.push_str(&family.lines);
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
    let mut label = String::with_capacity(name.len() + value.len() + 3);
    push_label(&mut label, name, value);
    label
}

fn push_labels(out: &mut String, common: &str, own: &[Option<Label>]) {
    out.push_str(common);
    for (name, value) in own.iter().flatten() {
        out.push(',');
        push_label(out, name, value.as_str());
    }
}

fn push_label(out: &mut String, name: &str, value: &str) {
    out.push_str(name);
    out.push_str("=\"");
    push_escaped(out, value, true);
    out.push('"');
}

/// A text without ends of lines; in a label without quotes as well.
fn push_escaped(out: &mut String, text: &str, is_label: bool) {
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'"' if is_label => "\\\"",
            _ => continue,
        };
        out.push_str(text.get(plain..at).unwrap_or_default());
        out.push_str(escaped);
        plain = at + 1;
    }
    out.push_str(text.get(plain..).unwrap_or_default());
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

    fn series(kind: &'static str, user: &str) -> Series {
        let op = Some(("op", LabelText::Fixed(kind)));
        Series { name: "count", labels: [op, Some(("user", LabelText::Shared(user.into())))] }
    }

    /// The page as it would be written line by line: each series once, in the order of the records, below its name.
    fn line_by_line(records: &[Record], host: &str) -> String {
        let mut families =
            std::collections::BTreeMap::<String, (String, Vec<(String, i64)>)>::new();
        for record in records {
            for metric in &record.metrics {
                let own = metric.series.iter().flat_map(|series| series.labels.iter().flatten());
                let own = own.map(|(name, value)| label(name, value.as_str()));
                let labels = [labels_of(record, host)].into_iter().chain(own);
                let labels = labels.collect::<Vec<_>>().join(",");
                let name = metric.series.as_ref().map_or(&*metric.name, |series| series.name);
                let family = families.entry(series_name(&record.name, name)).or_insert_with(|| {
                    let kind = format!("{:?}", metric.kind).to_lowercase();
                    (format!("# HELP NAME {}\n# TYPE NAME {kind}\n", metric.help), Vec::new())
                });
                let Number::Whole(value) = metric.value else { panic!("{metric:?}") };
                if family.1.iter().all(|(known, _)| *known != labels) {
                    family.1.push((labels, value));
                }
            }
        }
        let mut out = String::new();
        for (name, (head, series)) in families {
            out += &head.replace("NAME", &name);
            for (labels, value) in series {
                out += &format!("{name}{{{labels}}} {value}\n");
            }
        }
        out
    }

    #[test]
    fn thousands_of_series_are_written_as_one_would_line_by_line() {
        let mut records = Vec::new();
        for port in ["8020", "8021", "8020"] {
            let mut record = Record::new("Rpc", "rpc", "rpc").tag("port", port);
            record.counter("Calls", "Calls", records.len());
            record.counter("calls", "The same name", 7_u64);
            record.gauge("QueueLength", "Queue", 1_u64);
            records.push(record);
        }
        // The third window is a second source of the first one's series, with one of its own.
        for (number, window) in [60_000, 300_000, 60_000].into_iter().enumerate() {
            let mut record = Record::new("Top", format!("Top.windowMs={window}"), "dfs");
            for kind in ["open", "create", "*"] {
                let labels = [Some(("op", LabelText::Fixed(kind))), None];
                let total = Series { name: "total_count", labels };
                record.gauge_of_series("TotalCount", 9_u64, total);
                for user in 0..400 {
                    let user = format!("user \"{}\\{}", user + number / 2, "x".repeat(user % 40));
                    record.gauge_of_series("count", number, series(kind, &user));
                }
            }
            records.push(record);
        }
        let shown = text(&records, "host.example");
        assert!(shown.lines().count() > 2000, "{}", shown.lines().count());
        assert_eq!(shown, line_by_line(&records, "host.example"));
        let bean_name = records[3].metrics[1].bean_name();
        assert_eq!(bean_name, "op=open.user=user \"0\\.count");
    }

    #[test]
    fn metrics_of_users_are_one_series_with_labels() {
        let mut record =
            Record::new("NNTopUserOpCounts", "NNTopUserOpCounts.windowMs=60000", "dfs");
        for user in ["ann", "bob"] {
            record.gauge_of_series("count", 3_u64, series("create", user));
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
