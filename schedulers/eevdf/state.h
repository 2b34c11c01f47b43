/* SPDX-License-Identifier: GPL-2.0 */
#ifndef EEVDF_STATE_H
#define EEVDF_STATE_H

#include "include/runqueue/statistics.h"
#include "include/fair/state.h"

PARAMETER("us", "0..100000",
	  "What a task asks for at a time, its deadline being when it should have got that; more "
	  "means fewer switches, less means lower latency; 0 is 750 us times 1 + log2 of the "
	  "number of CPUs, at most of 8.")
TURN volatile u32 slice_us = 0;

struct policy_task {
	FAIR_TASK
	/* When it should have got what it asks for, in the virtual time of its home. */
	u64 deadline;
	/* What it asks for at a time, as time on the CPU. */
	u64 slice_ns;
	/*
	 * In virtual time, when it left the queue: what it was owed, negative if it had had more
	 * than its share, and how far away its deadline was.
	 */
	s64 lag;
	u64 left;
	/* When it left the queue: the weight and the CPU time of all tasks there. */
	u64 crowd;
	u64 used_ns;
	/* When it left the queue: how often that had become empty. */
	u32 emptied;
};

struct policy_runqueue {
	FAIR_RUNQUEUE
	/* The vruntime of the running task when it was chosen. */
	u64 chosen_vruntime;
	/* The deadline, now and when it was chosen: while both are the same it keeps the CPU. */
	u64 curr_deadline;
	u64 chosen_deadline;
	/* What the running task asks for at a time. */
	u64 curr_slice_ns;
	/* Whether it got what it had asked for, and asks again. */
	bool served;
	/* Whether a task that asks for less at a time may take the CPU now. */
	bool unprotected;
	/* The CPU time that all tasks here have had, and how often the queue became empty. */
	u64 used_ns;
	u32 emptied;
	/* Whether a walk through the queue found a task. */
	volatile bool found;
};

struct eevdf_stats {
	FAIR_STATISTICS
	STATISTIC("Times the earliest deadline was passed over because its task was owed nothing.")
	u64 passed_over;
	STATISTIC("Preemptions by tasks that ask for less at a time, though it was not yet due.")
	u64 short_preemptions;
};

STATISTICS(eevdf_stats)

/* Settings of include/runqueue/balance.h. */
#define PULL_SCAN_LIMIT	  32
#define BUSY_FACTOR	  16
#define CACHE_NICE_TRIES  1
#define SMALL_IMBALANCE	  LOAD_OF_ONE
#define NEWLY_IDLE_REACH  reach_of_idle(rq)
#define PATIENT_WHEN_IDLE false

/* Hooks of include/fair/policy.h whose defaults this scheduler replaces. */
#define policy_reweigh policy_reweigh
#define policy_join    policy_join
#define policy_leave   policy_leave

#endif
