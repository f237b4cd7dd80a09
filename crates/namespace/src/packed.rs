//! Whole numbers in fewer bytes than the processor's own types take.

/// A number below 2^48 in six bytes, without alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct U48([u8; 6]);

impl U48 {
    /// The largest one.
    pub(crate) const MAX: u64 = (1 << 48) - 1;

    /// The number, if it fits.
    pub(crate) fn new(value: u64) -> Option<Self> {
        (value <= Self::MAX).then(|| Self::saturating(value))
    }

    /// The number, or the largest one that fits.
    pub(crate) fn saturating(value: u64) -> Self {
        let [a, b, c, d, e, f, ..] = value.min(Self::MAX).to_le_bytes();
        Self([a, b, c, d, e, f])
    }

    pub(crate) fn get(self) -> u64 {
        let [a, b, c, d, e, f] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_up_to_the_largest_come_back() {
        for value in [0, 1, 0x0102_0304_0506, U48::MAX] {
            assert_eq!(U48::new(value).map(U48::get), Some(value));
            assert_eq!(U48::saturating(value).get(), value);
        }
        assert_eq!(U48::new(U48::MAX + 1), None);
        assert_eq!(U48::saturating(u64::MAX).get(), U48::MAX);
        assert_eq!((size_of::<U48>(), align_of::<U48>()), (6, 1));
    }
}
