//! A new file system.

use crate::Error;
use crate::loader::image_info;
use crate::name_service::NameService;
use crate::node::NameNode;
use crate::settings::Settings;
use crate::storage::{FormatOptions, NameStorage, StorageConfig};
use zerohop_conf::{Conf, Role, check_protections, keys};
use zerohop_namespace::Namespace;
use zerohop_namespace::blocks::BlockManager;
use zerohop_wire::TxId;

impl NameNode {
    /// Makes the configured name directories and the shared edits anew: ids, and the image of an empty namespace. Blocks.
    ///
    /// # Errors
    /// If one of them holds data and `options.force` is not set, or cannot be written.
    pub fn format(conf: &Conf, options: FormatOptions) -> Result<(), Error> {
        let conf = own_conf(conf)?;
        let settings = Settings::from_conf_for_format(&conf)?;
        let namespace = Namespace::new(settings.1, BlockManager::new(settings.0));
        let storage = StorageConfig::from_conf(&conf)?;
        if conf.get(&keys::DFS_REFORMAT_DISABLED)?
            && let Some(path) = storage.dirs_with_data().first()
        {
            return Err(Error::Invalid(format!(
                "NameNode format aborted as reformat is disabled for this cluster: {} holds data, and \
                 dfs.reformat.disabled is true",
                path.display()
            )));
        }
        let info = NameStorage::format(storage, options, |info, image| {
            namespace.save_image(image, image_info(info, TxId(0)))
        })?;
        tracing::info!(
            "Formatted: cluster id {}, block pool {}",
            info.cluster_id,
            info.block_pool_id
        );
        Ok(())
    }

    /// What [`NameNode::format`] would destroy, as a question names it. Blocks.
    ///
    /// # Errors
    /// If JournalNodes do not answer.
    pub fn data_before_format(conf: &Conf) -> Result<Vec<String>, Error> {
        let config = StorageConfig::from_conf(&own_conf(conf)?)?;
        let dirs = config.occupied_dirs().into_iter();
        let mut found: Vec<String> =
            dirs.map(|dir| format!("Storage Directory {}", dir.display())).collect();
        found.extend(config.shared_edits_with_data()?);
        Ok(found)
    }
}

/// The configuration as it is for this NameNode.
fn own_conf(conf: &Conf) -> Result<Conf, Error> {
    check_protections(conf, Role::NameNode)?;
    let service = NameService::of(conf)?;
    let conf = service.specialized(conf)?;
    service.check_shared_edits(&conf)?;
    Ok(conf)
}
