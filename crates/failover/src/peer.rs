//! ZKFCProtocol, as other failover controllers and `haadmin` speak it.

use crate::service::options;
use std::time::Duration;
use zerohop_conf::{Conf, ConfError};
use zerohop_proto::common::{
    CedeActiveRequestProto, CedeActiveResponseProto, GracefulFailoverRequestProto,
    GracefulFailoverResponseProto,
};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{RpcClient, RpcError};

pub(crate) const PROTOCOL: &str = "org.apache.hadoop.ha.ZKFCProtocol";
pub(crate) const VERSION: u64 = 1;

/// Another failover controller.
pub struct Peer(RpcClient);

impl Peer {
    /// A client of the failover controller at `address`.
    ///
    /// # Errors
    /// If the configuration asks for a protection that clients do not have.
    pub fn new(conf: &Conf, address: &str, timeout: Duration) -> Result<Self, ConfError> {
        let options = options(conf, timeout, 1)?;
        Ok(Self(RpcClient::new(address, PROTOCOL, VERSION, &User::of_process(), options)))
    }

    /// Makes its NameNode standby and keeps it out of the election for so long; with `None` lets it in again.
    ///
    /// # Errors
    /// If it refuses or does not answer.
    pub async fn cede_active(&self, duration: Option<Duration>) -> Result<(), RpcError> {
        let millis = duration.map_or(-1, |d| i32::try_from(d.as_millis()).unwrap_or(i32::MAX));
        // Java sends -1 in this unsigned field.
        let request = CedeActiveRequestProto { millis_to_cede: millis as u32 };
        let _: CedeActiveResponseProto = self.0.call("cedeActive", &request).await?;
        Ok(())
    }

    /// Makes its NameNode the active one, in order.
    ///
    /// # Errors
    /// ServiceFailedException if that does not come about.
    pub async fn graceful_failover(&self) -> Result<(), RpcError> {
        let _: GracefulFailoverResponseProto =
            self.0.call("gracefulFailover", &GracefulFailoverRequestProto {}).await?;
        Ok(())
    }
}
