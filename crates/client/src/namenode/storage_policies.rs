//! Calls about storage policies.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::Result;
use crate::types::StoragePolicy;
use zerohop_proto::hdfs::*;

/// Which types of storage the replicas of paths are to be on.
pub(crate) struct StoragePolicies(pub(super) NameNode);

impl StoragePolicies {
    pub(crate) async fn set(&self, path: &str, policy: &str) -> Result<()> {
        let request =
            SetStoragePolicyRequestProto { src: wire_path(path)?, policy_name: policy.to_owned() };
        let _: SetStoragePolicyResponseProto = self.0.call("setStoragePolicy", &request).await?;
        Ok(())
    }

    pub(crate) async fn unset(&self, path: &str) -> Result<()> {
        let request = UnsetStoragePolicyRequestProto { src: wire_path(path)? };
        let _: UnsetStoragePolicyResponseProto =
            self.0.call("unsetStoragePolicy", &request).await?;
        Ok(())
    }

    pub(crate) async fn satisfy(&self, path: &str) -> Result<()> {
        let request = SatisfyStoragePolicyRequestProto { src: wire_path(path)? };
        let _: SatisfyStoragePolicyResponseProto =
            self.0.call("satisfyStoragePolicy", &request).await?;
        Ok(())
    }

    pub(crate) async fn get(&self, path: &str) -> Result<StoragePolicy> {
        let request = GetStoragePolicyRequestProto { path: wire_path(path)? };
        let response: GetStoragePolicyResponseProto =
            self.0.call("getStoragePolicy", &request).await?;
        Ok(response.storage_policy.into())
    }

    pub(crate) async fn all(&self) -> Result<Vec<StoragePolicy>> {
        let response: GetStoragePoliciesResponseProto =
            self.0.call("getStoragePolicies", &GetStoragePoliciesRequestProto {}).await?;
        Ok(response.policies.into_iter().map(Into::into).collect())
    }
}
