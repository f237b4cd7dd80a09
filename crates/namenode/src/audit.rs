//! The audit log: one line an operation, in Hadoop's format. Off unless its target is enabled.

use crate::call_error::CallError;
use std::borrow::Cow;
use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_wire::{CallerContext, CallerIdentity};

/// The target to switch on: the name of Hadoop's logger.
pub const TARGET: &str = "org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit";

/// What an operation was about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line<'a> {
    pub(crate) cmd: &'static str,
    pub(crate) src: Option<&'a str>,
    pub(crate) dst: Option<&'a str>,
    /// What is written behind the command.
    pub(crate) options: &'static str,
}

impl<'a> Line<'a> {
    pub(crate) fn of(cmd: &'static str) -> Self {
        Self { cmd, ..Self::default() }
    }

    pub(crate) fn path(cmd: &'static str, src: &'a str) -> Self {
        Self { cmd, src: Some(src), ..Self::default() }
    }

    pub(crate) fn paths(cmd: &'static str, src: &'a str, dst: &'a str) -> Self {
        Self { cmd, src: Some(src), dst: Some(dst), ..Self::default() }
    }

    pub(crate) fn with_options(self, options: &'static str) -> Self {
        Self { options, ..self }
    }

    /// The path whose owner and permission Apache writes when the command has been carried out.
    fn changed_path(&self) -> Option<&'a str> {
        match self.cmd {
            "concat" | "rename" => self.dst,
            "create" | "mkdirs" | "createSymlink" | "truncate" | "setPermission" | "setOwner"
            | "setTimes" | "setStoragePolicy" | "unsetStoragePolicy" | "setAcl" | "removeAcl"
            | "removeDefaultAcl" | "modifyAclEntries" | "removeAclEntries" | "setXAttr"
            | "removeXAttr" => self.src,
            _ => None,
        }
    }
}

/// Who called, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub(crate) identity: &'a CallerIdentity,
    pub(crate) address: SocketAddr,
    /// `rpc`, `webhdfs`, or `null` for a page.
    pub(crate) protocol: &'static str,
    pub(crate) context: Option<&'a CallerContext>,
    /// The trace that the client says the call belongs to.
    pub(crate) trace_id: Option<&'a str>,
}

/// What lines say besides the operation, as the configuration wants it. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuditSettings {
    caller: CallerLimits,
    /// `dfs.namenode.audit.log.with.remote.port`, with the separator of fields: the port goes into the caller context.
    remote_port: Option<Arc<str>>,
    /// `dfs.namenode.audit.log.token.tracking.id`
    tracking_id: bool,
    /// `dfs.namenode.audit.log.debug.cmdlist`: these are written at the level DEBUG only.
    debug_commands: Arc<[String]>,
}

/// How much is kept of what clients say about themselves; nothing unless `hadoop.caller.context.enabled`.
#[derive(Clone, Copy, Debug, Default)]
struct CallerLimits {
    enabled: bool,
    /// Characters of the escaped text.
    context_max: usize,
    /// Bytes; longer signatures are left out.
    signature_max: usize,
}

/// Fields of a caller context that Apache's NameNode adds or looks for.
const CLIENT_PORT: &str = "clientPort";
const REAL_USER: &str = "realUser";
const PROXY_USER_PORT: &str = "proxyUserPort";

impl AuditSettings {
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        let expected = "a separator of fields, which is no `='";
        let is_legal = |separator: &String| !["\t", "\n", "="].contains(&separator.as_str());
        let key = &keys::HADOOP_CALLER_CONTEXT_SEPARATOR;
        let separator = conf.get_as(key, expected, |text: String| Some(text).filter(is_legal))?;
        let with_port: bool = conf.get(&keys::DFS_NAMENODE_AUDIT_LOG_WITH_REMOTE_PORT)?;
        Ok(Self {
            caller: CallerLimits::from_conf(conf)?,
            remote_port: with_port.then(|| separator.into()),
            tracking_id: conf.get(&keys::DFS_NAMENODE_AUDIT_LOG_TOKEN_TRACKING_ID)?,
            debug_commands: conf.get(&keys::DFS_NAMENODE_AUDIT_LOG_DEBUG_CMDLIST)?.into(),
        })
    }

    /// Whether a line about the command is written.
    fn is_written(&self, command: &str) -> bool {
        let is_for_debugging = self.debug_commands.iter().any(|listed| listed == command);
        tracing::enabled!(target: TARGET, tracing::Level::DEBUG)
            || (!is_for_debugging && tracing::enabled!(target: TARGET, tracing::Level::INFO))
    }

    /// What the client says, with the port of its connection where that is wanted and the client has not said one.
    fn context<'a>(&self, origin: &Origin<'a>) -> Option<Cow<'a, CallerContext>> {
        let Some(separator) = &self.remote_port else { return origin.context.map(Cow::Borrowed) };
        let port = origin.address.port().to_string();
        let mut context = origin.context.cloned().unwrap_or_else(|| CallerContext::new(""));
        if !context.context.contains(CLIENT_PORT) {
            context = context.with_field(CLIENT_PORT, &port, separator);
        }
        if context.context.contains(REAL_USER) {
            context = context.with_field(PROXY_USER_PORT, &port, separator);
        }
        Some(Cow::Owned(context))
    }
}

