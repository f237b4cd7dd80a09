//! What this NameNode asks another one of its name service (NamenodeProtocol).

use crate::name_service::OtherNameNode;
use prost::Message;
use zerohop_conf::{Conf, ConfError};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::namenode::{
    GetMostRecentCheckpointTxIdRequestProto, GetMostRecentCheckpointTxIdResponseProto,
    GetTransactionIdRequestProto, GetTransactionIdResponseProto, IsRollingUpgradeRequestProto,
    IsRollingUpgradeResponseProto, IsUpgradeFinalizedRequestProto, IsUpgradeFinalizedResponseProto,
    RollEditLogRequestProto, RollEditLogResponseProto,
};
use zerohop_proto::hdfs::{NamespaceInfoProto, VersionRequestProto, VersionResponseProto};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientOptions, RpcClient, RpcError};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol";

/// A connection to another NameNode.
pub(crate) struct NameNodeLink {
    client: RpcClient,
}

impl NameNodeLink {
    /// Nothing is asked yet.
    pub(crate) fn new(other: &OtherNameNode, conf: &Conf) -> Result<Self, ConfError> {
        let mut options = ClientOptions::from_conf(conf)?;
        // There may be a third one to ask.
        (options.connect_retries, options.connect_retries_on_timeouts) = (0, 0);
        let client = RpcClient::new(&other.rpc, PROTOCOL, 1, &User::of_process(), options);
        Ok(Self { client })
    }

    async fn ask<Q: Message, R: Checked>(
        &self,
        method: &'static str,
        request: Q,
    ) -> Result<R, RpcError> {
        self.client.call(method, &request).await
    }

    /// Who it is.
    pub(crate) async fn version(&self) -> Result<NamespaceInfoProto, RpcError> {
        let answer: VersionResponseProto =
            self.ask("versionRequest", VersionRequestProto {}).await?;
        Ok(answer.info)
    }

    /// Whether no upgrade of its directories waits to be finalized.
    pub(crate) async fn is_upgrade_finalized(&self) -> Result<bool, RpcError> {
        let answer: IsUpgradeFinalizedResponseProto =
            self.ask("isUpgradeFinalized", IsUpgradeFinalizedRequestProto {}).await?;
        Ok(answer.is_upgrade_finalized)
    }

    /// Whether a rolling upgrade is under way.
    pub(crate) async fn is_rolling_upgrade(&self) -> Result<bool, RpcError> {
        let answer: IsRollingUpgradeResponseProto =
            self.ask("isRollingUpgrade", IsRollingUpgradeRequestProto {}).await?;
        Ok(answer.is_rolling_upgrade)
    }

    /// The transaction of its newest image.
    pub(crate) async fn last_checkpoint(&self) -> Result<i64, RpcError> {
        let answer: GetMostRecentCheckpointTxIdResponseProto = self
            .ask("getMostRecentCheckpointTxId", GetMostRecentCheckpointTxIdRequestProto {})
            .await?;
        Ok(answer.tx_id as i64)
    }

    /// The last transaction that it has.
    pub(crate) async fn last_txid(&self) -> Result<i64, RpcError> {
        let answer: GetTransactionIdResponseProto =
            self.ask("getTransactionId", GetTransactionIdRequestProto {}).await?;
        Ok(answer.tx_id as i64)
    }

    /// Has it end its segment of the edit log, if it is active.
    pub(crate) async fn roll_edit_log(&self) -> Result<(), RpcError> {
        let _: RollEditLogResponseProto =
            self.ask("rollEditLog", RollEditLogRequestProto {}).await?;
        Ok(())
    }
}
