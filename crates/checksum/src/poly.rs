//! Arithmetic with polynomials over GF(2), at compile time: the constants of the kernels.

use crate::algorithm::Algorithm;

/// x to the power `n` modulo the polynomial, bits reversed and one up: what a carry-less multiply
/// of reflected values needs to move bits `n` places on.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(crate) const fn fold_constant(algorithm: Algorithm, n: u32) -> u64 {
    let polynomial = algorithm.polynomial();
    let mut power = 1u32;
    let mut i = 0;
    while i < n {
        let carry = power >> 31 != 0;
        power <<= 1;
        if carry {
            power ^= polynomial;
        }
        i += 1;
    }
    (power.reverse_bits() as u64) << 1
}
