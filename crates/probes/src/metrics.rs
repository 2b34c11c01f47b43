// SPDX-License-Identifier: GPL-2.0-only
//! The metrics of each probe; docs/probes.md explains what each counts.

use protocol::{Metric, Probe, metric_table};
use serde::Serialize;

/// A probe as users see it.
#[derive(Debug, Serialize)]
pub struct Description {
    #[serde(rename = "name")]
    pub probe: Probe,
    pub title: &'static str,
    pub metrics: &'static [&'static Metric],
}

/// The probes of this crate.
pub static PROBES: &[Description] = &[
    Description {
        probe: Probe::Wakeups,
        title: "how long woken tasks wait until they run",
        metrics: WAKEUP_METRICS,
    },
    Description {
        probe: Probe::Turns,
        title: "how long tasks run at a time, and how often they are preempted",
        metrics: TURN_METRICS,
    },
    Description {
        probe: Probe::Idle,
        title: "for how long a CPU is idle while a task waits for one",
        metrics: IDLE_METRICS,
    },
    Description {
        probe: Probe::Migrations,
        title: "moves between CPUs by what the two share",
        metrics: MIGRATION_METRICS,
    },
    Description {
        probe: Probe::Scheduler,
        title: "how long the scheduler itself runs, if it is a sched_ext one",
        metrics: SCHEDULER_METRICS,
    },
];

/// The cost of the probes, in every sample with a probe of this crate.
pub static COST: Metric = Metric::plain("probe_time_pct", "%", "time in probes (100 is one CPU)");

metric_table! {
    /// Metrics of the probe `wakeups`.
    WAKEUP_METRICS:
    WAKEUP_LATENCY_MEAN_US =
        Metric::plain("wakeup_latency_mean_us", "us", "mean wake-up latency");
    WAKEUP_LATENCY_P50_US = Metric::plain("wakeup_latency_p50_us", "us", "median wake-up latency");
    WAKEUP_LATENCY_P90_US = Metric::plain("wakeup_latency_p90_us", "us", "wake-up latency p90");
    WAKEUP_LATENCY_P99_US = Metric::plain("wakeup_latency_p99_us", "us", "wake-up latency p99");
    WAKEUP_LATENCY_MAX_US = Metric::plain("wakeup_latency_max_us", "us", "longest wake-up latency");
    WAKEUPS = Metric::plain("wakeups", "", "wake-ups");
}

metric_table! {
    /// Metrics of the probe `turns`.
    TURN_METRICS:
    TURN_MEAN_US = Metric::plain("turn_mean_us", "us", "mean time on a CPU at a time");
    TURN_P50_US = Metric::plain("turn_p50_us", "us", "median time on a CPU at a time");
    TURN_P90_US = Metric::plain("turn_p90_us", "us", "time on a CPU at a time p90");
    TURN_P99_US = Metric::plain("turn_p99_us", "us", "time on a CPU at a time p99");
    TURN_MAX_US = Metric::plain("turn_max_us", "us", "longest time on a CPU at a time");
    TURNS = Metric::plain("turns", "", "turns on a CPU");
    PREEMPTIONS = Metric::plain("preemptions", "", "preemptions");
}

metric_table! {
    /// Metrics of the probe `idle`.
    IDLE_METRICS:
    IDLE_WHILE_WAITING_S =
        Metric::plain("idle_while_waiting_s", "s", "time with an idle CPU while a task waits");
    IDLE_WHILE_WAITING_COUNT =
        Metric::plain("idle_while_waiting_count", "", "times with an idle CPU while a task waits");
    IDLE_WHILE_WAITING_LONGEST_S = Metric::plain(
        "idle_while_waiting_longest_s",
        "s",
        "longest time a CPU was idle that a waiting task might use",
    );
}

metric_table! {
    /// Metrics of the probe `migrations`, in the order of the distances in
    /// schedulers/include/machine.h.
    MIGRATION_METRICS:
    MIGRATIONS_SAME_CORE = Metric::plain("migrations_same_core", "", "moves within a core");
    MIGRATIONS_SAME_CACHE =
        Metric::plain("migrations_same_cache", "", "moves within a last-level cache");
    MIGRATIONS_SAME_NODE = Metric::plain("migrations_same_node", "", "moves within a node");
    MIGRATIONS_FAR = Metric::plain("migrations_far", "", "moves between nodes");
}

metric_table! {
    /// Metrics of the probe `scheduler`.
    SCHEDULER_METRICS:
    SCHEDULER_TIME_S = Metric::plain("scheduler_time_s", "s", "run time of the scheduler itself");
    SCHEDULER_CALLS = Metric::plain("scheduler_calls", "", "calls of the scheduler");
}

/// The metrics of a histogram of times: its summary, in that order, and its count.
pub struct TimesMetrics {
    pub summary: [&'static Metric; 5],
    pub count: &'static Metric,
}

pub static WAKEUP_LATENCIES: TimesMetrics = TimesMetrics {
    summary: [
        &WAKEUP_LATENCY_MEAN_US,
        &WAKEUP_LATENCY_P50_US,
        &WAKEUP_LATENCY_P90_US,
        &WAKEUP_LATENCY_P99_US,
        &WAKEUP_LATENCY_MAX_US,
    ],
    count: &WAKEUPS,
};

pub static TURN_TIMES: TimesMetrics = TimesMetrics {
    summary: [&TURN_MEAN_US, &TURN_P50_US, &TURN_P90_US, &TURN_P99_US, &TURN_MAX_US],
    count: &TURNS,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Histogram;

    #[test]
    fn times_are_named_as_a_histogram_sums_them_up() {
        let mut histogram = Histogram::default();
        histogram.add(&[7, 7, 1]);
        for times in [&WAKEUP_LATENCIES, &TURN_TIMES] {
            let named = times.summary.iter().zip(histogram.summary_us());
            assert!(named.clone().all(|(metric, (what, _))| metric.name().ends_with(what)));
            assert_eq!(named.count(), times.summary.len());
        }
    }
}
