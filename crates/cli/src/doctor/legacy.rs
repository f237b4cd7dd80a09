//! The legacy generation (HDFS-2246): would the DataNode tell this user the paths of its files?

use std::fs::File;

use zerohop_client::{DatanodeInfo, LocatedBlock, User};
use zerohop_conf::{Conf, keys};
use zerohop_proto::common::TokenProto;
use zerohop_proto::hdfs::{GetBlockLocalPathInfoRequestProto, GetBlockLocalPathInfoResponseProto};
use zerohop_transport::rpc::{ClientOptions, RpcClient};

use super::ask::Files;
use super::report::{Generation, Report};
use crate::failure::{Failure, Outcome};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";

/// Asks for the paths of a replica and opens them; `tells` puts what went well in the report, too.
pub fn examine(
    conf: &Conf,
    node: &DatanodeInfo,
    block: &LocatedBlock,
    tells: bool,
    report: &mut Report,
) -> Outcome<Option<Files>> {
    let key = keys::DFS_CLIENT_USE_LEGACY_BLOCKREADER_LOCAL.name;
    let opened = ask(conf, node, block).and_then(|paths| {
        let files = Files { data: open(&paths.local_path)?, meta: open(&paths.local_meta_path)? };
        Ok((paths.local_path, files))
    });
    match opened {
        Ok((path, files)) => {
            report.generation = Generation::Paths;
            if tells {
                report.warning(
                    "legacy-reader",
                    format!("DataNode {node} tells {path}, and this user may open it: no permission is checked, and the DataNode cannot take a replica back"),
                    format!("remove {key}: descriptors are as fast, and safe"),
                );
            }
            Ok(Some(files))
        }
        Err(failure) => {
            let found = format!("{key} is true, but: {failure}");
            report.fault("legacy-reader", found, format!("remove {key}"));
            Ok(None)
        }
    }
}

fn open(path: &str) -> Outcome<File> {
    File::open(path).map_err(|error| Failure::io(format!("{path}: {error}")))
}

fn ask(
    conf: &Conf,
    node: &DatanodeInfo,
    block: &LocatedBlock,
) -> Outcome<GetBlockLocalPathInfoResponseProto> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let options = ClientOptions { connect_retries: 0, ..ClientOptions::from_conf(conf)? };
    let address = format!("{}:{}", node.ip(), node.ipc_port());
    let (block, token) = ((&block.block).into(), TokenProto::default());
    let request = GetBlockLocalPathInfoRequestProto { block, token };
    let answer = runtime.block_on(async {
        let client = RpcClient::new(address, PROTOCOL, 1, &User::of_process(), options);
        client.call("getBlockLocalPathInfo", &request).await
    });
    answer.map_err(|error| Failure::io(error.to_string()))
}
