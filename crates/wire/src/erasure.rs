//! Erasure coding policies.

use zerohop_proto::hdfs::{ErasureCodingPolicyProto, ErasureCodingPolicyState as State};

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

/// Whether a policy may be given to directories (`ErasureCodingPolicyState`).
pub type ErasureCodingPolicyState = State;

/// How the blocks of a file are coded (`ErasureCodingPolicyInfo`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErasureCodingPolicy {
    /// Its name, such as `RS-6-3-1024k`.
    pub name: String,
    /// Its number.
    pub id: u32,
    /// The codec, such as `rs`.
    pub codec: String,
    /// Data cells of a stripe.
    pub data_units: u32,
    /// Parity cells of a stripe.
    pub parity_units: u32,
    /// Bytes of a cell.
    pub cell_size: u32,
    /// What else the codec is told.
    pub options: Vec<(String, String)>,
    /// Whether directories may have it.
    pub state: ErasureCodingPolicyState,
}

impl From<ErasureCodingPolicyProto> for ErasureCodingPolicy {
    fn from(proto: ErasureCodingPolicyProto) -> Self {
        let (name, id, state) = (erasure_policy_name(&proto), proto.id, proto.state());
        // Servers send the number alone of the policies that every Hadoop has; their names say the rest.
        let mut parts = name.rsplitn(4, '-');
        let cell_kib = parts.next().and_then(|cell| cell.strip_suffix('k')?.parse::<u32>().ok());
        let mut unit = || parts.next().and_then(|units| units.parse().ok()).unwrap_or_default();
        let (parity_units, data_units) = (unit(), unit());
        let codec = parts.next().unwrap_or_default().to_ascii_lowercase();
        let cell_size = proto.cell_size.or(cell_kib.map(|kib| kib << 10)).unwrap_or_default();
        let named = Self {
            name,
            id,
            codec,
            data_units,
            parity_units,
            cell_size,
            options: Vec::new(),
            state,
        };
        match proto.schema {
            None => named,
            Some(schema) => Self {
                codec: schema.codec_name,
                data_units: schema.data_units,
                parity_units: schema.parity_units,
                options: schema.options.into_iter().map(|one| (one.key, one.value)).collect(),
                ..named
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_proto::hdfs::EcSchemaProto;

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

    #[test]
    fn a_number_says_all_about_a_policy_that_every_hadoop_has() {
        let of =
            |id| ErasureCodingPolicy::from(ErasureCodingPolicyProto { id, ..Default::default() });
        let policy = of(3);
        assert_eq!(
            (policy.name.as_str(), policy.codec.as_str()),
            ("RS-LEGACY-6-3-1024k", "rs-legacy")
        );
        assert_eq!((policy.data_units, policy.parity_units, policy.cell_size), (6, 3, 1 << 20));
        assert_eq!(policy.state, ErasureCodingPolicyState::Enabled);
        let own = ErasureCodingPolicyProto {
            id: 64,
            name: Some("own".to_owned()),
            cell_size: Some(4096),
            schema: Some(EcSchemaProto {
                codec_name: "xor".to_owned(),
                data_units: 4,
                parity_units: 1,
                options: Vec::new(),
            }),
            ..Default::default()
        };
        let own = ErasureCodingPolicy::from(own);
        assert_eq!((own.codec.as_str(), own.data_units, own.cell_size), ("xor", 4, 4096));
        assert_eq!(of(99).name, "number 99");
    }
}
