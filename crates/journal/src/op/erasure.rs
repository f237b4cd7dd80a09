//! Operations on erasure-coding policies.

use super::field::{Field, Result, plain_ops};
use crate::codec::{Reader, Writer};
use crate::types::EcPolicy;

plain_ops! {
    /// A policy was added; its id is the next free one when this is applied.
    rpc AddErasureCodingPolicy {
        /// The policy.
        policy: EcPolicy,
    }

    /// A policy was enabled.
    rpc EnableErasureCodingPolicy {
        /// Its name.
        name: String,
    }

    /// A policy was disabled.
    rpc DisableErasureCodingPolicy {
        /// Its name.
        name: String,
    }

    /// A policy was removed.
    rpc RemoveErasureCodingPolicy {
        /// Its name.
        name: String,
    }
}

impl Field for EcPolicy {
    fn put(&self, out: &mut Writer<'_>) {
        out.utf8(&self.codec);
        out.i32(self.data_units);
        out.i32(self.parity_units);
        out.i32(self.cell_size);
        out.i32(self.options.len() as i32);
        for (key, value) in &self.options {
            out.utf8(key);
            out.utf8(value);
        }
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let codec = from.utf8()?;
        let (data_units, parity_units, cell_size) = (from.i32()?, from.i32()?, from.i32()?);
        let count = from.i32()?;
        let count = from.count("number of schema options", count.into(), 4)?;
        let options =
            (0..count).map(|_| Ok((from.utf8()?, from.utf8()?))).collect::<Result<_>>()?;
        Ok(Self { codec, data_units, parity_units, cell_size, options })
    }
}
