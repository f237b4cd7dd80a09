//! A DataNode registers: who it is, whether it fits.

use super::check::check_registration;
use crate::core::Core;
use crate::identity::SOFTWARE_VERSION;
use crate::message::encode;
use crate::resolve;
use crate::rpc::answer::{Call, RpcResult};
use std::net::IpAddr;
use std::sync::Arc;
use zerohop_namespace::blocks::Admission;
use zerohop_proto::hdfs::datanode::{
    DatanodeRegistrationProto, RegisterDatanodeRequestProto, RegisterDatanodeResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::JavaException;

/// DataNodes older than this speak another protocol (dfs.namenode.min.supported.datanode.version).
const VERSION_MIN: &str = "2.1.0-beta";

pub(super) fn register(call: Call<'_>) -> Reply {
    let core = call.core.clone();
    let ip = call.context.remote.ip().to_canonical();
    let registration = match call.request::<RegisterDatanodeRequestProto>() {
        Ok(request) => request.registration,
        Err(error) => return Reply::exception(error),
    };
    if let Err(error) =
        check_version(&core, &registration).and_then(|()| check_registration(&core, &registration))
    {
        tracing::warn!("{error}");
        return Reply::exception(error);
    }
    let mut id = crate::convert::datanode_id(registration.datanode_id.clone());
    id.ip = ip.to_string();
    if core.hosts.judge(&id) == Admission::Refused {
        let message = format!(
            "Datanode denied communication with namenode because the host is not in the include-list: {}",
            id.xfer_addr()
        );
        tracing::warn!("{message}");
        return Reply::exception(JavaException::DisallowedDatanode.with(message));
    }
    let named = !core.settings.registration_check || ip.is_loopback();
    if named && core.racks.is_fixed() {
        return Reply::Now(Ok(encode(&accept(&core, registration, ip))));
    }
    Reply::later(async move {
        if !named {
            check_name(ip).await?;
        }
        core.racks.ask(&ip.to_string()).await;
        Ok(encode(&accept(&core, registration, ip)))
    })
}

/// A DataNode whose address has no name would cost a failed look-up again and again.
async fn check_name(ip: IpAddr) -> RpcResult<()> {
    let name = tokio::task::spawn_blocking(move || resolve::host_name(ip)).await.ok().flatten();
    if name.is_some() {
        return Ok(());
    }
    let message = format!(
        "Datanode denied communication with namenode because hostname cannot be resolved (ip={ip}, hostname={ip})"
    );
    tracing::warn!("{message}");
    Err(JavaException::DisallowedDatanode.with(message))
}

fn accept(
    core: &Arc<Core>,
    mut registration: DatanodeRegistrationProto,
    ip: IpAddr,
) -> RegisterDatanodeResponseProto {
    // The address seen here is the one that clients can reach.
    registration.datanode_id.ip_addr = ip.to_string();
    registration.keys = crate::identity::no_block_keys();
    let id = crate::convert::datanode_id(registration.datanode_id.clone());
    tracing::info!("BLOCK* registerDatanode: from {} storage {}", id.xfer_addr(), id.uuid);
    let (now, rack) = (core.clock.now(), core.racks.known(&id.ip, &id.host));
    let ((), _) = core.write(|namespace| {
        let node = namespace.blocks_mut().register(id, &rack, &registration.software_version, now);
        namespace.blocks_mut().datanode_admin().apply_host(node, |id| core.hosts.judge(id));
    });
    RegisterDatanodeResponseProto { registration }
}

fn check_version(core: &Core, registration: &DatanodeRegistrationProto) -> RpcResult<()> {
    let version = &registration.software_version;
    if release(version) < release(VERSION_MIN) {
        let message = format!(
            "The reported DataNode version is too low to communicate with this NameNode. DataNode version: '{version}' \
             Minimum NameNode version: '{VERSION_MIN}'"
        );
        return Err(JavaException::IncorrectVersion.with(message));
    }
    let (theirs, ours) = (registration.storage_info.c_time, core.identity.ctime);
    if version != SOFTWARE_VERSION && theirs != ours {
        let message = format!(
            "Reported DataNode version '{version}' of DN {} does not match NameNode version '{SOFTWARE_VERSION}' and CTime \
             of DN ('{theirs}') does not match CTime of NN ('{ours}')",
            registration.datanode_id.host_name
        );
        return Err(JavaException::IncorrectVersion.with(message));
    }
    Ok(())
}

/// The numbers of a version, for comparing.
fn release(version: &str) -> Vec<u64> {
    let numbers = version.split(['.', '-']).map_while(|part| part.parse().ok());
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_compare_by_number() {
        assert!(release("3.4.3") > release(VERSION_MIN));
        assert!(release("2.10.2") > release(VERSION_MIN));
        assert!(release("2.0.6-alpha") < release(VERSION_MIN));
        assert!(release("0.1.0") < release(VERSION_MIN));
    }
}