impl CallerLimits {
    fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
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
/// `changed` finds what a command has changed, as `owner:group:rwxr-xr-x`; it is only asked for lines that say so.
pub(crate) fn log<R>(
    settings: &AuditSettings,
    origin: &Option<Origin<'_>>,
    outcome: &Result<R, CallError>,
    line: Line<'_>,
    changed: impl FnOnce(&str) -> Option<String>,
) {
    let Some(origin) = origin.as_ref().filter(|_| !line.cmd.is_empty()) else { return };
    if !settings.is_written(line.cmd) {
        return;
    }
    let is_denied = matches!(outcome, Err(error) if error.is_denied());
    let path = line.changed_path().filter(|_| outcome.is_ok());
    let perm = path.and_then(changed);
    let text = text(settings, origin, !is_denied, (line, perm.as_deref()));
    tracing::info!(target: TARGET, "{text}");
}

/// Writes the line of what one of the NameNode's own pages was asked to do.
pub(crate) fn log_page(
    settings: &AuditSettings,
    origin: &Origin<'_>,
    is_allowed: bool,
    line: Line<'_>,
) {
    if settings.is_written(line.cmd) {
        tracing::info!(target: TARGET, "{}", text(settings, origin, is_allowed, (line, None)));
    }
}

fn text(
    settings: &AuditSettings,
    origin: &Origin<'_>,
    allowed: bool,
    (line, perm): (Line<'_>, Option<&str>),
) -> String {
    let path = |path: Option<&str>| path.map_or_else(|| "null".to_owned(), escaped);
    let user = without_controls(origin.identity.user());
    let user = match origin.identity.real_user() {
        Some(real) => {
            format!("{user} (auth:PROXY) via {} (auth:SIMPLE)", without_controls(real))
        }
        None => format!("{user} (auth:SIMPLE)"),
    };
    // No call here is authenticated by a token, and none other has such an id.
    let tracking_id = if settings.tracking_id { "\ttrackingId=null" } else { "" };
    let trace_id = origin.trace_id.map_or_else(String::new, |id| format!("\ttraceId={id}"));
    format!(
        "allowed={allowed}\tugi={user}\tip=/{}\tcmd={}{}\tsrc={}\tdst={}\tperm={}{tracking_id}\tproto={}{}{trace_id}",
        origin.address.ip(),
        line.cmd,
        line.options,
        path(line.src),
        path(line.dst),
        perm.map_or_else(|| "null".to_owned(), without_controls),
        origin.protocol,
        settings.caller.text(settings.context(origin).as_deref()),
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
        CallerContext::new(text).with_signature(Bytes::from_static(signature))
    }

    #[test]
    fn nothing_a_client_sends_begins_a_line_or_a_field() {
        let context = context("job\tproto=rpc", b"");
        let origin = Origin {
            identity: &CallerIdentity::simple("eve\nallowed=true", None),
            address: ([127, 0, 0, 1], 4711).into(),
            protocol: "rpc",
            context: Some(&context),
            trace_id: None,
        };
        let caller = CallerLimits { enabled: true, context_max: 128, signature_max: 40 };
        let settings = AuditSettings { caller, ..AuditSettings::default() };
        let line =
            Line::paths("rename", "/a\nallowed=true\tugi=\"root\"", "/b\\c\u{e9}\u{1f600}\u{1}");
        let text = text(&settings, &origin, false, (line, None));
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
    #[test]
    fn ports_traces_and_tracking_ids_are_written_where_they_are_wanted() {
        let mut conf = Conf::new();
        let identity = CallerIdentity::simple("ann", None);
        let fields = |conf: &Conf, context: Option<&str>| {
            let context = context.map(CallerContext::new);
            let address = ([127, 0, 0, 1], 4711).into();
            let context = context.as_ref();
            let origin = Origin {
                identity: &identity,
                address,
                protocol: "rpc",
                context,
                trace_id: Some("7f"),
            };
            let settings = AuditSettings::from_conf(conf).unwrap();
            let text = text(&settings, &origin, true, (Line::of("x"), None));
            text.split_once("perm=null\t").unwrap().1.replace('\t', " ")
        };
        assert_eq!(fields(&conf, Some("a")), "proto=rpc traceId=7f");
        conf.set("hadoop.caller.context.enabled", "true");
        assert_eq!(fields(&conf, None), "proto=rpc traceId=7f");
        conf.set("dfs.namenode.audit.log.with.remote.port", "true");
        assert_eq!(fields(&conf, None), "proto=rpc callerContext=clientPort:4711 traceId=7f");
        conf.set("hadoop.caller.context.separator", "$");
        let said = "clientPort:1$realUser:bob";
        assert_eq!(
            fields(&conf, Some(said)),
            format!("proto=rpc callerContext={said}$proxyUserPort:4711 traceId=7f")
        );
        conf.set("dfs.namenode.audit.log.token.tracking.id", "true");
        assert_eq!(
            fields(&conf, Some("a")),
            "trackingId=null proto=rpc callerContext=a$clientPort:4711 traceId=7f"
        );
        conf.set("hadoop.caller.context.separator", "=");
        assert!(AuditSettings::from_conf(&conf).is_err());
    }
}
