/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_STAIRCASE_STATE_H
#define RUNOFF_STAIRCASE_STATE_H

#include "include/describe.h"

/*
 * The staircase of Con Kolivas, version 7 (2004): a task goes down one level for each interval that
 * it runs, from its nice value to the bottom, and starts again at the top.
 */
struct staircase_task {
	/* What is left of the whole round, and of the present stair. */
	s64 slice_ns;
	s64 stair_ns;
	/* The last run, and the sum of short runs that count as one. */
	u64 ran_ns;
	u64 total_ns;
	/* Extra intervals at the top, earned by sleeping. */
	u8 burst;
	bool forked;
	bool yielded;
	bool slept_uninterruptibly;
};

struct staircase_cpu {
	/* The running task's stair when it got the CPU, and when that was. */
	s64 stair_ns;
	u64 since;
	/* A better task waits until the running one has used its cache for a while. */
	bool preempted;
};

PARAMETER("1", "0..1", "1 gives tasks that sleep a longer time at their best level.")
volatile u32 interactive = STAIRCASE_INTERACTIVE;

PARAMETER("1", "0..1",
	  "1 is for computing: intervals ten times as long, late preemption, nothing for sleepers.")
volatile u32 compute = 0;

#endif
