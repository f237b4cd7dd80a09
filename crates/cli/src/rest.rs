//! The REST gateway of `up`.

use std::net::{IpAddr, SocketAddr};

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use zerohop_conf::{Conf, keys};
use zerohop_gateway::Gateway;

use crate::failure::{Failure, Outcome};

/// A gateway that serves until this is dropped.
pub struct Rest {
    address: SocketAddr,
    scheme: &'static str,
    task: JoinHandle<()>,
    stopper: Option<oneshot::Sender<()>>,
}

impl Rest {
    /// Serves the cluster of `conf` at `listen`. Without a port that the command line or the configuration names, Hadoop's, or any
    /// free one if that is taken: a second cluster starts all the same.
    pub fn start(mut conf: Conf, listen: IpAddr, port: Option<u16>) -> Outcome<Rest> {
        let is_chosen = port.is_some() || conf.is_set(keys::HTTPFS_HTTP_PORT.name);
        conf.set(keys::HTTPFS_HTTP_HOSTNAME.name, listen.to_string());
        if let Some(port) = port {
            conf.set(keys::HTTPFS_HTTP_PORT.name, port.to_string());
        }
        let gateway = match Gateway::bind(conf.clone()) {
            Err(_) if !is_chosen => {
                conf.set(keys::HTTPFS_HTTP_PORT.name, "0");
                Gateway::bind(conf)
            }
            bound => bound,
        };
        let gateway = gateway.map_err(|error| {
            Failure::io(format!("the REST gateway does not start: {error}; --rest-port takes another port, 0 any free one"))
        })?;
        let (address, scheme) = (gateway.local_addr(), gateway.scheme());
        let (stopper, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(gateway.serve(async { _ = stopped.await })?);
        Ok(Rest { address, scheme, task, stopper: Some(stopper) })
    }

    /// Takes no more requests, answers those that are under way, and closes the files that it holds open.
    pub async fn finish(mut self) {
        self.stopper = None;
        // It ends only by itself, or by a panic that was printed.
        _ = (&mut self.task).await;
    }

    /// `https` or `http`.
    pub fn scheme(&self) -> &'static str {
        self.scheme
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.task.abort();
    }
}
