//! Commands that need a cluster if none is named: the only `zerohop up` that this user runs is meant.

use std::path::PathBuf;

use zerohop_conf::running::clusters;
use zerohop_conf::{Conf, keys};

use crate::failure::{Failure, Outcome};

/// The default file system of a configuration that names no cluster. It is never connected to.
pub const UNNAMED: &str = "unnamed-cluster:///";

/// Fails if a configuration that was loaded for a cluster names none: none runs, or more than one could be meant.
pub fn check_named(conf: &Conf) -> Outcome {
    match conf.get_raw(keys::FS_DEFAULTFS.name).as_deref() {
        Some(UNNAMED) => Err(unnamed()),
        _ => Ok(()),
    }
}

/// Returns the refusal of a command that needs a cluster if none, or more than one, could be meant.
pub fn unnamed() -> Failure {
    refusal(&clusters())
}

fn refusal(clusters: &[PathBuf]) -> Failure {
    if clusters.is_empty() {
        return Failure::io(
            "no cluster is named and no `zerohop up' of yours is running; start one, or set HADOOP_CONF_DIR, or write \
             --config DIR or -fs hdfs://HOST:PORT before the command: zerohop --config DIR fs -ls / (-fs file:/// is \
             the local disk)",
        );
    }
    let lines: Vec<String> =
        clusters.iter().map(|conf| format!("zerohop --config {} ...", conf.display())).collect();
    Failure::io(format!(
        "{} clusters of yours are running; choose one before the command: {}",
        clusters.len(),
        lines.join(" or ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_running_cluster_is_a_command_line_to_choose_from() {
        let listed = [PathBuf::from("/a"), PathBuf::from("/b")];
        let text = refusal(&listed).text;
        assert!(text.ends_with(": zerohop --config /a ... or zerohop --config /b ..."), "{text}");
    }
}
