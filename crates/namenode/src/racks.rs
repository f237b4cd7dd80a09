//! The racks of DataNodes and clients, from a script (`net.topology.script.file.name`) or a table
//! (`net.topology.table.file.name`). The script runs once for each address.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OnceCell, Semaphore};
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_namespace::blocks::DEFAULT_RACK;
use zerohop_system::clock;

/// A script that takes longer is given up on; the DataNode is in the default rack then.
const SCRIPT_TIMEOUT: Duration = Duration::from_secs(10);

/// Time after which a script that failed runs again for the address of a client. Clients call often.
const FAILURE_KEPT: Duration = Duration::from_secs(30);

/// Scripts that run at the same time.
const SCRIPTS_MAX: usize = 8;

/// Addresses whose racks are remembered. Clients choose their addresses, and anyone may be a client.
const KNOWN_MAX: usize = 65_536;

enum Source {
    None,
    Script(String),
    Table(HashMap<String, Arc<str>>),
}

/// The answer of a script about an address.
enum Answer {
    Rack(Arc<str>),
    /// The script failed at this instant.
    Failed(Instant),
}

impl Answer {
    fn is_old_failure(&self) -> bool {
        matches!(self, Self::Failed(at) if clock::since(*at) >= FAILURE_KEPT)
    }
}

pub(crate) struct Racks {
    source: Source,
    default: Arc<str>,
    /// A script that runs has a cell without an answer. Calls that need the answer wait for it.
    known: Mutex<HashMap<String, Arc<OnceCell<Answer>>>>,
    scripts: Semaphore,
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
        Ok(Self {
            source,
            default: DEFAULT_RACK.into(),
            known: Mutex::default(),
            scripts: Semaphore::new(SCRIPTS_MAX),
        })
    }

    /// Whether asking takes no time.
    pub(crate) fn is_fixed(&self) -> bool {
        !matches!(self.source, Source::Script(_))
    }

    /// The rack of an address that was asked about before, or that needs no script.
    pub(crate) fn known(&self, ip: &str, host: &str) -> Arc<str> {
        let known = match &self.source {
            Source::None => None,
            Source::Table(table) => table.get(ip).or_else(|| table.get(host)).cloned(),
            Source::Script(_) => self.answered(ip),
        };
        known.unwrap_or_else(|| Arc::clone(&self.default))
    }

    /// Returns the rack of a client's address, or `None` if no script has named one (`FSDirWriteFileOp.getClientNode`).
    pub(crate) fn of_client(&self, ip: &str) -> Option<Arc<str>> {
        if self.is_fixed() { Some(self.known(ip, ip)) } else { self.answered(ip) }
    }

    fn answered(&self, ip: &str) -> Option<Arc<str>> {
        match self.known.lock().get(ip)?.get()? {
            Answer::Rack(rack) => Some(Arc::clone(rack)),
            Answer::Failed(_) => None,
        }
    }

    /// Returns `true` if [`Racks::ask_for_client`] would wait for the script.
    pub(crate) fn must_ask(&self, ip: &str) -> bool {
        !self.is_fixed()
            && self
                .known
                .lock()
                .get(ip)
                .and_then(|cell| cell.get())
                .is_none_or(Answer::is_old_failure)
    }

    /// Asks the script about a DataNode's address, so that [`Racks::known`] has it.
    pub(crate) async fn ask(&self, ip: &str) {
        self.ask_again(ip, |answer| matches!(answer, Answer::Failed(_))).await;
    }

    /// Like [`Racks::ask`], but does not repeat a question that failed a short time ago: a client calls often.
    pub(crate) async fn ask_for_client(&self, ip: &str) {
        self.ask_again(ip, Answer::is_old_failure).await;
    }

    /// Asks the script, unless it has given another answer than one that is `outdated`.
    async fn ask_again(&self, ip: &str, outdated: impl Fn(&Answer) -> bool) {
        let Source::Script(script) = &self.source else { return };
        let cell = {
            let mut known = self.known.lock();
            if known.get(ip).and_then(|cell| cell.get()).is_some_and(outdated) {
                known.remove(ip);
            }
            if known.len() >= KNOWN_MAX && !known.contains_key(ip) {
                known.clear();
            }
            Arc::clone(known.entry(ip.to_owned()).or_default())
        };
        let asked = async {
            let _permit = self.scripts.acquire().await;
            run(script, ip).await.unwrap_or_else(|reason| {
                tracing::warn!("{script} {ip}: {reason}");
                Answer::Failed(clock::now())
            })
        };
        cell.get_or_init(|| asked).await;
    }
}

