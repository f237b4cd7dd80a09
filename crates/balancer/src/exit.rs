//! How the balancer and the mover end (`ExitStatus`).

use std::fmt;

/// How the balancer or the mover ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Nothing is left to move.
    Success,
    /// Another iteration is needed.
    InProgress,
    /// Another balancer or mover runs.
    AlreadyRunning,
    /// There is something to move, and no place for it.
    NoMoveBlock,
    /// Nothing was moved for several iterations.
    NoMoveProgress,
    /// A server could not be reached, or failed.
    IoException,
    /// The command line or the configuration makes no sense.
    IllegalArguments,
    /// An upgrade is not finalized.
    UnfinalizedUpgrade,
}

impl ExitStatus {
    /// Hadoop's exit code; the shell sees its lowest eight bits.
    pub const fn code(self) -> i32 {
        match self {
            Self::Success => 0,
            Self::InProgress => 1,
            Self::AlreadyRunning => -1,
            Self::NoMoveBlock => -2,
            Self::NoMoveProgress => -3,
            Self::IoException => -4,
            Self::IllegalArguments => -5,
            Self::UnfinalizedUpgrade => -7,
        }
    }

    /// Hadoop's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "SUCCESS",
            Self::InProgress => "IN_PROGRESS",
            Self::AlreadyRunning => "ALREADY_RUNNING",
            Self::NoMoveBlock => "NO_MOVE_BLOCK",
            Self::NoMoveProgress => "NO_MOVE_PROGRESS",
            Self::IoException => "IO_EXCEPTION",
            Self::IllegalArguments => "ILLEGAL_ARGUMENTS",
            Self::UnfinalizedUpgrade => "UNFINALIZED_UPGRADE",
        }
    }
}

/// Why the balancer or the mover could not run on.
#[derive(Clone, Debug)]
pub enum Error {
    /// Another one runs: the name of the program, and the file that it holds.
    AlreadyRunning(&'static str, &'static str),
    /// A value of the configuration makes no sense.
    Configuration(String),
    /// The client's error.
    Client(zerohop_client::Error),
}

impl Error {
    /// The exit status that it leads to.
    pub const fn status(&self) -> ExitStatus {
        match self {
            Self::AlreadyRunning(..) => ExitStatus::AlreadyRunning,
            Self::Configuration(_) => ExitStatus::IllegalArguments,
            Self::Client(_) => ExitStatus::IoException,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyRunning(name, path) => write!(
                f,
                "another {name} is running: it holds {path} open. Wait for its end; of one that was killed, the \
                 file is free after a minute"
            ),
            Self::Configuration(text) => f.write_str(text),
            Self::Client(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<zerohop_client::Error> for Error {
    fn from(error: zerohop_client::Error) -> Self {
        Self::Client(error)
    }
}

impl From<zerohop_conf::ConfError> for Error {
    fn from(error: zerohop_conf::ConfError) -> Self {
        Self::Configuration(error.to_string())
    }
}
