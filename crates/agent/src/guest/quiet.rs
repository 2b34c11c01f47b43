// SPDX-License-Identifier: GPL-2.0-only
//! A kernel that has just booted still works in the background; samples wait until it does not.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

const WINDOW: Duration = Duration::from_millis(200);

/// Share of the machine's time, in percent, that counts as noise.
const BUSY_LIMIT_PCT: f64 = 2.0;

const QUIET_WINDOWS: u32 = 3;

/// 20 s: a guest that never settles is measured anyway, with a warning on its console.
const MOST_WINDOWS: u32 = 100;

pub fn wait() {
    let mut quiet = 0;
    let mut last = times();
    for _ in 0..MOST_WINDOWS {
        sleep(WINDOW);
        let now = times();
        quiet = if busy_pct(last, now) <= BUSY_LIMIT_PCT { quiet + 1 } else { 0 };
        if quiet == QUIET_WINDOWS {
            return;
        }
        last = now;
    }
    eprintln!("runoff-agent: the guest did not become quiet before its first sample");
}

/// (busy, total) ticks of all CPUs from the first line of /proc/stat.
fn times() -> (u64, u64) {
    parse(&fs::read_to_string("/proc/stat").unwrap_or_default())
}

fn parse(stat: &str) -> (u64, u64) {
    let fields: Vec<u64> = stat
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .flat_map(str::parse)
        .collect();
    let total: u64 = fields.iter().take(8).sum();
    let idle: u64 = fields.iter().skip(3).take(2).sum();
    (total - idle, total)
}

fn busy_pct(before: (u64, u64), after: (u64, u64)) -> f64 {
    let (busy, total) = (after.0.saturating_sub(before.0), after.1.saturating_sub(before.1));
    if total == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "ticks within one window")]
    let pct = 100.0 * busy as f64 / total as f64;
    pct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_io_is_idle_time() {
        assert_eq!(parse("cpu  10 0 20 60 10 0 0 0 0 0\n"), (30, 100));
    }

    #[test]
    fn busy_is_a_share_of_the_window() {
        assert!((busy_pct((0, 0), (1, 50)) - 2.0).abs() < 1e-9);
        assert!(busy_pct((5, 50), (5, 50)).abs() < 1e-9);
    }
}
