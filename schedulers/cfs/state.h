/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CFS_STATE_H
#define CFS_STATE_H

#include "include/runqueue/statistics.h"
#include "include/fair/state.h"
#include "era.h"

/* A waiting task that is preferred as long as that is not too unfair. */
struct buddy {
	s32 pid;
	u64 vruntime;
};

struct policy_task {
	FAIR_TASK
	/* The time it had run when it last stopped; this and the next are for 2.6.31 and 2.6.32. */
	u64 sum_exec_ns;
	/* The time it had run when it last woke another task, 0 if it has slept since. */
	u64 woke_at_ns;
	/* The time it had run when it last went to sleep. */
	u64 slept_at_ns;
	/* How long it runs on average between such wake-ups, and from the last to its sleep. */
	u64 avg_wakeup_ns;
	u64 avg_overlap_ns;
};

struct policy_runqueue {
	FAIR_RUNQUEUE
	/* The virtual time of the queue, which never goes back. */
	u64 min_vruntime;
	/* sum_exec_ns of the running task. */
	u64 curr_sum_exec_ns;
	u64 curr_avg_overlap_ns;
	/* The task that was woken last, and the one that made way for a woken task. */
	struct buddy next;
	struct buddy last;
	/* Whether the running task yields. */
	bool skip_curr;
	/* Whether it has just forked a child that runs before it. */
	bool child_first;
	/* Whether the next task to run is the first in the queue. */
	bool took_first;
};

struct cfs_stats {
	FAIR_STATISTICS
	STATISTIC("Times a buddy was chosen though somebody else had run less.")
	u64 buddies;
};

STATISTICS(cfs_stats)

/* Settings of include/runqueue/balance.h. */
#define PULL_SCAN_LIMIT	 32
#define BUSY_FACTOR	 64
#define CACHE_NICE_TRIES 2
#define SMALL_IMBALANCE	 LOAD_OF_ONE
#define NEWLY_IDLE_REACH newly_idle_reach(rq)
/* In 2.6.31 a core could stay idle next to two tasks (docs/schedulers/cfs.md). */
#define PATIENT_WHEN_IDLE (era == ERA_2_6_31)

/* Hooks of include/fair/policy.h whose defaults this scheduler replaces. */
#define policy_requeue policy_requeue
#define policy_is_hot  policy_is_hot

struct runqueue;
static u32 newly_idle_reach(const struct runqueue *rq);

#endif
