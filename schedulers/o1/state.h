/* SPDX-License-Identifier: GPL-2.0 */
#ifndef O1_STATE_H
#define O1_STATE_H

#include "include/runqueue/statistics.h"

#define SECOND_ARRAY EXPIRED

/* Hooks of include/runqueue/policy.h whose defaults this scheduler replaces. */
#define policy_reclass		    policy_reclass
#define policy_begin_epoch	    policy_begin_epoch
#define policy_balances_like_2_6_20 policy_balances_like_2_6_20

/* How the last sleep ended, which decides how much waiting for the CPU counts. */
enum woken {
	NOT_WOKEN,
	/* From an uninterruptible sleep, as for a disk. */
	BY_DISK,
	BY_TASK,
	BY_INTERRUPT,
};

struct policy_task {
	/* The sleep average: grows while it sleeps, shrinks while it runs. */
	u64 sleep_avg;
	s64 slice_ns;
	/* In 2.6.8: how often it proved interactive (> 0) or a CPU hog (< 0). */
	s32 credit;
	u8 woken;
	bool first_slice;
	bool slept_uninterruptibly;
};

struct policy_runqueue {
	/* When the first task went to the expired queue; 0 if that is empty. */
	u64 expired_since;
	/* The best static priority there. */
	s32 best_expired;
	s32 curr_static_prio;
};

struct o1_stats {
	RUNQUEUE_STATISTICS
	STATISTIC("Times all tasks of a CPU had used up their slices and it began a new epoch.")
	u64 epochs;
	STATISTIC("Slices used up by tasks rated interactive, which stay in the active queue.")
	u64 interactive_refills;
	STATISTIC("Slices of such tasks that ended in the expired queue, because others starved "
		  "there.")
	u64 starved_expiries;
	STATISTIC("Times an interactive task made way for its equals before its slice was used up.")
	u64 granularity_turns;
};

STATISTICS(o1_stats)

#endif
