// SPDX-License-Identifier: GPL-2.0-only
//! Decaying averages of a process's behaviour, in the fixed point of Linux (as-iosched.c, later
//! cfq-iosched.c).

/// One as fixed point.
pub const ONE: u64 = 256;

/// The filter of every average: seven parts of the old value, one part of `sample`.
pub fn decayed(old: u64, sample: u64) -> u64 {
    (7 * old + ONE * sample) / 8
}

/// A mean in which the latest samples weigh most.
#[derive(Debug, Default, Clone, Copy)]
pub struct Mean {
    /// Approaches 256; 0 before the first sample.
    pub samples: u64,
    total: u64,
    pub value: u64,
}

impl Mean {
    pub fn add(&mut self, sample: u64) {
        self.samples = decayed(self.samples, 1);
        self.total = decayed(self.total, sample);
        self.value = (self.total + self.samples / 2) / self.samples;
    }
}

/// Mean distance in sectors between the end of a request and the start of the process's next.
#[derive(Debug, Default, Clone, Copy)]
pub struct Seeks {
    pub mean: Mean,
    last_end: Option<u64>,
}

impl Seeks {
    /// The distance of the request at `first..end` if it is not the first one, before it is limited.
    pub fn observe(&mut self, first: u64, end: u64) -> Option<u64> {
        let distance = self.last_end.map(|last| last.abs_diff(first));
        self.last_end = Some(end);
        if let Some(distance) = distance {
            // One stray request must not spoil the mean; the first few may be far apart.
            let slack = if self.mean.samples <= 60 { 2 * 1024 * 1024 } else { 2 * 1024 * 64 };
            self.mean.add(distance.min(4 * self.mean.value + slack));
        }
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_follows_its_samples_by_an_eighth() {
        let mut mean = Mean::default();
        mean.add(1000);
        assert_eq!((mean.samples, mean.value), (32, 1000));
        mean.add(0);
        assert_eq!((mean.samples, mean.value), (60, 467));
        for _ in 0..100 {
            mean.add(200);
        }
        // The fixed point truncates both sums, which leaves up to 4 %.
        assert!((192..=208).contains(&mean.value), "{}", mean.value);
    }

    #[test]
    fn a_stray_seek_is_limited_by_the_mean() {
        let mut seeks = Seeks::default();
        for position in 0..40 {
            seeks.observe(position * 8, position * 8 + 8);
        }
        assert_eq!(seeks.mean.value, 0);
        seeks.observe(1 << 40, (1 << 40) + 8);
        assert!(seeks.mean.value <= 2 * 1024 * 64 / 7, "{}", seeks.mean.value);
    }
}
