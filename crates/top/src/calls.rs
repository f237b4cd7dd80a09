//! Calls of the RPC ports: how many a second by kind, and how long they take.

use crate::beans::{Bean, Beans};
use crate::rate::{Counters, Meter};
use serde::Serialize;
use std::collections::BTreeMap;

/// Names of `RpcDetailedMetrics` that count calls a second time, from their arrival to their answer.
const COUNTED_TWICE: [&str; 2] = ["Deferred", "Overall"];

/// The calls of all ports of a NameNode.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Calls {
    /// Of all kinds; none until two readings differ.
    pub per_second: Option<f64>,
    /// Seconds that the rates are over.
    pub seconds: Option<f64>,
    /// Calls that wait for a thread.
    pub queue_length: Option<u64>,
    /// Open connections.
    pub connections: Option<u64>,
    /// How long calls waited in the last interval, in ms.
    pub queue_ms: Option<f64>,
    /// How long they then took, in ms.
    pub processing_ms: Option<f64>,
    /// Whether the NameNode counts kinds at all.
    pub has_kinds: bool,
    /// By kind, those with calls.
    pub kinds: Vec<CallKind>,
}

/// The calls of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallKind {
    /// The method's name: `GetBlockLocations`.
    pub kind: String,
    /// Since the NameNode was started.
    pub calls: u64,
    /// None until two readings differ.
    pub per_second: Option<f64>,
    /// How long they took in the last interval, in ms.
    pub mean_ms: Option<f64>,
}

/// Counts of calls over time: of all kinds together, and by kind.
#[derive(Debug, Default)]
pub(crate) struct CallMeters {
    all: Meter,
    kinds: Meter,
}

impl CallMeters {
    pub(crate) fn read(&mut self, at_ms: u64, beans: &Beans) {
        let all = ports(beans, "RpcActivityForPort");
        let all: Vec<u64> = all.filter_map(|bean| bean.count("RpcProcessingTimeNumOps")).collect();
        if !all.is_empty() {
            self.all.read(at_ms, Counters::from([("all".to_owned(), all.iter().sum())]));
        }
        let kinds: Counters =
            kinds(beans).into_iter().map(|(kind, counted)| (kind, counted.calls)).collect();
        if !kinds.is_empty() {
            self.kinds.read(at_ms, kinds);
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.all.is_settled() && self.kinds.is_settled()
    }

    pub(crate) fn figures(&self, beans: &Beans) -> Calls {
        let sum = |attribute: &str| {
            let counts: Vec<u64> = ports(beans, "RpcActivityForPort")
                .filter_map(|bean| bean.count(attribute))
                .collect();
            (!counts.is_empty()).then(|| counts.iter().sum())
        };
        let mut found: Vec<CallKind> = kinds(beans)
            .into_iter()
            .filter(|(_, counted)| counted.calls > 0)
            .map(|(kind, counted)| CallKind {
                per_second: self.kinds.per_second(&kind),
                kind,
                calls: counted.calls,
                mean_ms: counted.mean_ms(),
            })
            .collect();
        found.sort_by(|one, other| {
            let rate = |kind: &CallKind| kind.per_second.unwrap_or(0.0);
            rate(other)
                .total_cmp(&rate(one))
                .then(other.calls.cmp(&one.calls))
                .then(one.kind.cmp(&other.kind))
        });
        Calls {
            per_second: self.all.per_second("all"),
            seconds: self.all.seconds(),
            queue_length: sum("CallQueueLength"),
            connections: sum("NumOpenConnections"),
            queue_ms: mean(beans, "RpcQueueTime"),
            processing_ms: mean(beans, "RpcProcessingTime"),
            has_kinds: ports(beans, "RpcDetailedActivityForPort").next().is_some(),
            kinds: found,
        }
    }
}

fn ports<'a>(beans: &'a Beans, prefix: &str) -> impl Iterator<Item = &'a Bean> + use<'a> {
    beans.starting("NameNode", prefix).map(|(_, bean)| bean)
}

/// The mean of all ports, weighted by their calls.
fn mean(beans: &Beans, name: &str) -> Option<f64> {
    let mut counted = Counted::default();
    for bean in ports(beans, "RpcActivityForPort") {
        counted.add(bean, name, bean.count(&format!("{name}NumOps"))?);
    }
    counted.mean_ms()
}

/// Calls of one kind on all ports.
#[derive(Default)]
struct Counted {
    calls: u64,
    weighted_ms: f64,
}

impl Counted {
    fn add(&mut self, bean: &Bean, name: &str, calls: u64) {
        self.calls += calls;
        self.weighted_ms += bean.number(&format!("{name}AvgTime")).unwrap_or(0.0) * calls as f64;
    }

    fn mean_ms(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.weighted_ms / self.calls as f64)
    }
}

fn kinds(beans: &Beans) -> BTreeMap<String, Counted> {
    let mut found: BTreeMap<String, Counted> = BTreeMap::new();
    for bean in ports(beans, "RpcDetailedActivityForPort") {
        for (kind, calls) in bean.ending("NumOps") {
            let Some(calls) = calls.as_u64() else { continue };
            if !COUNTED_TWICE.iter().any(|prefix| kind.starts_with(prefix)) {
                found.entry(kind.to_owned()).or_default().add(bean, kind, calls);
            }
        }
    }
    found
}
