//! The REST gateway: HttpFS's port with the URLs of WebHDFS and of Hoop, in front of our cluster or Apache's.
//!
//! A request names its user; the client that acts for that user does the work, reads of blocks on this machine without the
//! network among it. Bodies are streamed in both directions.

mod access;
mod change;
mod failure;
mod locations;
mod lookup;
mod open;
mod operation;
mod params;
mod request;
mod shapes;
mod upload;
mod users;

use access::Access;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Request as HttpRequest, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use failure::Failure;
use operation::Operation;
use percent_encoding::{CONTROLS, utf8_percent_encode};
use request::Request;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use users::Users;
use zerohop_conf::{Conf, ConfError, Role, check_protections, keys};
use zerohop_daemon::http::{HttpOptions, HttpServer, RemoteAddress};
use zerohop_system::clock;

/// The gateway's port, taken and not served yet.
pub struct Gateway {
    server: HttpServer,
    shared: Shared,
}

/// What all requests share.
struct Shared {
    users: Users,
    access: Access,
}

impl Gateway {
    /// Takes the port that the configuration names.
    ///
    /// # Errors
    /// If it is taken or not this machine's, or the configuration is wrong or promises a protection that is not there.
    pub fn bind(conf: Conf) -> Result<Self, Error> {
        check_protections(&conf, Role::Gateway)?;
        let access = Access::read(&conf)?;
        let options = HttpOptions::from_conf(&conf)?;
        let (host, port) =
            (conf.get(&keys::HTTPFS_HTTP_HOSTNAME)?, conf.get(&keys::HTTPFS_HTTP_PORT)?);
        let not_taken = |source| Error::Address { address: format!("{host}:{port}"), source };
        let mut addresses = (host.as_str(), port).to_socket_addrs().map_err(not_taken)?;
        let address = addresses.next().ok_or_else(|| not_taken(io::ErrorKind::NotFound.into()))?;
        let server = HttpServer::bind(address, options).map_err(not_taken)?;
        Ok(Self { server, shared: Shared { users: Users::new(conf), access } })
    }

    /// The address, with the port that was taken.
    pub fn local_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// Serves until the future is dropped. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// If the runtime cannot watch the port.
    pub fn serve(self) -> io::Result<impl Future<Output = Infallible> + Send + 'static> {
        let router = Router::new().fallback(handle).with_state(Arc::new(self.shared));
        self.server.serve(router)
    }
}

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration.
    #[error(transparent)]
    Conf(#[from] ConfError),
    /// The port.
    #[error("httpfs.http.hostname and httpfs.http.port, {address}: {source}")]
    Address {
        /// Host and port as they are configured.
        address: String,
        /// What the system said.
        source: io::Error,
    },
}

async fn handle(
    State(shared): State<Arc<Shared>>,
    RemoteAddress(remote): RemoteAddress,
    request: HttpRequest<Body>,
) -> Response {
    let begun = clock::now();
    let (parts, body) = request.into_parts();
    let (method, uri) = (parts.method.clone(), parts.uri.clone());
    let call = Call { method: parts.method, uri: parts.uri, headers: parts.headers };
    let answer = call.answer(&shared, remote.ip(), body).await;
    let response = answer.unwrap_or_else(IntoResponse::into_response);
    let (status, ms) = (response.status().as_u16(), clock::since(begun).as_millis());
    tracing::info!(target: "requests", "{remote} {method} {uri} {status} {ms} ms");
    response
}

/// A request's head.
struct Call {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
}

impl Call {
    async fn answer(self, shared: &Shared, from: IpAddr, body: Body) -> Result<Response, Failure> {
        let request = Request::read(&self.method, &self.uri)?;
        shared.access.check(request.operation)?;
        let fs = shared.users.client(&request.params, from).await?;
        match request.operation {
            Operation::Open if request.params.flag("noredirect", false)? => {
                Ok(in_json(&json!({ "Location": self.location(&["noredirect"], "") })))
            }
            Operation::Open => open::open(&fs, &request, &self.method, &self.headers).await,
            Operation::Create | Operation::Append => self.upload(fs, request, body).await,
            other => {
                let answer = match other.method() == Method::GET {
                    true => lookup::answer(&fs, &request).await?,
                    false => change::answer(&fs, &request).await?,
                };
                Ok(answer.map_or_else(|| StatusCode::OK.into_response(), |value| in_json(&value)))
            }
        }
    }

    /// The data is taken where the URL says `data=true`, and at once from Hoop's clients; else the caller is told to send it
    /// to such a URL of this gateway.
    async fn upload(
        &self,
        fs: zerohop_client::FileSystem,
        request: Request,
        body: Body,
    ) -> Result<Response, Failure> {
        let takes_data = request.is_hoop || request.params.flag("data", false)?;
        if !takes_data || request.params.flag("noredirect", false)? {
            let location = self.location(&["noredirect", "data"], "data=true");
            return Ok(match request.params.flag("noredirect", false)? {
                true => in_json(&json!({ "Location": location })),
                false => {
                    (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, location)]).into_response()
                }
            });
        }
        upload::check_content_type(&self.headers)?;
        let location = ascii(&(self.base() + self.uri.path()));
        // A task of its own: when the caller disappears this one is dropped, and what was begun has to be put in order.
        let work = tokio::spawn(async move {
            match request.operation {
                Operation::Append => upload::append(&fs, &request, body).await,
                _ => upload::create(&fs, &request, &location, body).await,
            }
        });
        work.await.map_err(|error| Failure::io(format!("the upload failed: {error}")))?
    }

    /// Scheme and authority by which the caller reached the gateway.
    fn base(&self) -> String {
        let host = self.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        format!("http://{}", host.unwrap_or("localhost"))
    }

    /// This request's URL without some parameters, and with another one.
    fn location(&self, without: &[&str], added: &str) -> String {
        let query = self.uri.query().unwrap_or_default();
        let is_kept = |part: &&str| {
            let name = part.split('=').next().unwrap_or_default();
            !part.is_empty() && !without.iter().any(|known| known.eq_ignore_ascii_case(name))
        };
        let kept = query.split('&').filter(is_kept).chain([added]).filter(|part| !part.is_empty());
        let query: Vec<&str> = kept.collect();
        ascii(&format!("{}{}?{}", self.base(), self.uri.path(), query.join("&")))
    }
}

/// Java's client sends names as they are, and takes what is not ASCII in an answer's head for Latin-1.
fn ascii(url: &str) -> String {
    utf8_percent_encode(url, CONTROLS).to_string()
}

fn in_json(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_is_sent_to_the_host_that_it_named() {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, "gw.example:14000".parse().unwrap());
        let uri = "/webhdfs/v1/a%20b\u{e9}?op=CREATE&noRedirect=true&data=false&user.name=u";
        let uri = uri.parse().unwrap();
        let call = Call { method: Method::PUT, uri, headers };
        let location = call.location(&["noredirect", "data"], "data=true");
        let expected =
            "http://gw.example:14000/webhdfs/v1/a%20b%C3%A9?op=CREATE&user.name=u&data=true";
        assert_eq!(location, expected);
    }
}
