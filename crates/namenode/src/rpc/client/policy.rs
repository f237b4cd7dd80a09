//! Storage policies.

use crate::audit::Line;
use crate::convert;
use crate::rpc::answer::Call;
use zerohop_namespace::blocks::policy::{DEFAULT, POLICIES, StoragePolicy};
use zerohop_proto::hdfs::{
    GetStoragePoliciesRequestProto, GetStoragePoliciesResponseProto, GetStoragePolicyRequestProto,
    GetStoragePolicyResponseProto, SetStoragePolicyRequestProto, SetStoragePolicyResponseProto,
    UnsetStoragePolicyRequestProto, UnsetStoragePolicyResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) fn set(call: Call<'_>) -> Reply {
    call.write(
        |q: &SetStoragePolicyRequestProto| Line::path("setStoragePolicy", &q.src),
        |namespace, op, q| {
            namespace.set_storage_policy(op, &q.src, &q.policy_name)?;
            Ok(SetStoragePolicyResponseProto {})
        },
    )
}

pub(super) fn unset(call: Call<'_>) -> Reply {
    call.write(
        |q: &UnsetStoragePolicyRequestProto| Line::path("unsetStoragePolicy", &q.src),
        |namespace, op, q| {
            namespace.unset_storage_policy(op, &q.src)?;
            Ok(UnsetStoragePolicyResponseProto {})
        },
    )
}

pub(super) fn get(call: Call<'_>) -> Reply {
    call.read(
        |q: &GetStoragePolicyRequestProto| Line::path("getStoragePolicy", &q.path),
        |namespace, op, q| {
            let policy =
                StoragePolicy::by_id(namespace.storage_policy(op, &q.path)?).unwrap_or(DEFAULT);
            Ok(GetStoragePolicyResponseProto { storage_policy: convert::storage_policy(policy) })
        },
    )
}

pub(super) fn all(call: Call<'_>) -> Reply {
    call.ask(|_, _, _: GetStoragePoliciesRequestProto| {
        Ok(GetStoragePoliciesResponseProto {
            policies: POLICIES.iter().map(convert::storage_policy).collect(),
        })
    })
}
