//! Rolling upgrades, as answers to heartbeats announce them.

use zerohop_proto::hdfs::datanode::HeartbeatResponseProto;
use zerohop_replica::UpgradePhase;

/// Older NameNodes fill the first field only, and only while an upgrade is under way.
pub(super) fn upgrade_phase(answer: &HeartbeatResponseProto) -> UpgradePhase {
    let told = &answer.rolling_upgrade_status_v2;
    match told.as_ref().or(answer.rolling_upgrade_status.as_ref()) {
        None => UpgradePhase::None,
        Some(status) if status.finalized() => UpgradePhase::Finalized,
        Some(_) => UpgradePhase::UnderWay,
    }
}

/// The phase in words, for the log.
pub(super) fn describe(phase: UpgradePhase) -> &'static str {
    match phase {
        UpgradePhase::UnderWay => {
            "a rolling upgrade is under way, deleted replicas are kept in the trash"
        }
        UpgradePhase::Finalized => "the rolling upgrade is finalized, the trash is deleted",
        UpgradePhase::None => "no rolling upgrade is under way any more, the trash stays",
    }
}
