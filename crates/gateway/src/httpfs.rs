//! HttpFS's face, Hoop's URLs among it: one address in front of a cluster, and no redirects to others.

use crate::access::Access;
use crate::acl_pattern::AclPattern;
use crate::activity::RestActivity;
use crate::appends::Appends;
use crate::call::Call;
use crate::callers::Callers;
use crate::clients::Clients;
use crate::cookies::{CookieError, Cookies};
use crate::data::{self, Uploads};
use crate::description;
use crate::explorer::ExplorerHost;
use crate::face::Face;
use crate::failure::{Failure, Statuses, allowed_methods};
use crate::operation::Operation;
use crate::other_paths;
use crate::overview::Overview;
use crate::params::Params;
use crate::rates::RequestRates;
use crate::request::Request;
use crate::requests_by_user::RequestsByUser;
use crate::upload::CreateDefaults;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::Response;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use zerohop_client::{FileSystem, User};
use zerohop_conf::{Conf, keys};
use zerohop_pages::{Content, NavLink, Site};
use zerohop_system::clock;

const NAV: [(&str, &str); 4] = [
    ("/", "Overview"),
    ("/explorer", "Files"),
    ("/configuration", "Configuration"),
    ("/logs", "Log"),
];

/// HttpFS's face. The gateway's own user acts for all others, so that the NameNode's rules of `hadoop.proxyuser.*` have the
/// last word.
pub(crate) struct HttpFs {
    conf: Conf,
    login: User,
    callers: Callers,
    cookies: Cookies,
    access: Access,
    acl_pattern: AclPattern,
    rates: RequestRates,
    clients: Clients<String>,
    uploads: Uploads,
    activity: Arc<RestActivity>,
    users: RequestsByUser,
    started: Instant,
}

impl HttpFs {
    /// With the configuration of the cluster.
    ///
    /// # Errors
    /// If a key is malformed, or the secret of the cookies cannot be read.
    pub(crate) fn new(mut conf: Conf) -> Result<Self, CookieError> {
        // Permissions in requests are those that files get.
        conf.set("fs.permissions.umask-mode", "000");
        let (callers, access) = (Callers::of_httpfs(&conf)?, Access::read(&conf)?);
        let acl_pattern = AclPattern::from_conf(&conf)?;
        let (cookies, rates) = (Cookies::from_conf(&conf)?, RequestRates::from_conf(&conf)?);
        let uploads = Uploads {
            appends: Appends::new(conf.get(&keys::ZEROHOP_GATEWAY_APPEND_IDLE_MS)?),
            create: CreateDefaults { overwrite: true },
            checks_content_type: true,
        };
        let (login, clients) = (User::of_process(), Clients::default());
        let (activity, users, started) = (Arc::default(), RequestsByUser::default(), clock::now());
        Ok(Self {
            conf,
            login,
            callers,
            cookies,
            access,
            acl_pattern,
            rates,
            clients,
            uploads,
            activity,
            users,
            started,
        })
    }

    /// The configuration of the cluster.
    pub(crate) fn conf(&self) -> &Conf {
        &self.conf
    }

    /// What was counted.
    pub(crate) fn activity(&self) -> &RestActivity {
        &self.activity
    }

    /// The page that shows what was counted.
    pub(crate) fn overview(&self) -> Content {
        let cluster = self.conf.default_fs().unwrap_or_default();
        let overview = Overview {
            activity: &self.activity,
            users: &self.users,
            login: &self.login.name,
            cluster: &cluster,
            up: clock::since(self.started),
        };
        overview.content()
    }

    /// The files that are being appended to.
    pub(crate) fn appends(&self) -> Appends {
        self.uploads.appends.clone()
    }

    /// What HttpFS's own client sends first, to be known by a cookie from then on.
    async fn options(
        &self,
        call: &Call,
        from: SocketAddr,
        known: Option<String>,
    ) -> Result<Response, Failure> {
        let params = Params::parse(call.uri.query().unwrap_or_default());
        let user = self.callers.user(&params, from.ip(), known.as_deref()).await?;
        let mut response = allowed_methods();
        response.headers_mut().extend(self.cookie(known.as_deref(), &user));
        Ok(response)
    }

