//! One call: to the active NameNode, then to where it redirects, with what is tried again.

use std::io;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use zerohop_system::clock;
use zerohop_wire::RemoteException;

use crate::error::{Error, Result};
use crate::http::{Body, ClientTls, Connection, Head, Request, Upload, Url};
use crate::operation::Operation;
use crate::query::{Query, escaped};
use crate::servers::Servers;
use crate::settings::Settings;

/// Largest answer in JSON; a page of a listing has less than a megabyte.
const JSON_LEN_MAX: u64 = 64 << 20;
/// DataNodes that a call is sent to, one after the other, while they cannot be reached.
const DATANODES_MAX: usize = 4;
/// Connections kept for the next call.
const IDLE_MAX: usize = 8;

/// The calls of one file system.
pub(crate) struct Exchange {
    pub(crate) settings: Settings,
    servers: Servers,
    tls: Option<ClientTls>,
    idle: Mutex<Vec<Connection>>,
}

/// The DataNodes that failed during one call, as `host:port`.
pub(crate) type Excluded = Vec<String>;

impl Exchange {
    pub(crate) fn new(settings: Settings, servers: Servers, tls: Option<ClientTls>) -> Self {
        Self { settings, servers, tls, idle: Mutex::default() }
    }

    /// Makes a call without a body; returns the JSON of its answer, or `None` if that is empty.
    pub(crate) fn call(&self, op: &Operation, path: &str, query: &Query) -> Result<Option<Value>> {
        let mut body = self.answer(op, path, query, &mut Excluded::new())?;
        let bytes = body.read_whole(JSON_LEN_MAX);
        let bytes = bytes.map_err(|source| lost(op, body.authority(), source))?;
        self.keep(body);
        if bytes.is_empty() {
            return Ok(None);
        }
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Error::Protocol(format!("Response decoding failure: {}: {error}", op.name))
        })
    }

    /// Makes a call without a body; returns the body of its answer. `excluded` are DataNodes not to be redirected to.
    pub(crate) fn answer(
        &self,
        op: &Operation,
        path: &str,
        query: &Query,
        excluded: &mut Excluded,
    ) -> Result<Body> {
        self.with_retries(op, excluded, |server, excluded| {
            let url = self.url(server, op, path, query, excluded);
            let (head, body) = self.contact(&url, op)?;
            let Some(location) = redirected(&url, &head)? else {
                return self.checked(op, head, body);
            };
            self.keep_read(body);
            let followed = self.contact(&location, op);
            let (head, body) =
                followed.inspect_err(|_| excluded.push(location.authority.clone()))?;
            self.checked(op, head, body)
        })
    }

    /// Begins a call whose body is data. The NameNode gets none of it: it names the server that takes it.
    pub(crate) fn upload(&self, op: &Operation, path: &str, query: &Query) -> Result<Upload> {
        // The NameNode only chooses a DataNode, which can be repeated.
        let choice = Operation { repeats: true, expected: 307, ..*op };
        self.with_retries(&choice, &mut Excluded::new(), |server, excluded| {
            let url = self.url(server, op, path, query, excluded);
            let (head, body) = self.contact(&url, &choice)?;
            let Some(location) = redirected(&url, &head)? else {
                self.checked(&choice, head, body)?;
                return Err(Error::Protocol(format!("{}: no Location in the redirect", op.name)));
            };
            self.keep_read(body);
            let opened = self.open(&location).and_then(|mut connection| {
                let headers = self.settings.headers(op.method);
                let request = Request { method: op.method, headers: &headers, has_body: true };
                let sent = connection.send(&location, request);
                sent.map_err(|source| lost(op, &location.authority, source))?;
                Ok(Upload::new(connection))
            });
            opened.inspect_err(|_| excluded.push(location.authority.clone()))
        })
    }

    /// Checks the answer to a body that was sent.
    pub(crate) fn checked(&self, op: &Operation, head: Head, mut body: Body) -> Result<Body> {
        if head.status == op.expected {
            return Ok(body);
        }
        if head.status == 401 {
            return Err(Error::Unauthorized(head.reason));
        }
        let bytes = body.read_whole(JSON_LEN_MAX).unwrap_or_default();
        self.keep(body);
        let unexpected = || {
            Error::Protocol(format!(
                "Unexpected HTTP response: code={} != {}, op={}, message={}",
                head.status, op.expected, op.name, head.reason
            ))
        };
        let value: Value = serde_json::from_slice(&bytes).map_err(|_| unexpected())?;
        let exception = value.get("RemoteException").ok_or_else(unexpected)?;
        let text = |name: &str| exception.get(name).and_then(Value::as_str).map(str::to_owned);
        let class = text("javaClassName").or_else(|| text("exception")).unwrap_or_default();
        let message = text("message").unwrap_or_default();
        Err(Error::Remote(RemoteException { class: class.into(), message }))
    }

    fn url(
        &self,
        server: &str,
        op: &Operation,
        path: &str,
        query: &Query,
        excluded: &[String],
    ) -> Url {
        let user = &self.settings.user;
        let caller = match &user.real {
            Some(real) => Query::default().with("doas", &user.name).with("user.name", real),
            None => Query::default().with("user.name", &user.name),
        };
        let excluded = Some(excluded.join(",")).filter(|nodes| !nodes.is_empty());
        let excluded = Query::default().with_some("excludedatanodes", excluded);
        let target = format!(
            "/webhdfs/v1{}?op={}{}{}{}",
            escaped(path),
            op.name,
            caller.as_str(),
            query.as_str(),
            excluded.as_str()
        );
        Url { is_tls: self.servers.is_tls, authority: server.to_owned(), target }
    }

    fn open(&self, url: &Url) -> Result<Connection> {
        let tls = self.tls.as_ref().filter(|_| url.is_tls);
        Connection::open(url, tls, self.settings.timeouts)
            .map_err(|source| Error::Connect { address: url.authority.clone(), source })
    }

    /// Sends a request without a body, and receives the head of its answer.
    fn contact(&self, url: &Url, op: &Operation) -> Result<(Head, Body)> {
        // A server may close an idle connection just as a request arrives, which then looks lost: only a GET is
        // sent on one, and again on a fresh one.
        if op.method == "GET"
            && let Some(connection) = self.take_idle(&url.authority)
            && let Ok(answer) = self.exchange_on(connection, url, op)
        {
            return Ok(answer);
        }
        let connection = self.open(url)?;
        self.exchange_on(connection, url, op).map_err(|source| lost(op, &url.authority, source))
    }

    fn exchange_on(
        &self,
        mut connection: Connection,
        url: &Url,
        op: &Operation,
    ) -> io::Result<(Head, Body)> {
        let headers = self.settings.headers(op.method);
        let request = Request { method: op.method, headers: &headers, has_body: false };
        connection.send(url, request)?;
        let head = connection.receive()?;
        let body = Body::new(connection, &head);
        Ok((head, body))
    }

    fn take_idle(&self, authority: &str) -> Option<Connection> {
        let mut idle = self.idle.lock();
        let at = idle.iter().position(|connection| connection.authority == authority)?;
        let connection = idle.swap_remove(at);
        drop(idle);
        connection.is_usable().then_some(connection)
    }

    /// Keeps the connection of a body that was read to its end.
    fn keep(&self, body: Body) {
        let Some(connection) = body.into_connection() else { return };
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_MAX {
            idle.push(connection);
        }
    }

    /// Keeps the connection of a redirect, whose body nobody needs.
    fn keep_read(&self, mut body: Body) {
        if body.read_whole(JSON_LEN_MAX).is_ok() {
            self.keep(body);
        }
    }

    /// Runs a call until it succeeds, or its failure is not one that another try may mend.
    fn with_retries<T>(
        &self,
        op: &Operation,
        excluded: &mut Excluded,
        call: impl Fn(&str, &mut Excluded) -> Result<T>,
    ) -> Result<T> {
        let first_excluded = excluded.len();
        let (mut failovers, mut retries) = (0, 0);
        loop {
            let (number, server) = self.servers.current();
            let before = excluded.len();
            let error = match call(server, excluded) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let is_lost = matches!(error, Error::Connect { .. } | Error::Connection { .. });
            let several = self.servers.count() > 1;
            let delay = if excluded.len() > before {
                let tried = excluded.len() - first_excluded;
                (is_lost && tried < DATANODES_MAX).then_some(Duration::ZERO)
            } else if several && (error.is_standby() || is_lost) {
                failovers += 1;
                self.servers.fail_over(number);
                // The first round through the servers has no delay.
                let rounds = failovers / u32::try_from(self.servers.count()).unwrap_or(1);
                (failovers <= self.settings.failovers_max).then(|| self.delay(rounds))
            } else if several && error.is_retriable() {
                retries += 1;
                (retries <= self.settings.retries_max).then(|| self.delay(retries))
            } else {
                None
            };
            match delay {
                Some(delay) if op.repeats || nothing_was_sent(&error) => clock::sleep_thread(delay),
                _ => return Err(error),
            }
        }
    }

    fn delay(&self, times: u32) -> Duration {
        match times {
            0 => Duration::ZERO,
            times => {
                let factor = 1_u32.checked_shl(times.min(16)).unwrap_or(u32::MAX);
                self.settings.delay_base.saturating_mul(factor).min(self.settings.delay_max)
            }
        }
    }
}

