//! The legacy generation (HDFS-2246): would the DataNode tell this user the paths of its files?

use std::fs::File;

use zerohop_client::{DatanodeInfo, User};
use zerohop_conf::{Conf, keys};
use zerohop_proto::common::TokenProto;
use zerohop_proto::hdfs::{GetBlockLocalPathInfoRequestProto, GetBlockLocalPathInfoResponseProto};
use zerohop_transport::rpc::{ClientOptions, RpcClient};
use zerohop_wire::ExtendedBlock;

use super::report::{Generation, Report};
use crate::failure::{Failure, Outcome};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";

/// Asks, where the client is told to read that way.
pub fn examine(
    conf: &Conf,
    node: &DatanodeInfo,
    block: &ExtendedBlock,
    report: &mut Report,
) -> Outcome {
    let key = &keys::DFS_CLIENT_USE_LEGACY_BLOCKREADER_LOCAL;
    if !conf.get(key)? {
        return Ok(());
    }
    let found = ask(conf, node, block).and_then(|path| {
        File::open(&path)
            .map(|_| path.clone())
            .map_err(|error| Failure::io(format!("{path}: {error}")))
    });
    match found {
        Ok(path) => {
            report.generation = Generation::Paths;
            report.warning(
                "legacy-reader",
                format!("DataNode {node} tells {path}, and this user may open it"),
                format!("remove {}: descriptors are as fast, and safe", key.name),
            );
        }
        Err(failure) => report.fault(
            "legacy-reader",
            format!("{} is true, but: {failure}", key.name),
            format!("remove {}", key.name),
        ),
    }
    Ok(())
}

fn ask(conf: &Conf, node: &DatanodeInfo, block: &ExtendedBlock) -> Outcome<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let options = ClientOptions { connect_retries: 0, ..ClientOptions::from_conf(conf)? };
    let address = format!("{}:{}", node.ip(), node.ipc_port());
    let request =
        GetBlockLocalPathInfoRequestProto { block: block.into(), token: TokenProto::default() };
    let answer: GetBlockLocalPathInfoResponseProto = runtime
        .block_on(async {
            let client = RpcClient::new(address, PROTOCOL, 1, &User::of_process(), options);
            client.call("getBlockLocalPathInfo", &request).await
        })
        .map_err(|error| Failure::io(error.to_string()))?;
    Ok(answer.local_path)
}
