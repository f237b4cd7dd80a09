//! Which rack a DataNode is in: asked of a script (`net.topology.script.file.name`), or of a table
//! (`net.topology.table.file.name`); each address is asked about once.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_namespace::blocks::DEFAULT_RACK;

/// A script that takes longer is given up on; the DataNode is in the default rack then.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(10);

enum Source {
    None,
    Script(String),
    Table(HashMap<String, String>),
}

pub(crate) struct Racks {
    source: Source,
    known: Mutex<HashMap<String, String>>,
}

impl Racks {
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        let script = conf.get(&keys::NET_TOPOLOGY_SCRIPT_FILE_NAME)?;
        let table = conf.get(&keys::NET_TOPOLOGY_TABLE_FILE_NAME)?;
        let source = match (script, table) {
            (Some(script), _) if !script.is_empty() => Source::Script(script),
            (_, Some(table)) if !table.is_empty() => Source::Table(read_table(table.as_ref())),
            _ => Source::None,
        };
        Ok(Self { source, known: Mutex::default() })
    }

    /// Whether asking takes no time.
    pub(crate) fn is_fixed(&self) -> bool {
        !matches!(self.source, Source::Script(_))
    }

    /// The rack of an address that was asked about before, or that needs no script.
    pub(crate) fn known(&self, ip: &str, host: &str) -> String {
        let known = match &self.source {
            Source::None => None,
            Source::Table(table) => table.get(ip).or_else(|| table.get(host)).cloned(),
            Source::Script(_) => self.known.lock().get(ip).cloned(),
        };
        known.unwrap_or_else(|| DEFAULT_RACK.to_owned())
    }

    /// Asks the script about an address, so that [`Racks::known`] has it.
    pub(crate) async fn ask(&self, ip: &str) {
        let Source::Script(script) = &self.source else { return };
        if self.known.lock().contains_key(ip) {
            return;
        }
        let mut command = tokio::process::Command::new(script);
        command.arg(ip).stdin(std::process::Stdio::null()).kill_on_drop(true);
        let answer = match tokio::time::timeout(SCRIPT_TIMEOUT, command.output()).await {
            Ok(Ok(output)) if output.status.success() => first_word(&output.stdout),
            Ok(Ok(output)) => return tracing::warn!("{script} {ip}: {}", output.status),
            Ok(Err(error)) => return tracing::warn!("{script} {ip}: {error}"),
            Err(_) => return tracing::warn!("{script} {ip}: no answer in {SCRIPT_TIMEOUT:?}"),
        };
        match answer {
            Some(rack) => _ = self.known.lock().insert(ip.to_owned(), rack),
            None => tracing::warn!("{script} {ip}: the answer is no rack (/name...)"),
        }
    }
}

fn first_word(output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    text.split_whitespace().next().filter(|word| word.starts_with('/')).map(str::to_owned)
}

/// Lines of an address or name and its rack; a file that cannot be read maps nothing.
fn read_table(path: &Path) -> HashMap<String, String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| {
        tracing::warn!("{}: {error}", path.display());
        String::new()
    });
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once(char::is_whitespace));
    pairs.map(|(name, rack)| (name.to_owned(), rack.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_table_maps_addresses_and_names() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("table");
        std::fs::write(&path, "# racks\n10.0.0.1 /a\ndn2\t/b/c\n").unwrap();
        let mut conf = Conf::new();
        conf.set("net.topology.table.file.name", path.to_str().unwrap());
        let racks = Racks::from_conf(&conf).unwrap();
        assert_eq!(racks.known("10.0.0.1", "dn1"), "/a");
        assert_eq!(racks.known("10.0.0.2", "dn2"), "/b/c");
        assert_eq!(racks.known("10.0.0.3", "dn3"), DEFAULT_RACK);
    }

    #[tokio::test]
    async fn a_script_is_asked_and_its_failure_means_the_default() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("script");
        std::fs::write(&path, "#!/bin/sh\n[ $1 = 10.0.0.1 ] && echo /a || exit 3\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut conf = Conf::new();
        conf.set("net.topology.script.file.name", path.to_str().unwrap());
        let racks = Racks::from_conf(&conf).unwrap();
        racks.ask("10.0.0.1").await;
        racks.ask("10.0.0.2").await;
        assert_eq!(racks.known("10.0.0.1", ""), "/a");
        assert_eq!(racks.known("10.0.0.2", ""), DEFAULT_RACK);
    }
}
