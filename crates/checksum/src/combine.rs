//! CRCs of joined runs of bytes: multiplication modulo the polynomial, bits reversed.

use crate::algorithm::Algorithm;

/// x to the power 0.
const ONE: u32 = 1 << 31;

impl Algorithm {
    /// The CRC of a run of bytes from the CRCs of its first part and of its second, which is
    /// `second_len` bytes long (composite CRCs of Hadoop's COMPOSITE_CRC file checksum).
    pub fn combine(self, first: u32, second: u32, second_len: u64) -> u32 {
        multiply(self, first, monomial(self, second_len)) ^ second
    }

    /// What [`combine`](Self::combine) needs of a length: compute it once for many equal lengths.
    pub fn shift(self, second_len: u64) -> Shift {
        Shift { algorithm: self, monomial: monomial(self, second_len) }
    }
}

/// A length made ready for combining CRCs; see [`Algorithm::shift`].
#[derive(Clone, Copy, Debug)]
pub struct Shift {
    algorithm: Algorithm,
    monomial: u32,
}

impl Shift {
    /// The CRC of both parts, of which the second has this shift's length.
    pub fn combine(&self, first: u32, second: u32) -> u32 {
        multiply(self.algorithm, first, self.monomial) ^ second
    }
}

/// x to the power `8 * len`: what `len` more bytes do to a CRC.
fn monomial(algorithm: Algorithm, mut len: u64) -> u32 {
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

fn multiply(algorithm: Algorithm, a: u32, mut b: u32) -> u32 {
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
