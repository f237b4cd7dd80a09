//! A DataNode that is played by the test.
#![allow(dead_code, reason = "each of the programs that share this uses a part of it")]

use std::net::SocketAddr;
use zerohop_proto::Checked;
use zerohop_proto::hdfs::datanode as dn;
use zerohop_proto::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
use zerohop_proto::hdfs::*;
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};
use zerohop_wire::block_report::ReportBuilder;
use zerohop_wire::{Block, BlockId, GenerationStamp, ReplicaState, ReportedReplica};

const DATANODE: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";

async fn call<R: Checked>(client: &RpcClient, method: &'static str, q: impl prost::Message) -> R {
    client.call(method, &q).await.unwrap()
}

/// A DataNode as far as the NameNode can see.
pub struct FakeDatanode {
    pub client: RpcClient,
    pub registration: dn::DatanodeRegistrationProto,
    pub pool: String,
}

impl FakeDatanode {
    /// Registers and sends a heartbeat.
    pub async fn join_at(namenode: SocketAddr, xfer_port: u32) -> Self {
        let options = ClientOptions::default();
        let user = User::new("hdfs");
        let client = RpcClient::new(namenode, DATANODE, 1, &user, options);
        let info = call::<VersionResponseProto>(&client, "versionRequest", VersionRequestProto {})
            .await
            .info;
        let registration = dn::DatanodeRegistrationProto {
            datanode_id: DatanodeIdProto {
                ip_addr: "127.0.0.1".into(),
                host_name: "localhost".into(),
                datanode_uuid: "uuid-1".into(),
                xfer_port,
                info_port: 9864,
                ipc_port: 9867,
                info_secure_port: None,
            },
            storage_info: info.storage_info.clone(),
            keys: ExportedBlockKeysProto::default(),
            software_version: info.software_version.clone(),
        };
        let mut node = Self { client, registration, pool: info.block_pool_id };
        let q = dn::RegisterDatanodeRequestProto { registration: node.registration.clone() };
        let answer =
            call::<dn::RegisterDatanodeResponseProto>(&node.client, "registerDatanode", q).await;
        node.registration = answer.registration;
        node.beat().await;
        node
    }

    pub async fn beat(&self) -> dn::HeartbeatResponseProto {
        self.try_beat().await.unwrap()
    }

    pub async fn try_beat(&self) -> Result<dn::HeartbeatResponseProto, RpcError> {
        let report = StorageReportProto {
            storage_uuid: "DS-1".into(),
            capacity: Some(1 << 40),
            remaining: Some(1 << 39),
            ..StorageReportProto::default()
        };
        let q = dn::HeartbeatRequestProto {
            registration: self.registration.clone(),
            reports: vec![report],
            ..dn::HeartbeatRequestProto::default()
        };
        self.client.call("sendHeartbeat", &q).await
    }

    pub async fn received(&self, block: &ExtendedBlockProto, len: u64) {
        self.report(block, len, BlockStatus::Received).await;
    }

    pub async fn deleted(&self, block: &ExtendedBlockProto) {
        self.report(block, 0, BlockStatus::Deleted).await;
    }

    /// A full report of its only storage.
    pub async fn full_report(&self, blocks: &[ExtendedBlockProto]) {
        let mut report = ReportBuilder::default();
        for block in blocks {
            let (id, stamp) = (block.block_id as i64, block.generation_stamp as i64);
            let block = Block {
                id: BlockId(id),
                stamp: GenerationStamp(stamp),
                len: block.num_bytes.unwrap_or(0),
            };
            report.add(&ReportedReplica { block, state: ReplicaState::Finalized });
        }
        let storage = dn::StorageBlockReportProto {
            storage: DatanodeStorageProto {
                storage_uuid: "DS-1".into(),
                ..DatanodeStorageProto::default()
            },
            number_of_blocks: Some(report.count()),
            blocks_buffers: report.into_buffers(),
            blocks: Vec::new(),
        };
        let q = dn::BlockReportRequestProto {
            registration: self.registration.clone(),
            block_pool_id: self.pool.clone(),
            reports: vec![storage],
            context: None,
        };
        let _: dn::BlockReportResponseProto = call(&self.client, "blockReport", q).await;
    }

    async fn report(&self, block: &ExtendedBlockProto, len: u64, status: BlockStatus) {
        let block = BlockProto {
            block_id: block.block_id,
            gen_stamp: block.generation_stamp,
            num_bytes: Some(len),
        };
        let event =
            dn::ReceivedDeletedBlockInfoProto { block, status: status.into(), delete_hint: None };
        let storage = dn::StorageReceivedDeletedBlocksProto {
            storage_uuid: "DS-1".into(),
            blocks: vec![event],
            storage: None,
        };
        let q = dn::BlockReceivedAndDeletedRequestProto {
            registration: self.registration.clone(),
            block_pool_id: self.pool.clone(),
            blocks: vec![storage],
        };
        let _: dn::BlockReceivedAndDeletedResponseProto =
            call(&self.client, "blockReceivedAndDeleted", q).await;
    }
}
