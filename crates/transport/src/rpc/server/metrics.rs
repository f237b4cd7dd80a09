//! The metrics of a server, as Hadoop has them (`RpcMetrics`, `RpcDetailedMetrics`).

use super::activity::{ActivityFigures, CallActivity, MethodTimes};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use zerohop_daemon::metrics::{RateFigures, Record};
use zerohop_system::clock;

impl CallActivity {
    /// The records of the server on `port`; `server` is the name that Hadoop gives a server of this kind.
    pub fn records(&self, port: u16, server: &'static str) -> Vec<Record> {
        let figures = self.figures();
        let aggregate = self.aggregate(port, server, &figures);
        vec![aggregate, by_method(port, figures, &self.counters().known_methods())]
    }

    fn aggregate(&self, port: u16, server: &'static str, figures: &ActivityFigures) -> Record {
        let counters = self.counters();
        let port = port.to_string();
        let mut record = Record::new(format!("RpcActivityForPort{port}"), "rpc", "rpc")
            .tag("port", port)
            .tag("serverName", server)
            .tag_of_bean("NumOpenConnectionsPerUser", users_json(&counters.connections_by_user()));
        record.counter("ReceivedBytes", "Bytes of requests", figures.received);
        record.counter("SentBytes", "Bytes of answers", figures.sent);
        let quantiles = self.quantiles();
        let rate = |mean, quantiles| RateFigures { count: figures.count, mean, quantiles };
        let none = |mean| rate(mean, Vec::new());
        record.rate("RpcEnQueueTime", "0: calls are read and queued by one thread", &none(0.0));
        let queue = rate(figures.queue_ms, quantiles.queue.figures());
        record.rate("RpcQueueTime", "the wait for a thread, ms", &queue);
        let lock = rate(figures.lock_ms, quantiles.lock.figures());
        record.rate("RpcLockWaitTime", "the wait for locks, ms", &lock);
        let processing = rate(figures.processing_ms, quantiles.processing.figures());
        record.rate("RpcProcessingTime", "the time until the answer, ms", &processing);
        record.rate("RpcResponseTime", "0: part of the processing time", &none(0.0));
        for (name, help, count) in [
            (
                "RpcAuthenticationFailures",
                "Authentications that failed",
                &counters.authentication_failures,
            ),
            ("RpcAuthenticationSuccesses", "Authentications", &counters.authentication_successes),
            (
                "RpcAuthorizationFailures",
                "Connections that were refused to a user",
                &counters.authorization_failures,
            ),
            (
                "RpcAuthorizationSuccesses",
                "Connections that were allowed",
                &counters.authorization_successes,
            ),
            ("RpcClientBackoff", "Calls that were told to come back later", &counters.backoff),
            (
                "RpcClientBackoffDisconnected",
                "Connections closed with that",
                &counters.backoff_disconnected,
            ),
        ] {
            record.counter(name, help, count);
        }
        record.counter("RpcSlowCalls", "Calls that took far longer than others", figures.slow);
        record.counter(
            "RpcRequeueCalls",
            "0: a call that waits for a state does so outside the queue",
            0_u64,
        );
        record.counter("RpcCallSuccesses", "Calls that were carried out", figures.successes);
        let open = counters.connections.load(Ordering::Relaxed);
        record.gauge("NumOpenConnections", "Open connections", open);
        record.gauge("NumInProcessHandler", "Calls without an answer yet", figures.running);
        record.gauge("CallQueueLength", "Calls that wait for a thread", self.queue_length());
        record.gauge(
            "NumDroppedConnections",
            "Connections that were not taken or were closed",
            &counters.dropped_connections,
        );
        let per_second = counters.requests_per_second(figures.begun);
        record.gauge("TotalRequests", "Calls that have arrived", figures.begun);
        record.gauge("TotalRequestsPerSecond", "Calls that arrive in a second", per_second);
        record
    }
}

