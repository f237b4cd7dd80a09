//! The published table beside ours, as text and as JSON.

use crate::args::Args;
use crate::experiment::{Figure, Network, Outcome, Runs};
use crate::published;
use crate::schema::dimensions;
use crate::source::Source;
use crate::tables::Tables;
use serde::Serialize;
use zerohop_bench::report::{aligned, number};
use zerohop_bench::{Report as Machine, median};

/// Everything that is reported.
#[derive(Debug, Serialize)]
pub struct Report {
    machine: String,
    facts: u64,
    dimensions: usize,
    parquet_bytes: u64,
    runs: usize,
    /// How files leave the page cache before first runs.
    page_cache: String,
    /// What makes the network busy, or why it was not made busy.
    busy_network: String,
    figures: Vec<Figure>,
}

impl Report {
    /// The report of an outcome.
    pub fn new(args: &Args, tables: &Tables, outcome: Outcome) -> Self {
        let mut page_cache = format!("dropped before first runs {}", tables.how_dropped());
        if let Some(why) = outcome.not_dropped.last() {
            let count = outcome.not_dropped.len();
            page_cache += &format!("; before {count} runs pages stayed in it: {why}");
        }
        Self {
            machine: Machine::new().machine,
            facts: args.facts,
            dimensions: dimensions(args.facts).len(),
            parquet_bytes: tables.bytes,
            runs: args.runs,
            page_cache,
            busy_network: busy_network(args),
            figures: outcome.figures,
        }
    }

    /// For programs.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// For a terminal.
    pub fn to_table(&self) -> String {
        let Self { machine, facts, dimensions, runs, page_cache, busy_network, .. } = self;
        let megabytes = number(self.parquet_bytes as f64 / 1e6);
        format!(
            "{machine}\n{facts} facts, {dimensions} dimensions, {megabytes} MB of Parquet; medians of {runs} runs\n\
             page cache: {page_cache}\nbusy network: {busy_network}\n\n{}\n{}",
            self.seconds_table(),
            self.costs_table()
        )
    }

    fn seconds_table(&self) -> String {
        let head = [
            "seconds",
            "published: short-circuit",
            "TCP",
            "ours: local reads",
            "TCP",
            "local files",
            "local reads / files",
            "TCP / local reads",
        ];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        for figures in self.figures.chunks_exact(Source::ALL.len()) {
            for is_second in [false, true] {
                lines.push(seconds_line(figures, is_second));
            }
        }
        aligned(&lines, &[1, 2, 3, 4, 5, 6, 7])
    }

    fn costs_table(&self) -> String {
        let head = ["", "source", "range, s", "client CPU s", "cluster CPU s", "link MB/s", "read"];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        for figure in &self.figures {
            for (is_second, runs) in [(false, &figure.first), (true, &figure.second)] {
                let mut line = vec![name_of(figure, is_second), figure.source.name().to_owned()];
                line.extend(costs(runs));
                lines.push(line);
            }
        }
        aligned(&lines, &[2, 3, 4, 5])
    }
}

fn busy_network(args: &Args) -> String {
    match (&args.no_network, args.is_busy, args.far.is_some()) {
        (Some(why), ..) => format!("not measured: {why}"),
        (None, false, _) => "not asked for; --busy measures it".to_owned(),
        (None, true, false) => {
            "not measured: the link of a cluster that runs already is not this program's to throttle; \
             run it without a configured cluster"
                .to_owned()
        }
        (None, true, true) => format!(
            "two DataNodes in network namespaces of their own, joined by one link of {1} Mbit/s; over it the \
             queries by TCP and {0} readers read from the second one, and neither local reads nor calls to the \
             NameNode go",
            args.streams, args.link_mbits
        ),
    }
}

fn name_of(figure: &Figure, is_second: bool) -> String {
    let network = if figure.network == Network::Idle { "idle" } else { "busy" };
    let run = if is_second { "second" } else { "first" };
    format!("{network}, {}, {run} run", figure.query)
}

/// `figures` are those of one query, in the order of [`Source::ALL`].
fn seconds_line(figures: &[Figure], is_second: bool) -> Vec<String> {
    let first = &figures[0];
    let published = |source| {
        let seconds = published::seconds(first.network, is_second, source);
        seconds.filter(|_| first.query == "one date").map(number).unwrap_or_default()
    };
    let ours: Vec<f64> = figures.iter().map(|figure| figure.seconds(is_second)).collect();
    let mut line =
        vec![name_of(first, is_second), published(Source::LocalReads), published(Source::Tcp)];
    line.extend(ours.iter().map(|seconds| format!("{seconds:.3}")));
    line.extend([ours[0] / ours[2], ours[1] / ours[0]].map(|ratio| format!("{ratio:.2}")));
    line
}

fn costs(runs: &Runs) -> [String; 5] {
    let least = runs.seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let most = runs.seconds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let read = runs.read.iter();
    let read = read.map(|read| format!("{} MB by {}", number(read.bytes as f64 / 1e6), read.path));
    [
        format!("{least:.3} to {most:.3}"),
        format!("{:.3}", median(&runs.client_cpu_s)),
        format!("{:.3}", median(&runs.cluster_cpu_s)),
        number(median(&runs.link_mb_s)),
        read.collect::<Vec<_>>().join(", "),
    ]
}
