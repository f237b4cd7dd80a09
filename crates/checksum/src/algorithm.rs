//! The two CRCs and their polynomials.

/// The two CRCs of HDFS; both reflected, both with all ones before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// The CRC of gzip and zlib (polynomial 0x04c11db7).
    Crc32,
    /// Castagnoli's (polynomial 0x1edc6f41), the default of HDFS.
    Crc32c,
}

impl Algorithm {
    /// The polynomial without its highest term, highest power in the highest bit.
    pub(crate) const fn polynomial(self) -> u32 {
        match self {
            Algorithm::Crc32 => 0x04c1_1db7,
            Algorithm::Crc32c => 0x1edc_6f41,
        }
    }

    /// The polynomial with its bits reversed, as table and shift methods use it.
    pub(crate) const fn reflected(self) -> u32 {
        self.polynomial().reverse_bits()
    }
}
