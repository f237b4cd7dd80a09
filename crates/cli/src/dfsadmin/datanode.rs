//! What is asked of one DataNode (`ClientDatanodeProtocol`): `-shutdownDatanode`, `-evictWriters`,
//! `-getDatanodeInfo`, `-triggerBlockReport`, `-getVolumeReport`, `-getBalancerBandwidth`,
//! `-refreshNamenodes`, `-deleteBlockPool`

use zerohop_client::User;
use zerohop_conf::Conf;
use zerohop_proto::Checked;
use zerohop_proto::hdfs::*;
use zerohop_transport::rpc::RpcError;
use zerohop_transport::rpc::client::{ClientOptions, RpcClient};

use crate::failure::{Failure, Outcome};
use crate::fs::{pop_flag, pop_valued};
use crate::units::human;

const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";

/// A DataNode at `HOST:IPC_PORT`.
struct DataNode<'a> {
    conf: &'a Conf,
    address: &'a str,
}

impl DataNode<'_> {
    fn call<Q: Checked, R: Checked>(&self, method: &'static str, request: &Q) -> Outcome<R> {
        if self.address.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
            let text = format!("Does not contain a valid host:port authority: {}", self.address);
            return Err(Failure::usage(text));
        }
        let options = ClientOptions::from_conf(self.conf)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let user = User::of_process();
        let answer = runtime.block_on(async {
            let client = RpcClient::new(self.address, PROTOCOL, 1, &user, options);
            client.call(method, request).await
        });
        answer.map_err(|error| Failure::io(text(&error)))
    }

    /// The same where Apache's says of every failure that the DataNode cannot be reached.
    fn reach<Q: Checked, R: Checked>(&self, method: &'static str, request: &Q) -> Outcome<R> {
        let unreachable = |failure: Failure| match failure.kind {
            crate::failure::Kind::Usage => failure,
            kind => Failure::new(kind, format!("Datanode unreachable. {failure}")),
        };
        self.call(method, request).map_err(unreachable)
    }
}

/// Java's message has its stack trace behind the first line.
pub(super) fn text(error: &RpcError) -> String {
    match error.remote() {
        Some(remote) => remote.message.lines().next().unwrap_or_default().to_owned(),
        None => error.to_string(),
    }
}

/// The only word there may be: the DataNode.
fn only<'a>(conf: &'a Conf, words: &'a [String]) -> Outcome<DataNode<'a>> {
    match words {
        [address] => Ok(DataNode { conf, address }),
        _ => Err(Failure::usage("")),
    }
}

pub fn shut_down(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let (address, for_upgrade) = match words.as_slice() {
        [address] => (address, false),
        [address, word] if word.eq_ignore_ascii_case("upgrade") => (address, true),
        _ => return Err(Failure::usage("")),
    };
    let request = ShutdownDatanodeRequestProto { for_upgrade };
    let _: ShutdownDatanodeResponseProto =
        DataNode { conf, address }.call("shutdownDatanode", &request)?;
    sayln!("Submitted a shutdown request to datanode {address}");
    Ok(0)
}

pub fn evict_writers(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let node = only(conf, &words)?;
    let _: EvictWritersResponseProto = node.reach("evictWriters", &EvictWritersRequestProto {})?;
    sayln!("Requested writer eviction to datanode {}", node.address);
    Ok(0)
}

pub fn info(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let request = GetDatanodeInfoRequestProto {};
    let info: GetDatanodeInfoResponseProto =
        only(conf, &words)?.reach("getDatanodeInfo", &request)?;
    let DatanodeLocalInfoProto { software_version, config_version, uptime } = info.local_info;
    sayln!(
        "Uptime: {uptime}, Software version: {software_version}, Config version: {config_version}"
    );
    Ok(0)
}

pub fn trigger_block_report(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let namenode = pop_valued("-namenode", &mut words)?;
    let incremental = pop_flag("-incremental", &mut words);
    let node = only(conf, &words)?;
    let request = TriggerBlockReportRequestProto { incremental, nn_address: namenode.clone() };
    let _: TriggerBlockReportResponseProto = node.call("triggerBlockReport", &request)?;
    let kind = if incremental { "an incremental" } else { "a full" };
    let to = namenode.map(|namenode| format!(" to namenode {namenode}")).unwrap_or_default();
    sayln!("Triggering {kind} block report on {}{to}.", node.address);
    Ok(0)
}

pub fn volumes(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let request = GetVolumeReportRequestProto {};
    let report: GetVolumeReportResponseProto =
        only(conf, &words)?.call("getVolumeReport", &request)?;
    sayln!("Active Volumes : {}", report.volume_info.len());
    for volume in report.volume_info {
        sayln!("\n{}", volume_text(&volume));
    }
    Ok(0)
}

fn volume_text(volume: &DatanodeVolumeInfoProto) -> String {
    let size = |bytes: u64| format!("{bytes}({})", human(bytes as i64, "B", 2));
    format!(
        "Directory: {}\nStorageType: {}\nCapacity Used: {}\nCapacity Left: {}\nCapacity Reserved: {}\n\
         Reserved Space for Replicas: {}\nBlocks: {}",
        volume.path,
        volume.storage_type().as_str_name(),
        size(volume.used_space),
        size(volume.free_space),
        size(volume.reserved_space),
        size(volume.reserved_space_for_replicas),
        volume.num_blocks
    )
}

pub fn refresh_namenodes(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let request = RefreshNamenodesRequestProto {};
    let _: RefreshNamenodesResponseProto =
        only(conf, &words)?.call("refreshNamenodes", &request)?;
    Ok(0)
}

pub fn delete_pool(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let (address, pool, force) = match words.as_slice() {
        [address, pool] => (address, pool, false),
        [address, pool, word] if word == "force" => (address, pool, true),
        _ => return Err(Failure::usage("")),
    };
    let request = DeleteBlockPoolRequestProto { block_pool: pool.clone(), force };
    let _: DeleteBlockPoolResponseProto =
        DataNode { conf, address }.call("deleteBlockPool", &request)?;
    Ok(0)
}

pub fn balancer_bandwidth(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let request = GetBalancerBandwidthRequestProto {};
    let answer: GetBalancerBandwidthResponseProto =
        only(conf, &words)?.reach("getBalancerBandwidth", &request)?;
    sayln!("Balancer bandwidth is {} bytes per second.", answer.bandwidth);
    Ok(0)
}
