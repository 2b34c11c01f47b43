/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_STATISTICS_H
#define RUNOFF_RUNQUEUE_STATISTICS_H

#include "include/statistics.h"

/* Members of the statistics of every scheduler with a queue per CPU. */
#define RUNQUEUE_STATISTICS                                                                    \
	STATISTIC("Times a CPU went from one task to another or began with one.")              \
	u64 switches;                                                                          \
	STATISTIC("Running tasks that had to make way for one that had just come.")            \
	u64 preemptions;                                                                       \
	STATISTIC("Tasks that a CPU took over from the queue of another.")                     \
	u64 pulls;                                                                             \
	STATISTIC("Tasks let through because the watchdog would have ended their starvation.") \
	u64 rescues;                                                                           \
	STATISTIC("Time CPUs had nothing to do, when it was over (ns).")                       \
	u64 idle_ns;

#endif
