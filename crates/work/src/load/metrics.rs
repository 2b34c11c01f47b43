// SPDX-License-Identifier: GPL-2.0-only
//! The metrics of runoff's own loads (docs/loads.md).

use protocol::{Metric, metric_table};

metric_table! {
    /// The members of the JSON object in a load's last line, each with `load_` in front of its name.
    METRICS:
    REAPED_CPU_S = Metric::plain(
        "load_reaped_cpu_s",
        "s",
        "load: CPU time of what it waited for, as contest counted it",
    );
    PASSES = Metric::plain("load_passes", "", "load: how often it did all of its work");
    UNITS = Metric::plain("load_units", "", "load: work done in contest's unit");
    BYTES_READ = Metric::plain("load_bytes_read", "B", "load: bytes read");
    BYTES_WRITTEN = Metric::plain("load_bytes_written", "B", "load: bytes written");
}
