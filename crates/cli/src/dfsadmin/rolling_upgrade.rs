//! `-rollingUpgrade`

use super::report::date;
use crate::failure::{EXIT_USAGE, Failure, Outcome};
use crate::fs::{client_failure, connect_client};
use zerohop_client::{RollingUpgrade, RollingUpgradeAction};
use zerohop_conf::Conf;

pub fn run(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let word = match words.as_slice() {
        [] => "query",
        [word] => word,
        _ => return Err(Failure::usage("")),
    };
    let (action, shown) = match word.to_ascii_lowercase().as_str() {
        "query" => (RollingUpgradeAction::Query, "QUERY"),
        "prepare" => (RollingUpgradeAction::Start, "PREPARE"),
        "finalize" => (RollingUpgradeAction::Finalize, "FINALIZE"),
        _ => {
            noteln!("rollingUpgrade: Failed to convert \"{word}\" to RollingUpgradeAction");
            return Ok(EXIT_USAGE);
        }
    };
    sayln!("{shown} rolling upgrade ...");
    let upgrade = connect_client(conf)?.rolling_upgrade(action).map_err(client_failure)?;
    sayln!("{}", describe(upgrade.as_ref()));
    Ok(0)
}

/// How far it is, in Apache's words.
fn describe(upgrade: Option<&RollingUpgrade>) -> String {
    let Some(upgrade) = upgrade.filter(|upgrade| upgrade.started_ms > 0) else {
        return "There is no rolling upgrade in progress or rolling upgrade has already been finalized.".to_owned();
    };
    let headline = if upgrade.finalized_ms > 0 {
        "Rolling upgrade is finalized."
    } else if upgrade.has_rollback_image {
        "Proceed with rolling upgrade:"
    } else {
        "Preparing for upgrade. Data is being saved for rollback.\nRun \"dfsadmin -rollingUpgrade query\" to check the \
         status\nfor proceeding with rolling upgrade"
    };
    let at = |ms: u64, none: &str| match ms {
        0 => none.to_owned(),
        ms => format!("{} (={ms})", date(ms)),
    };
    format!(
        "{headline}\n  Block Pool ID: {}\n     Start Time: {}\n  Finalize Time: {}",
        upgrade.block_pool,
        at(upgrade.started_ms, "<NOT STARTED>"),
        at(upgrade.finalized_ms, "<NOT FINALIZED>"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rolling_upgrade_is_described_as_apaches_tool_does() {
        assert!(describe(None).starts_with("There is no rolling upgrade in progress"));
        let mut upgrade = RollingUpgrade::default();
        upgrade.block_pool = "BP-1".to_owned();
        upgrade.started_ms = 1000;
        assert!(describe(Some(&upgrade)).starts_with("Preparing for upgrade."));
        upgrade.has_rollback_image = true;
        let text = describe(Some(&upgrade));
        assert!(
            text.starts_with("Proceed with rolling upgrade:\n  Block Pool ID: BP-1\n"),
            "{text}"
        );
        assert!(text.contains("1970 (=1000)\n  Finalize Time: <NOT FINALIZED>"), "{text}");
        upgrade.finalized_ms = 2000;
        let text = describe(Some(&upgrade));
        assert!(text.starts_with("Rolling upgrade is finalized.\n") && text.ends_with("(=2000)"));
    }
}
