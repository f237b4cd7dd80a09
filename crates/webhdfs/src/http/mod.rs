//! HTTP/1.1 on blocking sockets. No HTTP library: `ureq` limits the time of a whole body, where Hadoop's time-outs
//! are for each read; `hyper` needs a runtime. Heads and chunk sizes are parsed by `httparse`.

mod body;
mod connection;
mod head;
mod jks;
mod stream;
mod tls;
mod upload;
mod url;

pub(crate) use body::Body;
pub(crate) use connection::{Connection, Request};
pub(crate) use head::Head;
pub(crate) use stream::Timeouts;
pub(crate) use tls::{ClientTls, client_tls};
pub(crate) use upload::Upload;
pub(crate) use url::Url;