    /// The cookie of a caller that has shown none.
    fn cookie(&self, known: Option<&str>, user: &User) -> Option<(HeaderName, HeaderValue)> {
        if known.is_some() {
            return None;
        }
        let cookie = self.cookies.header(user.real.as_ref().unwrap_or(&user.name));
        cookie.map(|cookie| (header::SET_COOKIE, cookie))
    }

    /// Closes the files that are open for appends at and below all paths that a request names.
    async fn close_below_paths(&self, fs: &FileSystem, request: &Request) -> Result<(), Failure> {
        self.uploads.appends.close_below(&request.path).await;
        for path in other_paths::all(fs, request)? {
            self.uploads.appends.close_below(&path).await;
        }
        Ok(())
    }

    fn client(&self, user: User) -> Result<FileSystem, Failure> {
        self.clients.get(user.name, |name| {
            let user = match *name == self.login.name {
                true => self.login.clone(),
                false => User::proxied(name, self.login.name.clone()),
            };
            FileSystem::connect_as(&self.conf, None, user)
        })
    }
}

impl ExplorerHost for HttpFs {
    async fn file_system(
        &self,
        params: &Params,
        headers: &HeaderMap,
        from: SocketAddr,
    ) -> Result<FileSystem, Failure> {
        let known = self.cookies.user(headers);
        let user = self.callers.user(params, from.ip(), known.as_deref()).await?;
        let caller = user.real.as_ref().unwrap_or(&user.name);
        if self.rates.refusal(from.ip(), caller).is_some() {
            return Err(Failure::too_many(format!("Too many requests of {caller}")));
        }
        self.users.count(&user.name);
        self.client(user)
    }

    fn check(&self, operation: Operation) -> Result<(), Failure> {
        self.access.check(operation)
    }

    async fn close_streams(&self, path: &str) {
        self.uploads.appends.close_below(path).await;
    }

    fn site(&self) -> Site {
        let nav = NAV.into_iter().map(|(href, label)| NavLink { href, label }).collect();
        let name = self.conf.default_fs().unwrap_or_default().to_owned();
        Site { kind: "Gateway", name, state: None, nav }
    }
}

impl Face for HttpFs {
    const STATUSES: Statuses = Statuses::HttpFs;

    async fn answer(&self, call: Call, from: SocketAddr, body: Body) -> Result<Response, Failure> {
        let known = self.cookies.user(&call.headers);
        if call.method == Method::OPTIONS {
            return self.options(&call, from, known).await;
        }
        if description::is_asked_for(&call.method, &call.uri) {
            return Ok(description::response());
        }
        let request = Request::of_httpfs(&call.method, &call.uri)?;
        self.access.check(request.operation)?;
        self.acl_pattern.check(&request.params, true)?;
        let user = self.callers.user(&request.params, from.ip(), known.as_deref()).await?;
        let caller = user.real.as_ref().unwrap_or(&user.name);
        if let Some(refusal) = self.rates.refusal(from.ip(), caller) {
            return Ok(refusal);
        }
        self.users.count(&user.name);
        let cookie = self.cookie(known.as_deref(), &user);
        let fs = self.client(user)?;
        // The NameNode shows the length that a file had when it was closed. Readers are told by the DataNodes.
        if !matches!(request.operation, Operation::Append | Operation::Open) {
            // Boxed: the future of an OPEN would have room for it.
            Box::pin(self.close_below_paths(&fs, &request)).await?;
        }
        let operation = request.operation;
        if operation.moves_data() {
            call.exchange.moves_data(&self.activity);
        }
        let mut response = data::answer(&call, fs, request, body, &self.uploads).await?;
        self.activity.count(operation);
        response.headers_mut().extend(cookie);
        Ok(response)
    }
}
