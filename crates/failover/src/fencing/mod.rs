//! How a NameNode is ended that might still write: the methods of `dfs.ha.fencing.methods`, one after the other.

mod error;
mod output;
mod shell;
mod ssh;

pub use error::BadFencing;

use crate::target::Target;
use shell::{Part, Shell};
use ssh::Ssh;
use std::fmt;
use std::str::FromStr;
use zerohop_conf::keys;

/// The methods, in the order in which they are tried (`NodeFencer`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fencer(Vec<Method>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Method {
    Shell(Shell),
    Ssh(Ssh),
}

impl FromStr for Fencer {
    type Err = BadFencing;

    fn from_str(text: &str) -> Result<Self, BadFencing> {
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
        let methods = lines.filter(|line| !line.is_empty()).map(str::parse);
        Ok(Self(methods.collect::<Result<_, _>>()?))
    }
}

impl FromStr for Method {
    type Err = BadFencing;

    fn from_str(line: &str) -> Result<Self, BadFencing> {
        let (name, argument) = match line.split_once('(') {
            Some((name, rest)) => {
                let argument = rest.strip_suffix(')').filter(|argument| !argument.is_empty());
                let argument = argument
                    .ok_or_else(|| BadFencing::new(format!("Unable to parse line: '{line}'")))?;
                (name, Some(argument))
            }
            None => (line, None),
        };
        match name.trim() {
            "shell" | "org.apache.hadoop.ha.ShellCommandFencer" => {
                let command = argument.ok_or_else(|| {
                    BadFencing::new("No argument passed to 'shell' fencing method")
                })?;
                Ok(Self::Shell(command.parse()?))
            }
            "sshfence" | "org.apache.hadoop.ha.SshFenceByTcpPort" => {
                Ok(Self::Ssh(argument.unwrap_or_default().parse()?))
            }
            other => {
                Err(BadFencing::new(format!("Could not find configured fencing method {other}")))
            }
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(shell) => write!(f, "shell({shell})"),
            Self::Ssh(ssh) => write!(f, "sshfence({ssh})"),
        }
    }
}

impl Fencer {
    /// The methods for a NameNode; none if nothing is configured.
    ///
    /// # Errors
    /// If a method is not known or not complete.
    pub fn of(target: &Target) -> Result<Option<Self>, BadFencing> {
        let methods = target.conf().get(&keys::DFS_HA_FENCING_METHODS);
        let methods = methods.map_err(|error| BadFencing::new(error.to_string()))?;
        methods.map(|text| text.parse()).transpose()
    }

    /// Whether `from` is certain not to write any more: a method has succeeded. A method is carried out for `to`, too, where
    /// that takes over in the same step, and fails if it fails there.
    pub async fn fence(&self, from: &Target, to: Option<&Target>) -> bool {
        for (number, method) in self.0.iter().enumerate() {
            tracing::info!("fencing {from}: method {} of {}: {method}", number + 1, self.0.len());
            if let Some(to) = to
                && !method.carry_out(to, Part::Target).await
            {
                tracing::error!("{method} failed for {to}, so {from} is not fenced by it");
                continue;
            }
            if method.carry_out(from, Part::Source).await {
                tracing::info!("{from} is fenced by {method}");
                return true;
            }
            tracing::warn!("{method} did not fence {from}");
        }
        tracing::error!(
            "{from} is not fenced: none of the {} methods of dfs.ha.fencing.methods succeeded",
            self.0.len()
        );
        false
    }
}

impl Method {
    async fn carry_out(&self, target: &Target, part: Part) -> bool {
        match self {
            Self::Shell(shell) => shell.run(target, part).await,
            Self::Ssh(ssh) => ssh.kill(target).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::target;

    #[test]
    fn methods_are_read_line_by_line() {
        let fencer: Fencer =
            "\n  sshfence  # first\nsshfence(hdfs:2222)\nshell(/bin/true)\n#none\n"
                .parse()
                .unwrap();
        let shown: Vec<String> = fencer.0.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["sshfence()", "sshfence(hdfs:2222)", "shell(/bin/true)"]);
        for (bad, reason) in [
            ("shell", "No argument"),
            ("shell()", "Unable to parse"),
            ("powershell(x)", "Could not find"),
            ("sshfence(a:b)", "Port"),
            ("sshfence(a", "Unable to parse"),
        ] {
            let error = bad.parse::<Fencer>().unwrap_err().to_string();
            assert!(error.contains(reason), "{bad}: {error}");
        }
    }

    #[tokio::test]
    async fn the_first_method_that_succeeds_ends_it() {
        let directory = tempfile::tempdir().unwrap();
        let mark = |name: &str| directory.path().join(name).display().to_string();
        let text = format!(
            "shell(touch {}; false)\nshell(touch {})\nshell(touch {})",
            mark("1"),
            mark("2"),
            mark("3")
        );
        let fencer: Fencer = text.parse().unwrap();
        assert!(fencer.fence(&target("nn1"), None).await);
        let made: Vec<bool> =
            ["1", "2", "3"].map(|name| directory.path().join(name).exists()).to_vec();
        assert_eq!(made, [true, true, false]);
        let none: Fencer = "shell(false)".parse().unwrap();
        assert!(!none.fence(&target("nn1"), None).await);
        assert!(!Fencer(Vec::new()).fence(&target("nn1"), None).await);
    }

    #[tokio::test]
    async fn a_method_that_fails_for_the_new_active_does_not_count_for_the_old() {
        let only_source: Fencer = "shell(test -n \"$source_host\")".parse().unwrap();
        assert!(only_source.fence(&target("nn1"), None).await);
        assert!(!only_source.fence(&target("nn1"), Some(&target("nn2"))).await);
        let both: Fencer = "shell(exit 0,exit 0)".parse().unwrap();
        assert!(both.fence(&target("nn1"), Some(&target("nn2"))).await);
    }
}
