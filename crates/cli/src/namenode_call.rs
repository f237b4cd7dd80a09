//! Calls of a NameNode that the client library does not offer.

use zerohop_client::{Error, User};
use zerohop_conf::Conf;
use zerohop_proto::Checked;
use zerohop_transport::rpc::client::{ClientOptions, RpcClient};

use crate::failure::Outcome;
use crate::fs::client_failure;
use crate::{log, namenodes};

/// Calls one method of a protocol of the active NameNode of the default file system.
///
/// The outer error is about the configuration, the inner one about the call.
pub fn call<Q: Checked, R: Checked>(
    conf: &Conf,
    protocol: &'static str,
    method: &'static str,
    request: &Q,
) -> Outcome<Result<R, Error>> {
    log::of_client(conf);
    let address = namenodes::rpc_address(conf)?;
    let options = ClientOptions::from_conf(conf)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async {
        let client = RpcClient::new(address, protocol, 1, &User::of_process(), options);
        client.call(method, request).await
    });
    Ok(answer.map_err(Error::from))
}

/// The same, where every error ends the command.
pub fn ask<Q: Checked, R: Checked>(
    conf: &Conf,
    protocol: &'static str,
    method: &'static str,
    request: &Q,
) -> Outcome<R> {
    call(conf, protocol, method, request)?.map_err(client_failure)
}
