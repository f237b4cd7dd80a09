//! Storage policies.

use crate::convert;
use crate::ha::OperationCategory;
use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use zerohop_namespace::blocks::policy::POLICIES;
use zerohop_proto::hdfs::{
    GetStoragePoliciesRequestProto, GetStoragePoliciesResponseProto, GetStoragePolicyRequestProto,
    GetStoragePolicyResponseProto, SetStoragePolicyRequestProto, SetStoragePolicyResponseProto,
    UnsetStoragePolicyRequestProto, UnsetStoragePolicyResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) const METHODS: &[Method] = &[
    ("setStoragePolicy", set),
    ("unsetStoragePolicy", unset),
    ("getStoragePolicy", get),
    ("getStoragePolicies", all),
];

fn set(call: Call<'_>) -> Reply {
    call.serve(|service, q: SetStoragePolicyRequestProto| {
        service
            .storage_policies()
            .set_storage_policy(&q.src, &q.policy_name)
            .map(|()| SetStoragePolicyResponseProto {})
    })
}

fn unset(call: Call<'_>) -> Reply {
    call.serve(|service, q: UnsetStoragePolicyRequestProto| {
        service
            .storage_policies()
            .unset_storage_policy(&q.src)
            .map(|()| UnsetStoragePolicyResponseProto {})
    })
}

fn get(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetStoragePolicyRequestProto| {
        service.storage_policies().storage_policy(&q.path).map(|policy| {
            GetStoragePolicyResponseProto { storage_policy: convert::storage_policy(policy) }
        })
    })
}

fn all(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Read, |_, _, _: GetStoragePoliciesRequestProto| {
        Ok(GetStoragePoliciesResponseProto {
            policies: POLICIES.iter().map(convert::storage_policy).collect(),
        })
    })
}
