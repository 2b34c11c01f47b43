// SPDX-License-Identifier: GPL-2.0-only
//! Metrics of the whole machine while a command runs (docs/protocol.md).

use protocol::{Metric, metric_table};

metric_table! {
    /// Metrics that `measure` reads before and after a command.
    METRICS:
    RUNQUEUE_WAIT_S =
        Metric::plain("runqueue_wait_s", "s", "time tasks waited for a CPU, whole machine");
    PGPGIN_KB = Metric::plain("pgpgin_kb", "KiB", "read from disks, whole machine");
    PGPGOUT_KB = Metric::plain("pgpgout_kb", "KiB", "written to disks, whole machine");
    PSWPIN = Metric::plain("pswpin", "", "pages swapped in, whole machine");
    PSWPOUT = Metric::plain("pswpout", "", "pages swapped out, whole machine");
    IO_STALL_SOME_S =
        Metric::plain("io_stall_some_s", "s", "time some task waited for a disk, whole machine");
    IO_STALL_FULL_S =
        Metric::plain("io_stall_full_s", "s", "time all tasks waited for a disk, whole machine");
}
