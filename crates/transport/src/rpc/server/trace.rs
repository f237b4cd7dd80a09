//! The trace that a call belongs to, as its header says (`RPCTraceInfoProto`).

use std::fmt::Write;
use std::sync::Arc;
use zerohop_proto::common::RpcTraceInfoProto;
use zerohop_wire::TraceContext;

/// Longer ones are cut: they come from clients and are kept with each call.
const CONTEXT_MAX: usize = 64;

/// The id as lines of logs show it: the number in hexadecimal, as tracers write it; else the trace id of a W3C context; else what
/// the tracer's own context says, as it is where that is plain text and in hexadecimal otherwise.
pub(super) fn trace_id(info: &RpcTraceInfoProto) -> Option<Arc<str>> {
    if let Some(id) = info.trace_id.filter(|id| *id != 0) {
        return Some(format!("{id:016x}").into());
    }
    if let Some(context) = TraceContext::of_rpc(info) {
        return Some(context.trace_id_text().into());
    }
    let context = info.span_context.as_deref().filter(|context| !context.is_empty())?;
    let context = context.get(..CONTEXT_MAX).unwrap_or(context);
    match std::str::from_utf8(context) {
        Ok(text) if text.bytes().all(|byte| byte.is_ascii_graphic()) => Some(text.into()),
        _ => {
            let mut text = String::with_capacity(2 * context.len());
            for byte in context {
                // Writing into a String does not fail.
                let _ = write!(text, "{byte:02x}");
            }
            Some(text.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(trace_id: Option<i64>, context: &[u8]) -> Option<String> {
        let span_context = Some(context.to_vec().into());
        let info = RpcTraceInfoProto { trace_id, parent_id: None, span_context };
        super::trace_id(&info).map(|id| id.to_string())
    }

    #[test]
    fn ids_are_short_and_cannot_end_a_line() {
        assert_eq!(of(Some(255), b""), Some("00000000000000ff".to_owned()));
        assert_eq!(of(Some(-1), b"x"), Some("ffffffffffffffff".to_owned()));
        assert_eq!((of(None, b""), of(Some(0), b"")), (None, None));
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trace_id = "0af7651916cd43dd8448eb211c80319c";
        assert_eq!(of(None, parent.as_bytes()).as_deref(), Some(trace_id));
        assert_eq!(of(None, b"uber-trace-id:1").as_deref(), Some("uber-trace-id:1"));
        assert_eq!(of(None, b"a\nb").as_deref(), Some("610a62"));
        assert_eq!(of(None, &[b'x'; 1000]).map(|id| id.len()), Some(CONTEXT_MAX));
        assert_eq!(of(None, &[0xff; 1000]).map(|id| id.len()), Some(2 * CONTEXT_MAX));
    }
}