async fn run(script: &str, ip: &str) -> Result<Answer, String> {
    let mut command = tokio::process::Command::new(script);
    command.arg(ip).stdin(std::process::Stdio::null()).kill_on_drop(true);
    match tokio::time::timeout(SCRIPT_TIMEOUT, command.output()).await {
        Ok(Ok(output)) if output.status.success() => first_word(&output.stdout)
            .map(|rack| Answer::Rack(rack.into()))
            .ok_or_else(|| "the answer does not begin with a rack (/name...)".to_owned()),
        Ok(Ok(output)) => Err(output.status.to_string()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer in {SCRIPT_TIMEOUT:?}")),
    }
}

fn first_word(output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    text.split_whitespace().next().filter(|word| word.starts_with('/')).map(str::to_owned)
}

/// Lines of an address or name and its rack; a file that cannot be read maps nothing.
fn read_table(path: &Path) -> HashMap<String, Arc<str>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| {
        tracing::warn!("{}: {error}", path.display());
        String::new()
    });
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.split_once(char::is_whitespace));
    pairs.map(|(name, rack)| (name.to_owned(), rack.trim().into())).collect()
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
        assert_eq!(*racks.known("10.0.0.1", "dn1"), *"/a");
        assert_eq!(*racks.known("10.0.0.2", "dn2"), *"/b/c");
        assert_eq!(*racks.known("10.0.0.3", "dn3"), *DEFAULT_RACK);
        assert_eq!(racks.of_client("10.0.0.1").as_deref(), Some("/a"));
        assert_eq!(racks.of_client("10.0.0.3").as_deref(), Some(DEFAULT_RACK));
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
        assert_eq!(*racks.known("10.0.0.1", ""), *"/a");
        assert_eq!(*racks.known("10.0.0.2", ""), *DEFAULT_RACK);
        assert_eq!(racks.of_client("10.0.0.1").as_deref(), Some("/a"));
        assert_eq!(racks.of_client("10.0.0.2"), None, "Hadoop's resolver answers null");
    }

    /// Each call of such a client would wait for the script.
    #[tokio::test]
    async fn a_script_is_asked_once_even_if_it_fails() {
        let directory = tempfile::tempdir().unwrap();
        let (path, calls) = (directory.path().join("script"), directory.path().join("calls"));
        let script = format!("#!/bin/sh\necho $1 >>{}\nexit 3\n", calls.display());
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut conf = Conf::new();
        conf.set("net.topology.script.file.name", path.to_str().unwrap());
        let racks = Arc::new(Racks::from_conf(&conf).unwrap());
        assert!(racks.must_ask("10.0.0.1"));
        let mut calls_of_one = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let racks = Arc::clone(&racks);
            calls_of_one.spawn(async move { racks.ask_for_client("10.0.0.1").await });
        }
        calls_of_one.join_all().await;
        assert!(!racks.must_ask("10.0.0.1"));
        assert_eq!(std::fs::read_to_string(&calls).unwrap(), "10.0.0.1\n");
        racks.ask("10.0.0.1").await;
        let again = std::fs::read_to_string(calls).unwrap();
        assert_eq!(again, "10.0.0.1\n10.0.0.1\n", "a DataNode that registers is worth it");
    }
}
