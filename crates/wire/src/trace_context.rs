//! The span that a request belongs to, as it is sent with RPC calls and data transfer requests.
//!
//! Both have a message with the field `spanContext`, whose bytes Hadoop leaves to its tracer (`TraceUtils`). Apache's
//! releases have no tracer and send nothing. Here the bytes are the text of W3C's header `traceparent`:
//!
//! ```text
//! 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
//! version  trace id (16 bytes)        span id (8 bytes) flags (1: the spans of this trace are recorded)
//! ```

use std::fmt;
use zerohop_proto::common::RpcTraceInfoProto;
use zerohop_proto::hdfs::DataTransferTraceInfoProto;

/// Bytes of version `00`; later versions may be longer.
const TEXT_LEN: usize = 55;
/// The version that is invalid.
const VERSION_INVALID: &str = "ff";

/// A span of a trace (W3C Trace Context, `traceparent`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    trace_id: [u8; 16],
    span_id: [u8; 8],
    /// Bit 0 says that the spans of this trace are recorded.
    pub flags: u8,
}

impl TraceContext {
    /// A span; `None` if an id is zero, which says that there is none.
    pub fn new(trace_id: [u8; 16], span_id: [u8; 8], flags: u8) -> Option<Self> {
        let is_valid = trace_id != [0; 16] && span_id != [0; 8];
        is_valid.then_some(Self { trace_id, span_id, flags })
    }

    /// All spans of a request have it in common.
    pub const fn trace_id(&self) -> [u8; 16] {
        self.trace_id
    }

    /// The span itself.
    pub const fn span_id(&self) -> [u8; 8] {
        self.span_id
    }

    /// The trace id in hexadecimal, as tracing systems show it.
    pub fn trace_id_text(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.trace_id))
    }

    /// Reads the text of a `traceparent`; `None` if it is something else.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (head, more) = text.split_at_checked(TEXT_LEN)?;
        let mut parts = head.split('-');
        let (version, trace, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let has_form = [version, trace, span, flags].map(str::len) == [2, 32, 16, 2]
            && head.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'))
            && version != VERSION_INVALID
            && (more.is_empty() || (version != "00" && more.starts_with('-')));
        if !has_form {
            return None;
        }
        Self::new(
            u128::from_str_radix(trace, 16).ok()?.to_be_bytes(),
            u64::from_str_radix(span, 16).ok()?.to_be_bytes(),
            u8::from_str_radix(flags, 16).ok()?,
        )
    }

    /// The span that an RPC call belongs to.
    pub fn of_rpc(info: &RpcTraceInfoProto) -> Option<Self> {
        Self::parse(info.span_context.as_deref()?)
    }

    /// The span that a data transfer request belongs to.
    pub fn of_transfer(info: &DataTransferTraceInfoProto) -> Option<Self> {
        Self::parse(info.span_context.as_deref()?)
    }
}

/// The text of a `traceparent`.
impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, span) = (u128::from_be_bytes(self.trace_id), u64::from_be_bytes(self.span_id));
        write!(f, "00-{trace:032x}-{span:016x}-{:02x}", self.flags)
    }
}

impl From<TraceContext> for RpcTraceInfoProto {
    fn from(context: TraceContext) -> Self {
        Self { span_context: Some(context.to_string().into()), ..Self::default() }
    }
}

impl From<TraceContext> for DataTransferTraceInfoProto {
    fn from(context: TraceContext) -> Self {
        Self { span_context: Some(context.to_string().into()), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn the_example_of_the_standard_goes_there_and_back() {
        let context = TraceContext::parse(TEXT.as_bytes()).unwrap();
        assert_eq!(context.trace_id_text(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!((context.span_id()[0], context.flags), (0xb7, 1));
        assert_eq!(context.to_string(), TEXT);
        assert_eq!(TraceContext::of_rpc(&context.into()), Some(context));
        assert_eq!(TraceContext::of_transfer(&context.into()), Some(context));
        assert_eq!(TraceContext::of_rpc(&RpcTraceInfoProto::default()), None);
    }

    #[test]
    fn what_is_no_traceparent_is_none() {
        let zero_trace = format!("00-{}-b7ad6b7169203331-01", "0".repeat(32));
        let zero_span = format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", "0".repeat(16));
        let longer = format!("{TEXT}-more");
        let upper = TEXT.to_uppercase();
        let invalid = TEXT.replacen("00-", "ff-", 1);
        let signed = TEXT.replacen("-0af", "-+af", 1);
        let moved = TEXT.replacen("00-0", "000-", 1);
        for text in
            ["", &TEXT[..54], &longer, &zero_trace, &zero_span, &upper, &invalid, &signed, &moved]
        {
            assert_eq!(TraceContext::parse(text.as_bytes()), None, "{text}");
        }
        let later = longer.replacen("00-", "01-", 1);
        assert!(TraceContext::parse(later.as_bytes()).is_some(), "a later version may add fields");
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>, text in "[0-9a-f-]{53,60}|\\PC{0,70}") {
            let _ = TraceContext::parse(&bytes);
            if let Some(context) = TraceContext::parse(text.as_bytes()) {
                prop_assert_eq!(TraceContext::parse(context.to_string().as_bytes()), Some(context));
            }
        }
    }
}
