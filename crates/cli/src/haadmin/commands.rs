//! The commands of `haadmin`, as Apache's lists them.

/// A command: its name, its words, what it does.
pub struct Command {
    pub name: &'static str,
    pub words: &'static str,
    pub about: &'static str,
    pub flags: &'static [&'static str],
}

pub const FORCE_ACTIVE: &str = "forceactive";
pub const FORCE_FENCE: &str = "forcefence";
pub const FORCE_MANUAL: &str = "forcemanual";

pub const COMMANDS: [Command; 8] = [
    Command {
        name: "-checkHealth",
        words: "<serviceId>",
        about: "Requests that the service perform a health check.\nThe HAAdmin tool will exit with a non-zero exit code\nif the check fails.",
        flags: &[],
    },
    Command {
        name: "-failover",
        words: "[--forcefence] [--forceactive] <serviceId> <serviceId>",
        about: "Failover from the first service to the second.\nUnconditionally fence services if the --forcefence option is used.\nTry to failover to the target service even if it is not ready if the --forceactive option is used.",
        flags: &[FORCE_FENCE, FORCE_ACTIVE, FORCE_MANUAL],
    },
    Command {
        name: "-getAllServiceState",
        words: "",
        about: "Returns the state of all the services",
        flags: &[],
    },
    Command {
        name: "-getServiceState",
        words: "<serviceId>",
        about: "Returns the state of the service",
        flags: &[],
    },
    Command {
        name: "-help",
        words: "<command>",
        about: "Displays help on the specified command",
        flags: &[],
    },
    Command {
        name: "-transitionToActive",
        words: "[--forceactive] <serviceId>",
        about: "Transitions the service into Active state",
        flags: &[FORCE_ACTIVE, FORCE_MANUAL],
    },
    Command {
        name: "-transitionToObserver",
        words: "<serviceId>",
        about: "Transitions the service into Observer state",
        flags: &[FORCE_MANUAL],
    },
    Command {
        name: "-transitionToStandby",
        words: "<serviceId>",
        about: "Transitions the service into Standby state",
        flags: &[FORCE_MANUAL],
    },
];

pub const TITLE: &str = "Usage: haadmin [-ns <nameserviceId>]";

pub fn usage() -> String {
    let lines: String =
        COMMANDS.iter().map(|command| format!("    [{}]\n", synopsis(command))).collect();
    format!("{TITLE}\n{lines}\n-getServiceState and -getAllServiceState take --json.")
}

pub fn synopsis(command: &Command) -> String {
    match command.words {
        "" => command.name.to_owned(),
        words => format!("{} {words}", command.name),
    }
}
