//! Names of erasure coding policies.

use zerohop_proto::hdfs::ErasureCodingPolicyProto;

/// Policies that every Hadoop has; servers send their number only (`SystemErasureCodingPolicies`).
const SYSTEM: [&str; 6] = [
    "REPLICATION",
    "RS-6-3-1024k",
    "RS-3-2-1024k",
    "RS-LEGACY-6-3-1024k",
    "XOR-2-1-1024k",
    "RS-10-4-1024k",
];

/// The name of an erasure coding policy.
pub fn erasure_policy_name(policy: &ErasureCodingPolicyProto) -> String {
    let system = || SYSTEM.get(policy.id as usize).map(|name| (*name).to_owned());
    let named = policy.name.clone().or_else(system);
    named.unwrap_or_else(|| format!("number {}", policy.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names() {
        let of = |id, name: Option<&str>| {
            let name = name.map(str::to_owned);
            erasure_policy_name(&ErasureCodingPolicyProto { id, name, ..Default::default() })
        };
        assert_eq!(of(4, None), "XOR-2-1-1024k");
        assert_eq!(of(64, Some("own")), "own");
        assert_eq!(of(65, None), "number 65");
    }
}
