//! Records as beans of `/jmx` (`MetricsSourceAdapter`).

use super::jmx::bean;
use crate::metrics::{Number, Record};
use crate::process;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The beans of the records of a service (`NameNode`): one for each source. Where a source has several records, the members
/// of the later ones end in their number.
pub(super) fn beans(service: &str, records: &[Record]) -> Vec<Value> {
    let host = process::host_name();
    let mut sources: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records {
        sources.entry(&record.source).or_default().push(record);
    }
    let beans = sources.into_iter().map(|(source, records)| {
        let mut members = Map::new();
        for (number, record) in records.iter().enumerate() {
            let ending = if number == 0 { String::new() } else { format!(".{number}") };
            for tag in &record.tags {
                members.insert(format!("tag.{}{ending}", tag.name), tag.value.as_str().into());
            }
            members.insert(format!("tag.Hostname{ending}"), host.as_str().into());
            for metric in &record.metrics {
                let value = match metric.value {
                    Number::Whole(value) => Value::from(value),
                    Number::Real(value) => Value::from(value),
                };
                members.insert(format!("{}{ending}", metric.bean_name()), value);
            }
        }
        let name = format!("Hadoop:service={service},name={source}");
        bean(&name, source, Value::Object(members))
    });
    beans.collect()
}

/// Both kinds of beans. One that is of both kinds is one bean.
pub(super) fn merged(mut beans: Vec<Value>, metrics: Vec<Value>) -> Vec<Value> {
    for metric in metrics {
        let known = beans.iter_mut().find(|bean| bean.get("name") == metric.get("name"));
        match (known, metric) {
            (Some(Value::Object(bean)), Value::Object(metric)) => {
                let new = metric.into_iter().filter(|(member, _)| member != "modelerType");
                bean.extend(new);
            }
            (_, metric) => beans.push(metric),
        }
    }
    beans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_are_no_metrics_are_in_the_same_bean() {
        let named = |name: &str, member: &str| bean(name, name, serde_json::json!({ member: 1 }));
        let beans = merged(vec![named("a", "X")], vec![named("a", "Y"), named("b", "Z")]);
        assert_eq!(beans.len(), 2);
        assert_eq!(
            (&beans[0]["X"], &beans[0]["Y"], &beans[1]["Z"]),
            (&1.into(), &1.into(), &1.into())
        );
    }

    #[test]
    fn a_source_is_a_bean() {
        let mut record = Record::new("RpcActivityForPort8020", "rpc", "rpc").tag("port", "8020");
        record.counter("ReceivedBytes", "Bytes", 7_u64);
        record.gauge("RpcQueueTimeAvgTime", "Mean", 0.5);
        let window = |length: u32, count: u64| {
            let mut record = Record::new("Top", format!("Top.windowMs={length}"), "dfs");
            record.gauge("op=*.TotalCount", "", count);
            record
        };
        let beans = beans("NameNode", &[record, window(1, 5), window(2, 9)]);
        assert_eq!(beans.len(), 2);
        let rpc = &beans[0];
        assert_eq!(rpc["name"], "Hadoop:service=NameNode,name=RpcActivityForPort8020");
        assert_eq!(rpc["modelerType"], "RpcActivityForPort8020");
        assert_eq!((&rpc["tag.port"], &rpc["tag.Context"]), (&"8020".into(), &"rpc".into()));
        assert_eq!((&rpc["ReceivedBytes"], &rpc["RpcQueueTimeAvgTime"]), (&7.into(), &0.5.into()));
        assert_eq!(
            (&beans[1]["op=*.TotalCount"], &beans[1]["op=*.TotalCount.1"]),
            (&5.into(), &9.into())
        );
    }
}
