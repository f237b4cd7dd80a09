//! Questions about things that this NameNode has none of yet: tokens, encryption zones, erasure coding, snapshots.
//! The honest answer is an empty one, as Apache's NameNode gives where they are not used.

use crate::ha::OperationCategory;
use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use zerohop_proto::common::{
    CancelDelegationTokenRequestProto, CancelDelegationTokenResponseProto,
    GetDelegationTokenRequestProto, GetDelegationTokenResponseProto,
    RenewDelegationTokenRequestProto, RenewDelegationTokenResponseProto,
};
use zerohop_proto::hdfs::{
    GetDataEncryptionKeyRequestProto, GetDataEncryptionKeyResponseProto,
    GetEnclosingRootRequestProto, GetEnclosingRootResponseProto,
    GetErasureCodingCodecsRequestProto, GetErasureCodingCodecsResponseProto,
    GetErasureCodingPoliciesRequestProto, GetErasureCodingPoliciesResponseProto,
    GetErasureCodingPolicyRequestProto, GetErasureCodingPolicyResponseProto,
    GetEzForPathRequestProto, GetEzForPathResponseProto, GetSnapshottableDirListingRequestProto,
    GetSnapshottableDirListingResponseProto, ListEncryptionZonesRequestProto,
    ListEncryptionZonesResponseProto,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::JavaException;

pub(super) const METHODS: &[Method] = &[
    ("getDelegationToken", delegation_token),
    ("renewDelegationToken", renew_delegation_token),
    ("cancelDelegationToken", cancel_delegation_token),
    ("getDataEncryptionKey", data_encryption_key),
    ("getEZForPath", encryption_zone),
    ("listEncryptionZones", encryption_zones),
    ("getErasureCodingPolicy", erasure_coding_policy),
    ("getErasureCodingPolicies", erasure_coding_policies),
    ("getErasureCodingCodecs", erasure_coding_codecs),
    ("getSnapshottableDirListing", snapshottable_directories),
    ("getEnclosingRoot", enclosing_root),
];

/// Without security there is no token to give; clients take that for "none needed".
fn delegation_token(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Write, |_, _, _: GetDelegationTokenRequestProto| {
        Ok(GetDelegationTokenResponseProto { token: None })
    })
}

fn renew_delegation_token(call: Call<'_>) -> Reply {
    call.ask_as::<_, RenewDelegationTokenResponseProto>(
        OperationCategory::Write,
        |_, _, _: RenewDelegationTokenRequestProto| {
            Err(JavaException::InvalidToken.with("Renewal request for unknown token"))
        },
    )
}

fn cancel_delegation_token(call: Call<'_>) -> Reply {
    call.ask_as::<_, CancelDelegationTokenResponseProto>(
        OperationCategory::Write,
        |_, _, _: CancelDelegationTokenRequestProto| {
            Err(JavaException::InvalidToken.with("Token not found"))
        },
    )
}

fn data_encryption_key(call: Call<'_>) -> Reply {
    call.ask(|_, _, _: GetDataEncryptionKeyRequestProto| {
        Ok(GetDataEncryptionKeyResponseProto::default())
    })
}

fn encryption_zone(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Read, |_, _, _: GetEzForPathRequestProto| {
        Ok(GetEzForPathResponseProto::default())
    })
}

fn encryption_zones(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Read, |_, _, _: ListEncryptionZonesRequestProto| {
        Ok(ListEncryptionZonesResponseProto::default())
    })
}

fn erasure_coding_policy(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Read, |_, _, _: GetErasureCodingPolicyRequestProto| {
        Ok(GetErasureCodingPolicyResponseProto::default())
    })
}

fn erasure_coding_policies(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Read, |_, _, _: GetErasureCodingPoliciesRequestProto| {
        Ok(GetErasureCodingPoliciesResponseProto::default())
    })
}

fn erasure_coding_codecs(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Read, |_, _, _: GetErasureCodingCodecsRequestProto| {
        Ok(GetErasureCodingCodecsResponseProto::default())
    })
}

fn snapshottable_directories(call: Call<'_>) -> Reply {
    call.ask_as(OperationCategory::Read, |_, _, _: GetSnapshottableDirListingRequestProto| {
        Ok(GetSnapshottableDirListingResponseProto::default())
    })
}

/// Without encryption zones the root encloses everything.
fn enclosing_root(call: Call<'_>) -> Reply {
    call.ask(|_, _, _: GetEnclosingRootRequestProto| {
        Ok(GetEnclosingRootResponseProto { enclosing_root_path: Some("/".to_owned()) })
    })
}
