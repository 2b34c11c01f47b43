// SPDX-License-Identifier: GPL-2.0-only
//! The computation of a request: it walks a fixed amount of memory again and again.

use std::hint::black_box;

/// Two square matrices and their product.
pub struct Matrices {
    side: usize,
    left: Vec<u64>,
    right: Vec<u64>,
    product: Vec<u64>,
}

impl Matrices {
    /// Matrices of the size at which the three take `footprint_kb`.
    pub fn of(footprint_kb: u32) -> Self {
        let elements = (footprint_kb as usize) << 10;
        let side = (elements / (3 * size_of::<u64>())).isqrt().max(1);
        let filled = || (0..side * side).map(|index| index as u64).collect();
        Self { side, left: filled(), right: filled(), product: vec![0; side * side] }
    }

    /// Multiplies by the definition, with a stride through the right one that caches do not like.
    pub fn multiply(&mut self) {
        let side = self.side;
        for row in 0..side {
            for column in 0..side {
                let mut sum = 0u64;
                for inner in 0..side {
                    let right = self.right[inner * side + column];
                    sum = sum.wrapping_add(self.left[row * side + inner].wrapping_mul(right));
                }
                self.product[row * side + column] = sum;
            }
        }
        black_box(&self.product);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_is_the_product() {
        let mut two = Matrices {
            side: 2,
            left: vec![1, 2, 3, 4],
            right: vec![5, 6, 7, 8],
            product: vec![0; 4],
        };
        two.multiply();
        assert_eq!(two.product, [19, 22, 43, 50]);
    }

    #[test]
    fn three_matrices_fill_the_footprint() {
        let side = Matrices::of(256).side;
        assert!(3 * 8 * side * side <= 256 << 10);
        assert!(3 * 8 * (side + 1) * (side + 1) > 256 << 10);
    }
}
