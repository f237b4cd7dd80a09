//! The audit log: one line an operation, in Hadoop's format. Off unless its target is enabled.

use crate::call_error::CallError;
use std::fmt::Write;
use std::net::IpAddr;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_transport::rpc::server::CallerContext;
use zerohop_wire::CallerIdentity;

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

/// Who called, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) identity: &'a CallerIdentity,
    pub(crate) address: IpAddr,
    /// `rpc` or `webhdfs`.
    pub(crate) protocol: &'static str,
    pub(crate) context: Option<&'a CallerContext>,
}

/// How much is kept of what clients say about themselves; nothing unless `hadoop.caller.context.enabled`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallerLimits {
    enabled: bool,
    /// Characters of the escaped text.
    context_max: usize,
    /// Bytes; longer signatures are left out.
    signature_max: usize,
}

impl CallerLimits {
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        let max = |value: i32| usize::try_from(value).unwrap_or(0);
        Ok(Self {
            enabled: conf.get(&keys::HADOOP_CALLER_CONTEXT_ENABLED)?,
            context_max: max(conf.get(&keys::HADOOP_CALLER_CONTEXT_MAX_SIZE)?),
            signature_max: max(conf.get(&keys::HADOOP_CALLER_CONTEXT_SIGNATURE_MAX_SIZE)?),
        })
    }

    fn text(self, caller: Option<&CallerContext>) -> String {
        let Some(caller) = caller.filter(|caller| self.enabled && !caller.context.is_empty())
        else {
            return String::new();
        };
        // Escaped, it is ASCII: bytes are characters.
        let mut context = escaped(&caller.context);
        context.truncate(self.context_max);
        let fits = |len: usize| (1..=self.signature_max).contains(&len);
        let signature = caller.signature.as_ref().filter(|signature| fits(signature.len()));
        let signature = signature
            .map(|bytes| format!(":{}", escaped(&String::from_utf8_lossy(bytes))))
            .unwrap_or_default();
        format!("\tcallerContext={context}{signature}")
    }
}

/// Writes the line of a call that has ended, if the audit log is on and the call is one that is audited.
pub(crate) fn log<R>(
    limits: CallerLimits,
    origin: &Option<Origin<'_>>,
    outcome: &Result<R, CallError>,
    line: Line<'_>,
) {
    let Some(origin) = origin.as_ref().filter(|_| !line.cmd.is_empty()) else { return };
    if !tracing::enabled!(target: TARGET, tracing::Level::INFO) {
        return;
    }
    let is_denied = matches!(outcome, Err(error) if error.is_denied());
    let text = text(limits, origin, !is_denied, line);
    tracing::info!(target: TARGET, "{text}");
}

fn text(limits: CallerLimits, origin: &Origin<'_>, allowed: bool, line: Line<'_>) -> String {
    let path = |path: Option<&str>| path.map_or_else(|| "null".to_owned(), escaped);
    let user = without_controls(origin.identity.user());
    let user = match origin.identity.real_user() {
        Some(real) => {
            format!("{user} (auth:PROXY) via {} (auth:SIMPLE)", without_controls(real))
        }
        None => format!("{user} (auth:SIMPLE)"),
    };
    format!(
        "allowed={allowed}\tugi={user}\tip=/{}\tcmd={}\tsrc={}\tdst={}\tperm=null\tproto={}{}",
        origin.address,
        line.cmd,
        path(line.src),
        path(line.dst),
        origin.protocol,
        limits.text(origin.context),
    )
}

/// As Java's `escapeJava`: no path ends a line or a field. All of it is ASCII.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            ' '..='\u{7f}' => out.push(char),
            _ => escape(char, &mut out),
        }
    }
    out
}

/// Hadoop writes users as they are. Ours cannot end a line or a field either, but keep their backslashes.
fn without_controls(user: &str) -> String {
    let mut out = String::with_capacity(user.len());
    for char in user.chars() {
        if char.is_control() { escape(char, &mut out) } else { out.push(char) }
    }
    out
}

fn escape(char: char, out: &mut String) {
    match char {
        '\u{8}' => out.push_str("\\b"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\u{c}' => out.push_str("\\f"),
        '\r' => out.push_str("\\r"),
        _ => {
            for unit in char.encode_utf16(&mut [0; 2]) {
                // Writing into a String does not fail.
                _ = write!(out, "\\u{unit:04X}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn context(text: &str, signature: &'static [u8]) -> CallerContext {
        CallerContext { context: text.into(), signature: Some(Bytes::from_static(signature)) }
    }

    #[test]
    fn nothing_a_client_sends_begins_a_line_or_a_field() {
        let context = context("job\tproto=rpc", b"");
        let origin = Origin {
            identity: &CallerIdentity::simple("eve\nallowed=true", None),
            address: [127, 0, 0, 1].into(),
            protocol: "rpc",
            context: Some(&context),
        };
        let limits = CallerLimits { enabled: true, context_max: 128, signature_max: 40 };
        let line =
            Line::paths("rename", "/a\nallowed=true\tugi=\"root\"", "/b\\c\u{e9}\u{1f600}\u{1}");
        let text = text(limits, &origin, false, line);
        assert_eq!(
            text,
            "allowed=false\tugi=eve\\nallowed=true (auth:SIMPLE)\tip=/127.0.0.1\tcmd=rename\
             \tsrc=/a\\nallowed=true\\tugi=\\\"root\\\"\tdst=/b\\\\c\\u00E9\\uD83D\\uDE00\\u0001\
             \tperm=null\tproto=rpc\tcallerContext=job\\tproto=rpc"
        );
    }

    #[test]
    fn what_clients_say_of_themselves_is_kept_where_and_as_far_as_configured() {
        let mut conf = Conf::new();
        let text = |conf: &Conf, signature| {
            let limits = CallerLimits::from_conf(conf).unwrap();
            limits.text(Some(&context("0123456789", signature)))
        };
        assert_eq!(text(&conf, b"s"), "");
        conf.set("hadoop.caller.context.enabled", "true");
        assert_eq!(text(&conf, b"s"), "\tcallerContext=0123456789:s");
        conf.set("hadoop.caller.context.max.size", "4");
        conf.set("hadoop.caller.context.signature.max.size", "2");
        assert_eq!(text(&conf, b"\n"), "\tcallerContext=0123:\\n");
        assert_eq!(text(&conf, b"abc"), "\tcallerContext=0123");
    }
}
