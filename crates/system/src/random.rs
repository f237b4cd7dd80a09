//! Random numbers: good enough to spread load and to tell things apart, and no secrets.
#![expect(clippy::disallowed_methods, reason = "this is the one place")]

use std::ops::RangeBounds;

/// A number from 0 up to and without 1.
#[inline]
pub fn f64() -> f64 {
    fastrand::f64()
}

/// A number from 0 up to and without 1.
#[inline]
pub fn f32() -> f32 {
    fastrand::f32()
}

/// A number in a range.
///
/// # Panics
/// If the range is empty.
pub fn i32(range: impl RangeBounds<i32>) -> i32 {
    fastrand::i32(range)
}

/// A number in a range.
///
/// # Panics
/// If the range is empty.
pub fn i64(range: impl RangeBounds<i64>) -> i64 {
    fastrand::i64(range)
}

/// A number in a range.
///
/// # Panics
/// If the range is empty.
pub fn u32(range: impl RangeBounds<u32>) -> u32 {
    fastrand::u32(range)
}

/// A number in a range.
///
/// # Panics
/// If the range is empty.
pub fn u64(range: impl RangeBounds<u64>) -> u64 {
    fastrand::u64(range)
}

/// A number in a range.
///
/// # Panics
/// If the range is empty.
pub fn usize(range: impl RangeBounds<usize>) -> usize {
    fastrand::usize(range)
}

/// Puts a slice into a random order.
pub fn shuffle<T>(slice: &mut [T]) {
    fastrand::shuffle(slice);
}
