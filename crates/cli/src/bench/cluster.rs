//! The cluster that is measured: the configured one, or one of its own.

use std::process::Command;

use zerohop_conf::{Conf, keys, running};

use crate::failure::Outcome;
use crate::fs::Location;
use crate::running::check_named;
use crate::settings::Settings;

/// Returns the configuration of the HDFS to measure: the one that is named, or the only running `zerohop up`. Returns
/// `None` if the benchmark has to start a private cluster.
///
/// # Errors
/// Fails if several clusters could be meant.
pub fn find(settings: &Settings) -> Outcome<Option<Conf>> {
    let conf = settings.load_for_cluster()?;
    if let Err(failure) = check_named(&conf) {
        return if running::clusters().is_empty() { Ok(None) } else { Err(failure) };
    }
    let is_hdfs = Location::default_of(&conf)?.has_scheme("hdfs");
    if is_hdfs && settings.load()?.directory().is_none() {
        noteln!("measuring {}; -fs file:/// starts a private cluster", conf.default_fs()?);
    }
    Ok(is_hdfs.then_some(conf))
}

/// Runs `zerohop VERB WORDS` on a cluster that is a process of its own, so that its CPU time is not
/// the client's.
pub fn run_on_own(
    settings: &Settings,
    datanodes: u16,
    verb: &str,
    words: &[String],
) -> Outcome<i32> {
    let quote = |word: &str| format!("'{}'", word.replace('\'', "'\\''"));
    let own = std::env::current_exe()?;
    let mut command = format!("{} {verb}", quote(&own.to_string_lossy()));
    for word in words {
        command.push(' ');
        command.push_str(&quote(word));
    }
    command.push_str(" --watch cluster=$PPID");
    let mut up = Command::new(&own);
    if let Some(directory) = &settings.directory {
        up.arg("--config").arg(directory);
    }
    for (name, value) in settings.values.iter().filter(|(name, _)| name != keys::FS_DEFAULTFS.name)
    {
        up.arg("-D").arg(format!("{name}={value}"));
    }
    up.args(["up", "--datanodes", &datanodes.to_string(), "--port", "0", "--http-port", "0"]);
    let status = up.args(["--exec", &command]).status()?;
    Ok(status.code().unwrap_or(1))
}
