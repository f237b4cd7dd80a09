//! `shell(COMMAND)`: a command of the administrator's (`ShellCommandFencer`).

use super::error::BadFencing;
use super::output;
use crate::target::Target;
use std::fmt;
use std::str::FromStr;
use tokio::process::Command;

/// A command for bash; with a comma two, the second one for the NameNode that gives the active state up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shell {
    target: String,
    source: Option<String>,
}

/// What becomes of a NameNode that a command is run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// It gives the active state up.
    Source,
    /// It is to take it.
    Target,
}

impl FromStr for Shell {
    type Err = BadFencing;

    fn from_str(text: &str) -> Result<Self, BadFencing> {
        let mut commands = text.split(',').map(str::to_owned);
        let target = commands.next().unwrap_or_default();
        let source = commands.next();
        match commands.next() {
            None => Ok(Self { target, source }),
            Some(_) => Err(BadFencing::new(format!(
                "shell({text}) has more than two commands; a comma separates the one for the new active from the one for the old, so put a command that needs commas into a script"
            ))),
        }
    }
}

impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.target)?;
        match &self.source {
            Some(source) => write!(f, ",{source}"),
            None => Ok(()),
        }
    }
}

impl Shell {
    /// Whether the command ended with 0. It finds the configuration in its environment, each dot of a key as an underscore,
    /// and the NameNode as `target_host`, `target_port`, `target_address`, `target_nameserviceid` and `target_namenodeid`;
    /// those of a NameNode that gives the active state up begin with `source_`, too.
    pub(super) async fn run(&self, target: &Target, part: Part) -> bool {
        let command_line = match (part, &self.source) {
            (Part::Source, Some(source)) => source,
            _ => &self.target,
        };
        let mut command = Command::new("bash");
        command.args(["-e", "-c", command_line]);
        let conf = target.conf();
        for (key, value) in conf.iter() {
            command.env(key.replace('.', "_"), value);
        }
        let port = target.port().to_string();
        let address = target.java_address();
        let about = [
            ("host", target.host()),
            ("port", port.as_str()),
            ("address", address.as_str()),
            ("nameserviceid", target.id().nameservice.as_str()),
            ("namenodeid", target.id().namenode.as_str()),
        ];
        for (name, value) in about {
            // A controller fences without saying which part the NameNode has: scripts for it read `target_`.
            command.env(format!("target_{name}"), value);
            if part == Part::Source {
                command.env(format!("source_{name}"), value);
            }
        }
        match output::run(command, command_line).await {
            Ok(code) => code == Some(0),
            Err(error) => {
                tracing::warn!("`{command_line}' cannot be run by bash: {error}");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::target;

    #[tokio::test]
    async fn a_command_finds_the_namenode_and_the_configuration() {
        let shell: Shell = "test \"$target_host:$target_port:$target_nameserviceid:$target_namenodeid:$dfs_nameservices\" = 127.0.0.1:1:ns:nn1:ns"
            .parse()
            .unwrap();
        assert!(shell.run(&target("nn1"), Part::Source).await);
        assert!(!shell.run(&target("nn2"), Part::Source).await);
    }

    #[tokio::test]
    async fn of_two_commands_the_second_is_for_the_old_active() {
        let shell: Shell = "false,true".parse().unwrap();
        assert!(shell.run(&target("nn1"), Part::Source).await);
        assert!(!shell.run(&target("nn1"), Part::Target).await);
        assert!("a,b,c".parse::<Shell>().is_err());
    }

    #[tokio::test]
    async fn a_command_that_leaves_a_process_behind_ends_with_itself() {
        let dir = tempfile::tempdir().unwrap();
        let pid_file = dir.path().join("pid");
        let command = format!("sleep 3600 & echo $! >{}; exit 0", pid_file.display());
        let shell: Shell = command.parse().unwrap();
        let namenode = target("nn1");
        let ran = shell.run(&namenode, Part::Source);
        let limit = std::time::Duration::from_secs(60);
        let ran = tokio::time::timeout(limit, ran).await;
        let pid = std::fs::read_to_string(pid_file).unwrap();
        let kill = std::process::Command::new("kill").args(["-KILL", pid.trim()]).status();
        assert!(kill.unwrap().success());
        assert!(ran.unwrap());
    }
}
