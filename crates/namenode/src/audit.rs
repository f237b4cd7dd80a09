//! The audit log: one line an operation, in Hadoop's format. Off unless somebody listens to its target.

use zerohop_transport::rpc::server::CallContext;

/// The target to switch on: the name of Hadoop's logger.
pub const TARGET: &str = "org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit";

/// What an operation was about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line<'a> {
    pub(crate) cmd: &'static str,
    pub(crate) src: Option<&'a str>,
    pub(crate) dst: Option<&'a str>,
}

impl<'a> Line<'a> {
    pub(crate) fn of(cmd: &'static str) -> Self {
        Self { cmd, src: None, dst: None }
    }

    pub(crate) fn path(cmd: &'static str, src: &'a str) -> Self {
        Self { cmd, src: Some(src), dst: None }
    }

    pub(crate) fn paths(cmd: &'static str, src: &'a str, dst: &'a str) -> Self {
        Self { cmd, src: Some(src), dst: Some(dst) }
    }
}

/// Whether anybody listens.
pub(crate) fn is_on() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::INFO)
}

pub(crate) fn log(context: &CallContext, allowed: bool, line: Line<'_>) {
    if line.cmd.is_empty() {
        return;
    }
    let user = match &context.real_user {
        Some(real) => format!("{} (auth:PROXY) via {real} (auth:SIMPLE)", context.user),
        None => format!("{} (auth:SIMPLE)", context.user),
    };
    let caller =
        context.caller_context.as_ref().map(|caller| format!("\tcallerContext={}", caller.context));
    tracing::info!(
        target: TARGET,
        "allowed={allowed}\tugi={user}\tip=/{}\tcmd={}\tsrc={}\tdst={}\tperm=null\tproto=rpc{}",
        context.remote.ip(),
        line.cmd,
        line.src.unwrap_or("null"),
        line.dst.unwrap_or("null"),
        caller.unwrap_or_default(),
    );
}
