//! What is left of damaged edits becomes an image (`namenode -recover`).

use crate::Error;
use crate::clock::Clock;
use crate::loader::image_info;
use crate::name_service::NameService;
use crate::node::NameNode;
use crate::retry::RetryCache;
use crate::served::{Loader, ServedNamespace};
use crate::settings::Settings;
use crate::start_progress::StartProgress;
use crate::storage::{NameStorage, RecoveryQuestions, StorageConfig};
use zerohop_conf::{Conf, Role, check_protections};
use zerohop_namespace::Namespace;
use zerohop_namespace::blocks::BlockManager;
use zerohop_wire::TxId;

impl NameNode {
    /// Loads the newest image and what can be read of the edits behind it, asking what to do about each damage, and saves an image
    /// of that. The NameNode must not run. Blocks. The transaction of the image; none if the answer was to leave everything as
    /// it is.
    ///
    /// # Errors
    /// If the directories are in use, there is no image, or none can be saved.
    pub fn recover(
        conf: &Conf,
        questions: &mut dyn RecoveryQuestions,
    ) -> Result<Option<i64>, Error> {
        check_protections(conf, Role::NameNode)?;
        let service = NameService::of(conf)?;
        let conf = service.specialized(conf)?;
        service.check_shared_edits(&conf)?;
        let settings = Settings::from_conf(&conf)?;
        let storage = NameStorage::open(StorageConfig::from_conf(&conf)?)?;
        let clock = Clock::start();
        let blocks = BlockManager::new(settings.block_params.clone());
        let namespace = Namespace::new(settings.namespace_params.clone(), blocks);
        let retries = RetryCache::new(settings.retry_expiry.as_millis() as u64);
        let served = ServedNamespace::new(namespace, retries, clock);
        let has_rollback_image = storage.rollback_images().exist();
        let progress = StartProgress::default();
        let mut loader = Loader { served: &served, has_rollback_image, progress: &progress };
        let Some(report) = storage.load_damaged(&mut loader, questions)? else {
            storage.unlock();
            return Ok(None);
        };
        tracing::info!(
            "Loaded image {} and {} edits up to {}",
            report.image.display(),
            report.edits,
            report.last_txid
        );
        let info = storage.info().clone();
        while served.write().free_deleted(usize::MAX) {}
        // An image of this transaction that is there already has everything: no edit was applied.
        if report.last_txid > report.image_txid {
            storage.save_image(report.last_txid, |image| {
                served.read().save_image(image, image_info(&info, TxId(report.last_txid)))
            })?;
        }
        storage.unlock();
        Ok(Some(report.last_txid))
    }
}
