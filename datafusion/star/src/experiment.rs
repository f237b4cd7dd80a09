//! The runs: every query from every source, with an idle and a busy network.

use crate::args::Args;
use crate::failure::Result;
use crate::network::{Throttle, link_bytes};
use crate::schema::{Query, queries};
use crate::source::{PathBytes, Session, Source, bytes_between};
use crate::streams::Streams;
use crate::tables::Tables;
use serde::Serialize;
use std::time::Instant;
use tokio::runtime::Runtime;
use zerohop::Conf;
use zerohop_bench::process::CpuMeter;
use zerohop_bench::{WatchedProcess, median};

/// What else goes over the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// Nothing.
    Idle,
    /// Readers of other files, over the throttled link from which queries over TCP get their bytes.
    Busy,
}

/// What was measured of a query.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Runs {
    /// Seconds of each run.
    pub seconds: Vec<f64>,
    /// CPU seconds of this process in each run.
    pub client_cpu_s: Vec<f64>,
    /// CPU seconds of the watched processes in each run.
    pub cluster_cpu_s: Vec<f64>,
    /// Megabytes that came over the link between two machines, else over the loopback device, a second of each run.
    pub link_mb_s: Vec<f64>,
    /// Bytes that the last run read from HDFS.
    pub read: Vec<PathBytes>,
}

/// A query from one source: its first and its second run.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// What else goes over the network.
    pub network: Network,
    /// The name of the query.
    pub query: &'static str,
    /// Where the tables are read from.
    pub source: Source,
    /// Seconds to create the tables, for which the footers of all files are read.
    pub open_s: Vec<f64>,
    /// The first run, after the files were dropped from the page cache.
    pub first: Runs,
    /// The run after it.
    pub second: Runs,
}

impl Figure {
    /// The median of the seconds of the first or the second run.
    pub fn seconds(&self, is_second: bool) -> f64 {
        median(&if is_second { &self.second } else { &self.first }.seconds)
    }
}

/// Everything that was measured, and what hindered it.
#[derive(Default)]
pub struct Outcome {
    /// The figures in the order they were taken.
    pub figures: Vec<Figure>,
    /// First runs before which pages stayed in the page cache, and why.
    pub not_dropped: Vec<String>,
}

/// The experiment.
pub struct Experiment<'a> {
    /// What was asked for.
    pub args: &'a Args,
    /// Where the cluster is.
    pub conf: &'a Conf,
    /// The tables.
    pub tables: &'a Tables,
    /// The runtime of DataFusion.
    pub runtime: &'a Runtime,
}

impl Experiment<'_> {
    /// Measures everything.
    ///
    /// # Errors
    /// If a query fails, or two sources answer differently.
    pub fn run(&self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        self.with_network(Network::Idle, &mut outcome)?;
        if self.args.is_busy
            && let Some(far) = self.args.far
        {
            let _throttle = Throttle::start(self.args.link_mbits, far)?;
            let _streams = Streams::start(self.args.streams, &self.args.cluster)?;
            self.with_network(Network::Busy, &mut outcome)?;
        }
        Ok(outcome)
    }

    fn with_network(&self, network: Network, outcome: &mut Outcome) -> Result<()> {
        for query in queries() {
            let mut answer = None;
            let start = outcome.figures.len();
            outcome.figures.extend(Source::ALL.map(|source| Figure {
                network,
                query: query.name,
                source,
                open_s: Vec::new(),
                first: Runs::default(),
                second: Runs::default(),
            }));
            for run in 0..self.args.runs {
                for turn in 0..Source::ALL.len() {
                    let place = (run + turn) % Source::ALL.len();
                    if let Err(why) = self.tables.drop_from_page_cache() {
                        outcome.not_dropped.push(why.to_string());
                    }
                    let figure = &mut outcome.figures[start + place];
                    let found = self.runtime.block_on(self.first_and_second(&query, figure))?;
                    check(&query, figure.source, answer.get_or_insert(found.clone()), &found)?;
                    let (first, second) = (figure.first.seconds[run], figure.second.seconds[run]);
                    let source = figure.source.name();
                    eprintln!("{network:?} {}, {source}: {first:.3} s, {second:.3} s", query.name);
                }
            }
        }
        Ok(())
    }

    async fn first_and_second(&self, query: &Query, figure: &mut Figure) -> Result<String> {
        let start = Instant::now();
        let session = Session::open(figure.source, self.conf, self.tables).await?;
        figure.open_s.push(start.elapsed().as_secs_f64());
        let first = self.timed(query, &session, &mut figure.first).await?;
        let second = self.timed(query, &session, &mut figure.second).await?;
        check(query, figure.source, &first, &second)?;
        Ok(second)
    }

    async fn timed(&self, query: &Query, session: &Session, runs: &mut Runs) -> Result<String> {
        let own = [WatchedProcess::this("client")];
        let before = session.statistics();
        let link = link_bytes();
        let (client, cluster) = (CpuMeter::start(&own), CpuMeter::start(&self.args.watched));
        let start = Instant::now();
        let answer = session.ask(&query.sql).await?;
        let seconds = start.elapsed().as_secs_f64();
        let sum = |meter: &CpuMeter| meter.stop().iter().map(|(_, seconds)| seconds).sum();
        runs.client_cpu_s.push(sum(&client));
        runs.cluster_cpu_s.push(sum(&cluster));
        if let (Some(before), Some(after)) = (link, link_bytes()) {
            runs.link_mb_s.push(after.saturating_sub(before) as f64 / 1e6 / seconds);
        }
        runs.seconds.push(seconds);
        runs.read = bytes_between(&before, &session.statistics());
        Ok(answer)
    }
}

/// All answers to a query are the same.
fn check(query: &Query, source: Source, expected: &str, found: &str) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let (name, source) = (query.name, source.name());
    Err(format!(
        "the query \"{name}\" has two answers; from {source}:\n{found}\nbefore:\n{expected}"
    )
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_answers_are_an_error() {
        let query = &queries()[0];
        check(query, Source::Tcp, "1", "1").unwrap();
        let error = check(query, Source::Tcp, "1", "2").unwrap_err().to_string();
        assert!(error.contains("one date") && error.contains("TCP"), "{error}");
    }
}
