//! Calls about erasure coding.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::Result;
use crate::types::ErasureCodingPolicy;
use zerohop_proto::hdfs::*;

/// How the files of directories are coded.
pub(crate) struct ErasureCoding(pub(super) NameNode);

impl ErasureCoding {
    pub(crate) async fn get(&self, path: &str) -> Result<Option<ErasureCodingPolicy>> {
        let request = GetErasureCodingPolicyRequestProto { src: wire_path(path)? };
        let response: GetErasureCodingPolicyResponseProto =
            self.0.call("getErasureCodingPolicy", &request).await?;
        Ok(response.ec_policy.map(Into::into))
    }

    /// Without a name it is the NameNode's default policy.
    pub(crate) async fn set(&self, path: &str, policy: Option<&str>) -> Result<()> {
        let request = SetErasureCodingPolicyRequestProto {
            src: wire_path(path)?,
            ec_policy_name: policy.map(str::to_owned),
        };
        let _: SetErasureCodingPolicyResponseProto =
            self.0.call("setErasureCodingPolicy", &request).await?;
        Ok(())
    }

    pub(crate) async fn unset(&self, path: &str) -> Result<()> {
        let request = UnsetErasureCodingPolicyRequestProto { src: wire_path(path)? };
        let _: UnsetErasureCodingPolicyResponseProto =
            self.0.call("unsetErasureCodingPolicy", &request).await?;
        Ok(())
    }

    pub(crate) async fn policies(&self) -> Result<Vec<ErasureCodingPolicy>> {
        let request = GetErasureCodingPoliciesRequestProto {};
        let response: GetErasureCodingPoliciesResponseProto =
            self.0.call("getErasureCodingPolicies", &request).await?;
        Ok(response.ec_policies.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn codecs(&self) -> Result<Vec<(String, String)>> {
        let request = GetErasureCodingCodecsRequestProto {};
        let response: GetErasureCodingCodecsResponseProto =
            self.0.call("getErasureCodingCodecs", &request).await?;
        Ok(response.codec.into_iter().map(|one| (one.codec, one.coders)).collect())
    }

    pub(crate) async fn enable(&self, policy: &str, enable: bool) -> Result<()> {
        let ec_policy_name = policy.to_owned();
        if enable {
            let request = EnableErasureCodingPolicyRequestProto { ec_policy_name };
            let _: EnableErasureCodingPolicyResponseProto =
                self.0.call("enableErasureCodingPolicy", &request).await?;
        } else {
            let request = DisableErasureCodingPolicyRequestProto { ec_policy_name };
            let _: DisableErasureCodingPolicyResponseProto =
                self.0.call("disableErasureCodingPolicy", &request).await?;
        }
        Ok(())
    }
}
