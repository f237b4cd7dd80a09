//! Short-circuit reads. This DataNode does not pass descriptors yet: it says so, and clients read
//! over the connection instead.

use super::{After, OpFailure, answer};
use crate::transfer::conn::Conn;
use zerohop_proto::hdfs::{
    OpRequestShortCircuitAccessProto, ReleaseShortCircuitAccessRequestProto,
    ReleaseShortCircuitAccessResponseProto, ShortCircuitShmRequestProto,
    ShortCircuitShmResponseProto, Status,
};

/// Asks for a replica's descriptors.
pub(super) fn fds(
    conn: &mut Conn,
    _message: &OpRequestShortCircuitAccessProto,
) -> Result<After, OpFailure> {
    answer(conn, Status::ErrorUnsupported, "short-circuit reads are not supported")?;
    Ok(After::Keep)
}

/// Gives a slot back.
pub(super) fn release(
    conn: &mut Conn,
    _message: &ReleaseShortCircuitAccessRequestProto,
) -> Result<After, OpFailure> {
    conn.write_message(&ReleaseShortCircuitAccessResponseProto {
        status: Status::ErrorUnsupported as i32,
        error: Some("unsupported operation".to_owned()),
    })?;
    Ok(After::Keep)
}

/// Asks for a segment of shared memory.
pub(super) fn shm(
    conn: &mut Conn,
    _message: &ShortCircuitShmRequestProto,
) -> Result<After, OpFailure> {
    conn.write_message(&ShortCircuitShmResponseProto {
        status: Status::ErrorUnsupported as i32,
        error: Some(
            "This datanode has not been configured to support short-circuit shared memory segments."
                .to_owned(),
        ),
        id: None,
    })?;
    Ok(After::Keep)
}
