// SPDX-License-Identifier: GPL-2.0-only
//! Parts of times and places.

/// `part` of `whole` parts of `value`: the product of two times or places is more than 64 bits hold.
///
/// # Panics
/// If `whole` is zero, or the result itself is more.
pub fn portion(value: u64, part: u64, whole: u64) -> u64 {
    let portion = u128::from(value) * u128::from(part) / u128::from(whole);
    u64::try_from(portion).expect("a portion is about as large as the value")
}
