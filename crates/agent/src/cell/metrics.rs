// SPDX-License-Identifier: GPL-2.0-only
//! What the agent measures of a workload, of its server, and of the load in its background (docs/protocol.md).

use protocol::{Direction, Metric, metric_table};

metric_table! {
    /// What is measured of every workload.
    WORKLOAD:
    ELAPSED_S = Metric::headline("elapsed_s", "s", Direction::Lower, "elapsed time");
    USER_S = Metric::plain("user_s", "s", "user CPU time");
    SYSTEM_S = Metric::plain("system_s", "s", "system CPU time");
    CPU_PCT = Metric::plain("cpu_pct", "%", "CPU use (100 is one CPU)");
    VOLUNTARY_SWITCHES = Metric::plain("voluntary_switches", "", "voluntary context switches");
    INVOLUNTARY_SWITCHES = Metric::plain("involuntary_switches", "", "involuntary context switches");
    MIGRATIONS = Metric::plain("migrations", "", "moves between CPUs");
    MAX_RSS_KB = Metric::plain("max_rss_kb", "KiB", "largest resident set");
}

metric_table! {
    /// What is measured of every load.
    LOAD:
    LOAD_ELAPSED_S =
        Metric::plain("load_elapsed_s", "s", "load: from the workload's start to its own end");
    LOAD_USER_S =
        Metric::plain("load_user_s", "s", "load: user CPU time while the workload ran");
    LOAD_SYSTEM_S =
        Metric::plain("load_system_s", "s", "load: system CPU time while the workload ran");
    LOAD_CPU_PCT = Metric::plain(
        "load_cpu_pct",
        "%",
        "load: CPU use while the workload ran (100 is one CPU)",
    );
}

metric_table! {
    /// What is measured of every server of a workload.
    SERVER:
    SERVER_USER_S =
        Metric::plain("server_user_s", "s", "server: user CPU time while its clients ran");
    SERVER_SYSTEM_S =
        Metric::plain("server_system_s", "s", "server: system CPU time while its clients ran");
    SERVER_CPU_PCT = Metric::plain(
        "server_cpu_pct",
        "%",
        "server: CPU use while its clients ran (100 is one CPU)",
    );
}

metric_table! {
    /// What became of the limits of the control groups that work and load are in.
    LIMITS:
    QUOTA_USED_PCT = Metric::plain("quota_used_pct", "%", "CPU time of the work, of its quota");
    QUOTA_LEFT_S = Metric::plain("quota_left_s", "s", "quota of the work that it did not use");
    THROTTLED_S = Metric::plain(
        "throttled_s",
        "s",
        "time that the work was kept from CPUs for its quota, summed over CPUs",
    );
    LOAD_QUOTA_USED_PCT =
        Metric::plain("load_quota_used_pct", "%", "load: CPU time while the work ran, of its quota");
    SHARE_PCT = Metric::plain("share_pct", "%", "share of the work, of the CPU time of work and load");
    SHARE_ASKED_PCT =
        Metric::plain("share_asked_pct", "%", "share of the work by its weight and that of the load");
}
