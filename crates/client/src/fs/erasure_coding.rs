//! Calls about erasure coding.

use super::FileSystem;
use crate::error::Result;
use crate::types::ErasureCodingPolicy;

impl FileSystem {
    /// The erasure coding policy of a path; none where its files are replicated.
    pub async fn erasure_coding_policy(&self, path: &str) -> Result<Option<ErasureCodingPolicy>> {
        self.client.calls.erasure_coding.get(path).await
    }

    /// Gives a directory an erasure coding policy, the NameNode's default one without a name.
    pub async fn set_erasure_coding_policy(&self, path: &str, policy: Option<&str>) -> Result<()> {
        self.client.calls.erasure_coding.set(path, policy).await
    }

    /// Takes the erasure coding policy of a directory away.
    pub async fn unset_erasure_coding_policy(&self, path: &str) -> Result<()> {
        self.client.calls.erasure_coding.unset(path).await
    }

    /// All erasure coding policies that the NameNode knows.
    pub async fn erasure_coding_policies(&self) -> Result<Vec<ErasureCodingPolicy>> {
        self.client.calls.erasure_coding.policies().await
    }

    /// The codecs that the NameNode knows, and the coders of each.
    pub async fn erasure_coding_codecs(&self) -> Result<Vec<(String, String)>> {
        self.client.calls.erasure_coding.codecs().await
    }

    /// Permits or forbids to give an erasure coding policy to directories.
    pub async fn enable_erasure_coding_policy(&self, policy: &str, enable: bool) -> Result<()> {
        self.client.calls.erasure_coding.enable(policy, enable).await
    }
}
