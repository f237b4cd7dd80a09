//! `-reconfig`: configuration keys of a running DataNode or NameNode, and `-blockScannerReport`

use zerohop_client::{DatanodeReportType, User};
use zerohop_conf::{Conf, keys};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::client::{ClientOptions, RpcClient};

use super::datanode::text;
use super::report::date;
use crate::failure::{EXIT_USAGE, Failure, Outcome};
use crate::fs::{client_failure, connect_client};
use crate::http;
use std::io::BufRead;
use std::time::Duration;

const OF_DATANODE: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";
const OF_NAMENODE: &str = "org.apache.hadoop.hdfs.protocol.ReconfigurationProtocol";

/// A NameNode or DataNode.
struct Node<'a> {
    conf: &'a Conf,
    protocol: &'static str,
    address: &'a str,
}

impl Node<'_> {
    fn call<Q: Checked, R: Checked>(&self, method: &'static str, request: &Q) -> Outcome<R> {
        let options = ClientOptions::from_conf(self.conf)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let user = User::of_process();
        let answer = runtime.block_on(async {
            let client = RpcClient::new(self.address, self.protocol, 1, &user, options);
            client.call(method, request).await
        });
        answer.map_err(|error| {
            let class = error.remote().map(|remote| remote.class.to_string());
            let text = text(&error);
            Failure::io(class.map_or(text.clone(), |class| {
                format!("org.apache.hadoop.ipc.RemoteException({class}): {text}")
            }))
        })
    }

    /// Starts a task.
    fn start(&self) -> i32 {
        let started: Outcome<StartReconfigurationResponseProto> =
            self.call("startReconfiguration", &StartReconfigurationRequestProto {});
        match started {
            Ok(_) => {
                sayln!("Started reconfiguration task on node [{}].", self.address);
                0
            }
            Err(failure) => {
                noteln!("Node [{}] reconfiguring: {failure}.", self.address);
                1
            }
        }
    }

    /// Tells how far the last task is.
    fn status(&self) -> i32 {
        let request = GetReconfigurationStatusRequestProto {};
        let status: Outcome<GetReconfigurationStatusResponseProto> =
            self.call("getReconfigurationStatus", &request);
        match status {
            Ok(status) => {
                sayln!("Reconfiguring status for node [{}]: {}", self.address, describe(&status));
                0
            }
            Err(failure) => {
                noteln!("Node [{}] reloading configuration: {failure}.", self.address);
                1
            }
        }
    }

    /// Lists the keys that can be changed.
    fn properties(&self) -> i32 {
        let request = ListReconfigurablePropertiesRequestProto {};
        let properties: Outcome<ListReconfigurablePropertiesResponseProto> =
            self.call("listReconfigurableProperties", &request);
        match properties {
            Ok(properties) => {
                sayln!("Node [{}] Reconfigurable properties:", self.address);
                properties.name.iter().for_each(|name| sayln!("{name}"));
                0
            }
            Err(failure) => {
                noteln!("Node [{}] reconfiguration: {failure}.", self.address);
                1
            }
        }
    }
}

/// A task in Apache's words, without the last line's end.
fn describe(status: &GetReconfigurationStatusResponseProto) -> String {
    if status.start_time <= 0 {
        return "no task was found.".to_owned();
    }
    let at = |ms: i64| date(u64::try_from(ms).unwrap_or_default());
    let started = format!("started at {}", at(status.start_time));
    let Some(ended) = status.end_time.filter(|ended| *ended > 0) else {
        return format!("{started} and is still running.");
    };
    let mut text = format!("{started} and finished at {}.", at(ended));
    for change in &status.changes {
        let new = change.new_value.as_deref().unwrap_or("null");
        let values = format!("\n\tFrom: \"{}\"\n\tTo: \"{new}\"", change.old_value);
        match &change.error_message {
            None => text += &format!("\nSUCCESS: Changed property {}{values}", change.name),
            Some(error) => {
                text += &format!("\nFAILED: Change property {}{values}", change.name);
                text += &format!("\n\tError: {error}.");
            }
        }
    }
    text
}

pub fn run(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let [kind, address, operation] = words.as_slice() else { return Err(Failure::usage("")) };
    let act: fn(&Node<'_>) -> i32 = match operation.as_str() {
        "start" => |node| node.start(),
        "status" => |node| node.status(),
        "properties" => |node| node.properties(),
        other => {
            noteln!("Unknown operation: {other}");
            return Ok(EXIT_USAGE);
        }
    };
    let protocol = match kind.as_str() {
        "namenode" => OF_NAMENODE,
        "datanode" => OF_DATANODE,
        other => {
            noteln!("Node type {other} does not support reconfiguration.");
            return Ok(1);
        }
    };
    if address != "livenodes" || operation == "properties" {
        return Ok(act(&Node { conf, protocol, address }));
    }
    if protocol != OF_DATANODE {
        noteln!("Only datanode type supports reconfiguration in bulk.");
        return Ok(1);
    }
    let live = connect_client(conf)?.datanode_report(DatanodeReportType::Live);
    let (mut done, mut failed) = (0, 0);
    for node in live.map_err(client_failure)? {
        let id = &node.proto().id;
        let address = format!("{}:{}", id.ip_addr, id.ipc_port);
        match act(&Node { conf, protocol, address: &address }) {
            0 => done += 1,
            _ => failed += 1,
        }
    }
    let what = match operation.as_str() {
        "start" => "Starting of reconfiguration task",
        _ => "Retrieval of reconfiguration status",
    };
    sayln!("{what} successful on {done} nodes, failed on {failed} nodes.");
    Ok(i32::from(failed > 0))
}

/// The page of a DataNode of either project that tells how far its replicas are verified.
pub fn block_scanner(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let [address] = words.as_slice() else { return Err(Failure::usage("")) };
    let patience = conf.get(&keys::DFS_CLIENT_SOCKET_TIMEOUT)?.max(Duration::from_secs(1));
    for line in http::get(address, "/blockScannerReport", patience, patience)?.lines() {
        sayln!("{}", line?);
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_described_as_apaches_tool_does() {
        let mut status = GetReconfigurationStatusResponseProto::default();
        assert_eq!(describe(&status), "no task was found.");
        status.start_time = 1_000;
        assert!(describe(&status).ends_with(" 1970 and is still running."));
        status.end_time = Some(2_000);
        let change = |error: Option<&str>| GetReconfigurationStatusConfigChangeProto {
            name: "dfs.datanode.data.dir".to_owned(),
            old_value: "/a".to_owned(),
            new_value: Some("/b".to_owned()),
            error_message: error.map(str::to_owned),
        };
        status.changes = vec![change(None), change(Some("no"))];
        let lines = describe(&status);
        let tail: Vec<&str> = lines.lines().skip(1).collect();
        assert_eq!(
            tail,
            [
                "SUCCESS: Changed property dfs.datanode.data.dir",
                "\tFrom: \"/a\"",
                "\tTo: \"/b\"",
                "FAILED: Change property dfs.datanode.data.dir",
                "\tFrom: \"/a\"",
                "\tTo: \"/b\"",
                "\tError: no.",
            ]
        );
    }
}
