//! Changes of storage policies.

use crate::Result;
use crate::access::WRITE;
use crate::blocks::policy::{self, StoragePolicy};
use crate::call::Call;
use crate::error::{NotFound, PolicyError, refuse};
use crate::resolve::DirOp;
use crate::tree::Slot;
use zerohop_journal::op::SetStoragePolicy;

/// Changes of storage policies.
pub struct StoragePolicies<'n> {
    pub(crate) call: Call<'n>,
}

impl StoragePolicies<'_> {
    /// Sets the storage policy of a file or directory by its name.
    ///
    /// # Errors
    /// As Hadoop's `setStoragePolicy`.
    pub fn set_storage_policy(&mut self, path: &str, policy: &str) -> Result<()> {
        self.call.begin(|| format!("Cannot set storage policy for {path}"))?;
        self.check_policy_change("set storage policy", "setStoragePolicy")?;
        match StoragePolicy::by_name(policy) {
            Some(policy) => self.put_policy(path, policy.id),
            None => refuse(PolicyError::Unknown { name: policy.to_owned() }),
        }
    }

    /// Removes the storage policy of a file or directory, which inherits one again.
    ///
    /// # Errors
    /// As Hadoop's `unsetStoragePolicy`.
    pub fn unset_storage_policy(&mut self, path: &str) -> Result<()> {
        self.call.begin(|| format!("Cannot unset storage policy for {path}"))?;
        self.check_policy_change("unset storage policy", "unsetStoragePolicy")?;
        self.put_policy(path, policy::UNSPECIFIED)
    }

    fn check_policy_change(&self, operation: &'static str, method: &'static str) -> Result<()> {
        if !self.call.params.storage_policy_enabled {
            return refuse(PolicyError::Disabled { operation });
        }
        if self.call.params.storage_policy_superuser_only {
            self.call.access().check_superuser(method)?;
        }
        Ok(())
    }

    fn put_policy(&mut self, path: &str, policy_id: u8) -> Result<()> {
        let located = self.call.access().resolve(path, DirOp::Write)?;
        self.call.access().check_access_to(&located, WRITE)?;
        let Some(slot) = located.last() else {
            return refuse(NotFound::FileOrDirectory { path: located.path.into_owned() });
        };
        self.check_policy_of_file(slot, policy_id)?;
        self.call.commit(SetStoragePolicy { path: located.path.into_owned(), policy_id }).map(drop)
    }

    fn check_policy_of_file(&self, slot: Slot, policy_id: u8) -> Result<()> {
        let Some(file) = self.call.state.tree().get(slot).as_file() else { return Ok(()) };
        let fixed = |id: u8| StoragePolicy::by_id(id).filter(|policy| policy.copy_on_create);
        if let Some(policy) = fixed(policy_id) {
            return refuse(PolicyError::OnlyAtCreation { name: policy.name });
        }
        if let Some(policy) = fixed(file.storage_policy()) {
            return refuse(PolicyError::Fixed { name: policy.name });
        }
        Ok(())
    }
}
