//! Why a pipeline cannot continue, and which of its DataNodes is to blame, as the client that writes sees it.

use super::ack::{PipelineAck, status};
use super::frame::FrameError;
use super::unacknowledged::UnexpectedAck;
use std::fmt;
use zerohop_proto::hdfs::{BlockOpResponseProto, Status};

/// What is wrong with a pipeline. `index` is the DataNode's place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipelineFault {
    /// A DataNode is about to restart.
    Restarting {
        /// Its place.
        index: usize,
    },
    /// A DataNode failed.
    Failed {
        /// Its place.
        index: usize,
        /// How.
        cause: FaultCause,
    },
}

/// How a DataNode of a pipeline failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultCause {
    /// An ack has this status for it; `None` for an unknown code.
    Reported(Option<Status>),
    /// It does not set the pipeline up.
    Refused {
        /// Why, as a code.
        status: Status,
        /// Why, in words.
        message: String,
        /// The DataNode that the answer names as `host:port`; may be empty.
        bad_link: String,
    },
    /// It called itself slow in too many acks in a row.
    Slow,
    /// It acknowledged another packet than the oldest one.
    UnexpectedAck(UnexpectedAck),
    /// What it sent is not an ack.
    NotAnAck(FrameError),
    /// It could not be connected to, or the connection failed.
    Lost(String),
}

impl fmt::Display for FaultCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reported(status) => {
                let name = status.map_or("an unknown status", |status| status.as_str_name());
                write!(f, "Bad response {name}")
            }
            Self::Refused { status, message, bad_link } => write!(
                f,
                "Got error, status={}, status message {message}, ack with firstBadLink as {bad_link}",
                status.as_str_name()
            ),
            Self::Slow => f.write_str("it calls itself slow"),
            Self::UnexpectedAck(error) => error.fmt(f),
            Self::NotAnAck(error) => error.fmt(f),
            Self::Lost(why) => f.write_str(why),
        }
    }
}

/// What is wrong with the DataNode, without its place.
impl fmt::Display for PipelineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Restarting { .. } => f.write_str("it is about to restart"),
            Self::Failed { cause, .. } => cause.fmt(f),
        }
    }
}

impl std::error::Error for PipelineFault {}

impl PipelineFault {
    /// A fault of the first DataNode: the only one that the client is connected to.
    pub fn first(cause: FaultCause) -> Self {
        Self::Failed { index: 0, cause }
    }

    /// The first DataNode could not be connected to, or its connection failed.
    pub fn lost(why: impl fmt::Display) -> Self {
        Self::first(FaultCause::Lost(why.to_string()))
    }

    /// The fault that an ack reports. Of several DataNodes it is the last one's: those before it may only
    /// have noticed.
    pub fn of_ack(ack: &PipelineAck) -> Option<Self> {
        let mut statuses = ack.flags.iter().map(|flag| status(*flag)).enumerate().rev();
        let (index, status) = statuses.find(|(_, status)| *status != Some(Status::Success))?;
        Some(match status {
            Some(Status::OobRestart) => Self::Restarting { index },
            status => Self::Failed { index, cause: FaultCause::Reported(status) },
        })
    }

    /// The fault in the answer to a request for a pipeline. `place_of` gives the place of the DataNode with an
    /// address as the answer names it.
    pub fn of_answer(
        answer: &BlockOpResponseProto,
        place_of: impl FnOnce(&str) -> Option<usize>,
    ) -> Option<Self> {
        let status = answer.status();
        if status == Status::Success {
            return None;
        }
        let bad_link = answer.first_bad_link();
        let index = if bad_link.is_empty() { 0 } else { place_of(bad_link).unwrap_or(0) };
        if status == Status::OobRestart {
            return Some(Self::Restarting { index });
        }
        let message = answer.message().to_owned();
        let cause = FaultCause::Refused { status, message, bad_link: bad_link.to_owned() };
        Some(Self::Failed { index, cause })
    }

    /// The place of the DataNode.
    pub fn index(&self) -> usize {
        match self {
            Self::Restarting { index } | Self::Failed { index, .. } => *index,
        }
    }

    /// Whether an ack says more than that the first connection failed: that a DataNode restarts, or that one
    /// behind the first failed.
    pub fn explains_lost_connection(&self) -> bool {
        matches!(self, Self::Restarting { .. } | Self::Failed { index: 1.., .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_datanode_that_fails_is_blamed() {
        use Status::{Error, ErrorChecksum, OobRestart, Success};
        let of = |statuses: &[Status]| {
            let flags = statuses.iter().map(|status| *status as u32).collect();
            PipelineFault::of_ack(&PipelineAck { seqno: 1, flags, downstream_ns: 0 })
        };
        assert_eq!(of(&[Success, Success]), None);
        let reported = |index, status| {
            let cause = FaultCause::Reported(Some(status));
            Some(PipelineFault::Failed { index, cause })
        };
        assert_eq!(of(&[Error, ErrorChecksum, Success]), reported(1, ErrorChecksum));
        assert_eq!(of(&[Success, OobRestart]), Some(PipelineFault::Restarting { index: 1 }));
    }

    #[test]
    fn a_refused_pipeline_blames_the_datanode_that_the_answer_names() {
        let of = |status: Status, bad_link: &str| {
            let answer = BlockOpResponseProto {
                status: status.into(),
                first_bad_link: Some(bad_link.to_owned()),
                ..Default::default()
            };
            PipelineFault::of_answer(&answer, |link| (link == "b:2").then_some(1))
        };
        assert_eq!(of(Status::Success, ""), None);
        assert_eq!(of(Status::Error, "b:2").map(|fault| fault.index()), Some(1));
        assert_eq!(of(Status::Error, "nobody:9").map(|fault| fault.index()), Some(0));
        assert_eq!(of(Status::OobRestart, "b:2"), Some(PipelineFault::Restarting { index: 1 }));
    }
}
