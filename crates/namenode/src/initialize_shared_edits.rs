//! The edits of a NameNode that was alone go to JournalNodes (`namenode -initializeSharedEdits`).

use crate::Error;
use crate::name_service::NameService;
use crate::node::NameNode;
use crate::storage::{StorageConfig, copy_edits_to_shared};
use zerohop_conf::{Conf, Role, check_protections, keys};

impl NameNode {
    /// The shared journal if it holds anything that [`NameNode::initialize_shared_edits`] would destroy. Blocks.
    ///
    /// # Errors
    /// If none is configured, or JournalNodes do not answer.
    pub fn shared_edits_with_data(conf: &Conf) -> Result<Option<String>, Error> {
        Ok(config(conf)?.shared_edits_with_data()?)
    }

    /// Formats the shared journal for the namespace in the name directories, and copies the edits behind the newest image
    /// there. The NameNode must not run. Blocks. The last transaction that was copied, 0 if there was none.
    ///
    /// # Errors
    /// If the directories are in use or cannot be read, or JournalNodes do not answer.
    pub fn initialize_shared_edits(conf: &Conf) -> Result<i64, Error> {
        Ok(copy_edits_to_shared(config(conf)?)?)
    }
}

fn config(conf: &Conf) -> Result<StorageConfig, Error> {
    check_protections(conf, Role::NameNode)?;
    let service = NameService::of(conf)?;
    let conf = service.specialized(conf)?;
    service.check_shared_edits(&conf)?;
    let config = StorageConfig::from_conf(&conf)?;
    if config.shared_edits.is_none() {
        return Err(Error::Invalid(format!(
            "No shared edits directory configured for namespace {} namenode {}: set {}",
            service.id,
            service.namenode,
            keys::DFS_NAMENODE_SHARED_EDITS_DIR.name
        )));
    }
    Ok(config)
}
