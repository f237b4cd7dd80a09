//! CRCs of joined runs of bytes: multiplication modulo the polynomial, bits reversed.

use crate::Algorithm;

/// x to the power 0.
const ONE: u32 = 1 << 31;

pub(crate) fn combine(algorithm: Algorithm, first: u32, second: u32, second_len: u64) -> u32 {
    multiply(algorithm, first, monomial(algorithm, second_len)) ^ second
}

/// x to the power `8 * len`: what `len` more bytes do to a CRC.
pub(crate) fn monomial(algorithm: Algorithm, mut len: u64) -> u32 {
    let mut square = ONE >> 8;
    let mut product = ONE;
    while len != 0 {
        if len & 1 != 0 {
            product = multiply(algorithm, product, square);
        }
        square = multiply(algorithm, square, square);
        len >>= 1;
    }
    product
}

pub(crate) fn multiply(algorithm: Algorithm, a: u32, mut b: u32) -> u32 {
    let polynomial = algorithm.reflected();
    let mut product = 0;
    for bit in (0..32).rev() {
        if a >> bit & 1 != 0 {
            product ^= b;
        }
        b = (b >> 1) ^ if b & 1 != 0 { polynomial } else { 0 };
    }
    product
}
