//! `sshfence`: kills whatever listens on the NameNode's port, by ssh (`SshFenceByTcpPort`).

use super::error::BadFencing;
use super::output;
use crate::target::Target;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use tokio::process::Command;
use zerohop_conf::{ConfError, keys};

const SSH_PORT: u16 = 22;

/// How the NameNode's machine is logged in to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ssh {
    user: Option<String>,
    port: Option<u16>,
}

/// What came of a command on the other machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// It is not there any more.
    Down,
    /// It is still there, or that is not known.
    Unknown,
    /// Whether anything listens must be looked at.
    Look,
}

impl FromStr for Ssh {
    type Err = BadFencing;

    fn from_str(text: &str) -> Result<Self, BadFencing> {
        let (user, port) = match text.split_once(':') {
            Some((user, port)) => {
                let number = port.parse();
                let number =
                    number.map_err(|_| BadFencing::new(format!("Port number '{port}' invalid")))?;
                (user, Some(number))
            }
            None => (text, None),
        };
        Ok(Self { user: Some(user.to_owned()).filter(|user| !user.is_empty()), port })
    }
}

impl fmt::Display for Ssh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.user.as_deref().unwrap_or_default())?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl Ssh {
    /// Whether nothing listens on the NameNode's port any more.
    pub(super) async fn kill(&self, target: &Target) -> bool {
        let port = target.port();
        let killed = self
            .run(target, &format!("PATH=$PATH:/sbin:/usr/sbin fuser -v -k -n tcp {port}"))
            .await;
        match killed.map(after_fuser) {
            Some(Step::Down) => true,
            Some(Step::Look) => {
                let looked = format!("nc -z {} {port}", target.host());
                let looked = self.run(target, &looked).await.map(after_look);
                match looked {
                    Some(Step::Down) => true,
                    _ => {
                        tracing::warn!("{target} was not killed by ssh, or that is not known");
                        false
                    }
                }
            }
            _ => false,
        }
    }

    /// The exit code of a command on the NameNode's machine; none if it did not run.
    async fn run(&self, target: &Target, command_line: &str) -> Option<i32> {
        let arguments = match self.arguments(target) {
            Ok(arguments) => arguments,
            Err(error) => {
                tracing::error!("{error}");
                return None;
            }
        };
        let mut command = Command::new("ssh");
        command.args(arguments).arg(command_line);
        match output::run(command, &format!("{command_line} via ssh")).await {
            // What ssh itself ends with when it cannot connect or log in.
            Ok(Some(255)) | Ok(None) => None,
            Ok(code) => code,
            Err(error) => {
                tracing::warn!("ssh cannot be run: {error}; install OpenSSH's client");
                None
            }
        }
    }

    fn arguments(&self, target: &Target) -> Result<Vec<String>, ConfError> {
        let conf = target.conf();
        let timeout = conf.get(&keys::DFS_HA_FENCING_SSH_CONNECT_TIMEOUT)?;
        let timeout = timeout.max(Duration::from_secs(1)).as_secs_f64().ceil();
        let mut words: Vec<String> = Vec::new();
        for option in [
            "BatchMode=yes",
            "StrictHostKeyChecking=no",
            "UserKnownHostsFile=/dev/null",
            "LogLevel=ERROR",
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
            &format!("ConnectTimeout={timeout}"),
        ] {
            words.extend(["-o".to_owned(), option.to_owned()]);
        }
        for file in conf.get(&keys::DFS_HA_FENCING_SSH_PRIVATE_KEY_FILES)? {
            words.extend(["-i".to_owned(), file]);
        }
        words.extend(["-p".to_owned(), self.port.unwrap_or(SSH_PORT).to_string()]);
        if let Some(user) = &self.user {
            words.extend(["-l".to_owned(), user.clone()]);
        }
        words.push(target.host().to_owned());
        Ok(words)
    }
}

/// `fuser` ends with 0 if it killed something, and with 1 if it found nothing or may not see it.
fn after_fuser(code: i32) -> Step {
    match code {
        0 => Step::Down,
        1 => Step::Look,
        _ => Step::Unknown,
    }
}

/// `nc` ends with 1 if nothing listens. Where it is not installed the shell ends with 127, which Apache's takes for that.
fn after_look(code: i32) -> Step {
    match code {
        1 => Step::Down,
        _ => Step::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::target;

    #[test]
    fn ssh_is_told_user_port_and_keys() {
        let mut conf = zerohop_conf::Conf::new();
        conf.set("dfs.nameservices", "ns");
        conf.set("dfs.namenode.rpc-address.ns.nn1", "host1:8020");
        conf.set("dfs.ha.fencing.ssh.private-key-files", "/a, /b");
        conf.set("dfs.ha.fencing.ssh.connect-timeout", "1500");
        let target = Target::find(&conf, None, "nn1").unwrap();
        let ssh: Ssh = "hdfs:2222".parse().unwrap();
        let words = ssh.arguments(&target).unwrap().join(" ");
        assert!(
            words.ends_with("-o ConnectTimeout=2 -i /a -i /b -p 2222 -l hdfs host1"),
            "{words}"
        );
    }

    /// A missing `nc` was taken for a NameNode that is down.
    #[test]
    fn a_missing_nc_is_no_proof() {
        assert_eq!(after_look(127), Step::Unknown);
        assert_eq!((after_look(0), after_look(1)), (Step::Unknown, Step::Down));
        assert_eq!(
            (after_fuser(0), after_fuser(1), after_fuser(127)),
            (Step::Down, Step::Look, Step::Unknown)
        );
    }

    #[tokio::test]
    async fn a_machine_that_cannot_be_reached_is_not_fenced() {
        let ssh: Ssh = ":1".parse().unwrap();
        assert!(!ssh.kill(&target("nn1")).await);
    }
}
