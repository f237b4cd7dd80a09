//! Rolling upgrades.

use crate::rolling_upgrade::RollingUpgradeReport;
use zerohop_namespace::RollingUpgrade;
use zerohop_proto::hdfs::{RollingUpgradeInfoProto, RollingUpgradeStatusProto};

/// What clients are told; none if no rolling upgrade is known.
pub(crate) fn rolling_upgrade(
    report: RollingUpgradeReport,
    pool: &str,
) -> Option<RollingUpgradeInfoProto> {
    let RollingUpgradeReport { upgrade, has_rollback_image } = report;
    Some(RollingUpgradeInfoProto {
        status: rolling_upgrade_status(upgrade, pool)?,
        start_time: upgrade.started_ms()?,
        finalize_time: upgrade.finalized_ms().unwrap_or(0),
        created_rollback_images: has_rollback_image,
    })
}

/// What DataNodes are told: none if there was no rolling upgrade, as far as this NameNode knows. They keep what is in their
/// trash then.
pub(crate) fn rolling_upgrade_status(
    upgrade: RollingUpgrade,
    pool: &str,
) -> Option<RollingUpgradeStatusProto> {
    upgrade.started_ms()?;
    Some(RollingUpgradeStatusProto {
        block_pool_id: pool.to_owned(),
        finalized: Some(!upgrade.is_under_way()),
    })
}
