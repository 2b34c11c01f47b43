// SPDX-License-Identifier: GPL-2.0-only
//! Parts of times and places.

/// `value * part / whole`, computed in 128 bits: the product of two times or places needs more than
/// 64.
///
/// # Panics
/// If `whole` is zero, or the result needs more than 64 bits.
pub fn portion(value: u64, part: u64, whole: u64) -> u64 {
    let portion = u128::from(value) * u128::from(part) / u128::from(whole);
    u64::try_from(portion).expect("a portion is about as large as the value")
}