/// Calls by method, and those that failed by their exception as well.
fn by_method(port: u16, mut figures: ActivityFigures, known: &BTreeSet<&'static str>) -> Record {
    let is_called = |name: &&str| figures.methods.iter().any(|(called, _)| **called == **name);
    let uncalled: Vec<_> = known.iter().filter(|name| !is_called(name)).collect();
    let uncalled = uncalled.into_iter().map(|name| ((*name).into(), MethodTimes::default()));
    figures.methods.extend(uncalled.collect::<Vec<_>>());
    let source = format!("RpcDetailedActivityForPort{port}");
    let mut record =
        Record::new(source, "rpcdetailed", "rpcdetailed").tag("port", port.to_string());
    let now = clock::now();
    for (name, times) in figures.methods.iter().chain(&figures.failures) {
        let name = metric_name(name);
        let rate =
            RateFigures { count: times.count, mean: times.mean_ms(now), quantiles: Vec::new() };
        record.rate(&name, &name, &rate);
    }
    for (name, times) in figures.methods.iter().chain(&figures.failures) {
        let name = format!("Overall{}", metric_name(name));
        let MethodTimes { count, .. } = *times;
        let rate = RateFigures { count, mean: times.overall_mean_ms(now), quantiles: Vec::new() };
        record.rate(&name, &name, &rate);
    }
    record
}

/// As Hadoop capitalizes names of methods. Clients make some of them up.
fn metric_name(method: &str) -> String {
    let mut letters =
        method.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_');
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).take(100).collect()
}

fn users_json(users: &[(Arc<str>, usize)]) -> String {
    let mut out = String::from("{");
    for (user, count) in users {
        let separator = if out.len() > 1 { "," } else { "" };
        let user: String = user.chars().flat_map(json_escaped).collect();
        // Writing to a String does not fail.
        _ = write!(out, "{separator}\"{user}\":{count}");
    }
    out.push('}');
    out
}

fn json_escaped(letter: char) -> Vec<char> {
    match letter {
        '"' | '\\' => vec!['\\', letter],
        letter if letter.is_control() => format!("\\u{:04x}", letter as u32).chars().collect(),
        letter => vec![letter],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::server::activity::tests::activity;
    use std::net::SocketAddr;
    use zerohop_daemon::metrics::Number;
    use zerohop_wire::{CallerIdentity, JavaException};

    #[test]
    fn calls_are_counted_by_method_and_outcome() {
        let activity = activity();
        let user = CallerIdentity::simple("ann", None);
        let remote = SocketAddr::from(([127, 0, 0, 1], 7));
        let begin =
            || activity.begin("getFileInfo", &user, (remote, None), 10, tracing::Span::none());
        begin().answered(&Ok(bytes::Bytes::new()));
        begin().answered(&Err(JavaException::FileNotFound.with("/a")));
        drop(begin());
        let records = activity.records(8020, "NameNodeRpcServer");
        let value = |record: &Record, name: &str| {
            let metric = record.metrics.iter().find(|metric| metric.name == name);
            metric.unwrap_or_else(|| panic!("{name} in {record:?}")).value
        };
        let [all, detailed] = &records[..] else { panic!("{records:?}") };
        for (name, expected) in [
            ("RpcCallSuccesses", 1),
            ("RpcProcessingTimeNumOps", 3),
            ("TotalRequests", 3),
            ("NumInProcessHandler", 0),
            ("ReceivedBytes", 30),
        ] {
            assert_eq!(value(all, name), Number::Whole(expected), "{name}");
        }
        for (name, expected) in [
            ("GetFileInfoNumOps", 3),
            ("OverallGetFileInfoNumOps", 3),
            ("FileNotFoundExceptionNumOps", 1),
        ] {
            assert_eq!(value(detailed, name), Number::Whole(expected), "{name}");
        }
    }

    #[test]
    fn names_of_users_and_methods_cannot_break_the_page() {
        let users = [(Arc::from("a\"\\\n"), 1), (Arc::from("b"), 2)];
        assert_eq!(users_json(&users), r#"{"a\"\\\u000a":1,"b":2}"#);
        assert_eq!(metric_name("get\"File\nInfo"), "GetFileInfo");
    }
}