/// Returns `true` if the failed call was certainly not executed.
fn nothing_was_sent(error: &Error) -> bool {
    matches!(error, Error::Connect { .. }) || error.is_standby() || error.is_retriable()
}

/// Returns the error of a connection that failed after a request was sent.
pub(crate) fn lost(op: &Operation, address: &str, source: io::Error) -> Error {
    let address = address.to_owned();
    match op.repeats {
        true => Error::Connection { address, source },
        false => Error::Unknown { address, operation: op.name, source },
    }
}

/// Returns where an answer redirects to; `None` if it does not.
///
/// # Errors
/// Fails if the redirect leaves TLS, or cannot be followed.
fn redirected(from: &Url, head: &Head) -> Result<Option<Url>> {
    let Some(location) = head.location.as_ref().filter(|_| head.status == 307) else {
        return Ok(None);
    };
    let url = Url::parse(location).ok_or_else(|| {
        Error::Protocol(format!("{}: redirect to `{location}', which is no URL", from.authority))
    })?;
    match from.is_tls && !url.is_tls {
        true => Err(Error::Protocol(format!(
            "{}: redirect without TLS to {} refused; set dfs.http.policy to HTTPS_ONLY on the servers",
            from.authority, url.authority
        ))),
        false => Ok(Some(url)),
    }
}
