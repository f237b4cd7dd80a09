//! WebHDFS on the DataNode's port: the second step of the operations with data.

use crate::call::Call;
use crate::callers::Callers;
use crate::clients::Clients;
use crate::csrf::Csrf;
use crate::data::{self, Uploads};
use crate::face::Face;
use crate::failure::{Failure, Statuses};
use crate::open;
use crate::operation::Operation;
use crate::request::Request;
use crate::takeover;
use axum::body::Body;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;
use zerohop_client::{FileSystem, User};
use zerohop_conf::{Conf, ConfError};

/// Browsers may show what is read here on any site's page, as with Apache's DataNode: the NameNode's file browser does.
const ANY_ORIGIN: (header::HeaderName, HeaderValue) =
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));

/// The DataNode's face: a client of the NameNode that a request names.
pub(crate) struct DataNodeFace {
    conf: Conf,
    callers: Callers,
    csrf: Option<Csrf>,
    clients: Clients<(String, User)>,
    uploads: Uploads,
}

impl DataNodeFace {
    /// With the DataNode's configuration.
    ///
    /// # Errors
    /// If a key is malformed.
    pub(crate) fn new(mut conf: Conf) -> Result<Self, ConfError> {
        // Permissions in requests are those that files get.
        conf.set("fs.permissions.umask-mode", "000");
        takeover::name_webhdfs_clients(&mut conf);
        Ok(Self {
            callers: Callers::of_datanode(&conf)?,
            csrf: Csrf::from_conf(&conf)?,
            conf,
            clients: Clients::default(),
            uploads: Uploads::of_webhdfs(),
        })
    }

    fn client(&self, request: &Request, user: User) -> Result<FileSystem, Failure> {
        let namenode = request.params.text("namenoderpcaddress").unwrap_or_default();
        self.clients.get((namenode.to_owned(), user), |(namenode, user)| {
            // Without an address it is the default file system's.
            let uri = Some(format!("hdfs://{namenode}")).filter(|_| !namenode.is_empty());
            FileSystem::connect_as(&self.conf, uri.as_deref(), user.clone())
        })
    }
}

impl Face for DataNodeFace {
    const STATUSES: Statuses = Statuses::WebHdfs;

    async fn answer(&self, call: Call, from: SocketAddr, body: Body) -> Result<Response, Failure> {
        if let Some(refusal) = self.csrf.as_ref().and_then(|csrf| csrf.refusal(&call)) {
            return Ok(refusal);
        }
        if call.method == Method::OPTIONS {
            return Ok(preflight());
        }
        let request = Request::of_webhdfs(&call.method, &call.uri)?;
        let operation = request.operation;
        if !operation.moves_data() {
            return Err(Failure::illegal(format!("Invalid operation {}", operation.name())));
        }
        let fs =
            self.client(&request, self.callers.user(&request.params, from.ip(), None).await?)?;
        if operation == Operation::Create || operation == Operation::Append {
            open::check_preconditions(&fs, &request.path, &call.headers).await?;
        }
        match operation {
            Operation::Open => {
                let mut response = open::open(&fs, &request, &call).await?;
                response.headers_mut().extend([ANY_ORIGIN]);
                Ok(response)
            }
            Operation::Create => {
                let location = format!("{}{}", fs.uri(), call.path_below_prefix());
                data::create(fs, request, body, &self.uploads).await?;
                let mut response =
                    (StatusCode::CREATED, [(header::LOCATION, location)]).into_response();
                response.headers_mut().extend([ANY_ORIGIN]);
                Ok(response)
            }
            Operation::Append => {
                let done = data::append(fs, request, &call.headers, body, &self.uploads).await?;
                Ok((StatusCode::OK, data::shown(done)).into_response())
            }
            _ => data::metadata(&fs, &request).await,
        }
    }
}

/// What a browser asks before it creates a file from another site's page.
fn preflight() -> Response {
    let headers = [
        ANY_ORIGIN,
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("accept")),
        (header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("PUT")),
        (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("1728000")),
    ];
    (StatusCode::OK, headers).into_response()
}
