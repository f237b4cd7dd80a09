//! From the directories to a NameNode's state.

use crate::Error;
use crate::checkpoint;
use crate::checkpoints::Checkpoints;
use crate::clock::Clock;
use crate::core::Core;
use crate::following::Following;
use crate::ha::{HaState, HaStatus};
use crate::hosts::Hosts;
use crate::identity::Identity;
use crate::image_senders::ImageSenders;
use crate::image_uploads::ImageUploads;
use crate::loader::image_info;
use crate::racks::Racks;
use crate::retry::RetryCache;
use crate::served::{Loader, ServedNamespace};
use crate::settings::Settings;
use crate::start::{Membership, StartOption};
use crate::start_progress::{StartPhase, StartProgress};
use crate::storage::{EditLog, NameStorage, StorageConfig, StorageError, StorageInfo};
use crate::top_users::TopUsers;
use crate::transition;
use std::sync::Arc;
use tokio::sync::watch;
use zerohop_conf::{Conf, keys};
use zerohop_journal::layout::LayoutVersion;
use zerohop_namespace::Namespace;
use zerohop_namespace::blocks::BlockManager;
use zerohop_wire::TxId;

/// Loads the directories, and where this NameNode is active begins to write the edit log.
pub(crate) fn load(
    conf: Arc<Conf>,
    settings: Settings,
    option: StartOption,
    (membership, failed): (Membership, watch::Sender<Option<String>>),
    progress: Arc<StartProgress>,
) -> Result<Core, Error> {
    let clock = Clock::start();
    let racks = Racks::from_conf(&conf)?;
    let hosts = Hosts::from_conf(&conf).map_err(|e| Error::Invalid(e.to_string()))?;
    let accepts_older_layout = option == StartOption::RollingUpgradeStarted;
    let config = StorageConfig { accepts_older_layout, ..StorageConfig::from_conf(&conf)? };
    let storage = Arc::new(NameStorage::open(config)?);
    let blocks = BlockManager::new(settings.block_params.clone());
    let namespace = Namespace::new(settings.namespace_params.clone(), blocks);
    let retries = RetryCache::new(settings.retry_expiry.as_millis() as u64);
    let served = ServedNamespace::new(namespace, retries, clock);
    let is_active = membership.state == HaState::Active;
    let has_rollback_image = storage.rollback_images().exist();
    let mut loader = Loader { served: &served, has_rollback_image, progress: &progress };
    progress.begin(StartPhase::Image);
    let rolls_back = option == StartOption::RollingUpgradeRollback;
    let report = match rolls_back {
        true => storage.rollback_images().load(&mut loader)?,
        false => storage.load(&mut loader)?,
    };
    tracing::info!(
        "Loaded image {} and {} edits up to {}",
        report.image.display(),
        report.edits,
        report.last_txid
    );
    let info = storage.info().clone();
    if rolls_back {
        served.write().forget_rolling_upgrade();
        storage.rollback_images().roll_back(report.last_txid)?;
        tracing::info!("rolled back to transaction {}", report.last_txid);
    } else if is_active && !served.read().rolling_upgrade().is_under_way() {
        check_layout(&info)?;
        // A crash kept the prepare, or the finalize, of a rolling upgrade from its end.
        storage.rollback_images().finalize()?;
    }
    let mut image = (report.image_txid, report.image_written_ms);
    let now_ms = clock.now().wall_ms;
    // Of several NameNodes a standby makes the checkpoints.
    let is_due = || checkpoint::is_due_at_start(&conf, &report, now_ms);
    if report.needs_save || (!membership.is_enabled && is_due()?) {
        progress.begin(StartPhase::Checkpoint);
        let saved = storage.save_image(report.last_txid, |image| {
            served.read().save_image(image, image_info(&info, TxId(report.last_txid)))
        });
        match saved {
            Ok(()) => image = (report.last_txid, clock.now().wall_ms),
            // Edits of this layout must not follow an image of another.
            Err(error) if info.layout != LayoutVersion::CURRENT => return Err(error.into()),
            // The images and edits that are there were enough for this start.
            Err(error) => tracing::error!("no image was saved, the one before stays: {error}"),
        }
    }
    progress.finish();
    let top_users = TopUsers::from_conf(&conf)?;
    let checkpoints = Checkpoints::from_conf(&conf, image, clock.now())?;
    let following = Following::from_conf(&conf)?;
    served.set_applied(TxId(report.last_txid));
    let log = match is_active {
        true => {
            let on_failure = transition::report_failure(&failed);
            EditLog::start(storage.clone(), report.last_txid + 1, on_failure)?
        }
        false => EditLog::closed(report.last_txid, &storage),
    };
    served.write().start(clock.now());
    if !is_active {
        served.write().become_standby();
    }
    if rolls_back {
        served.write().blocks_mut().safe_mode_mut().expect_newer_blocks();
    }
    let standby_reads = conf.get(&keys::DFS_HA_ALLOW_STALE_READS)?;
    let identity = Identity {
        namespace_id: info.namespace_id,
        cluster_id: info.cluster_id.clone(),
        ctime: info.c_time_ms as u64,
        pool: info.block_pool_id.as_str().into(),
    };
    let senders = ImageSenders::from_conf(&conf, &membership.service)?;
    let image_uploads = ImageUploads::new(senders);
    Ok(Core::new(
        conf,
        settings,
        identity,
        storage,
        (log, failed),
        HaStatus::new(membership.state, membership.is_enabled).with_standby_reads(standby_reads),
        (membership.service, following),
        served,
        clock,
        (checkpoints, image_uploads),
        (racks, hosts),
        (progress, top_users),
    ))
}

/// Outside a rolling upgrade nothing would be left of the older layout to go back to.
fn check_layout(info: &StorageInfo) -> Result<(), StorageError> {
    match info.layout {
        LayoutVersion::CURRENT => Ok(()),
        found => Err(StorageError::NoRollingUpgrade { found }),
    }
}
