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
	/* By when, in the virtual time of its home, it should have got what it asks for; */
	u64 deadline;
	/* which is so much time on the CPU. */
	u64 slice_ns;
	/*
	 * What it was owed, in virtual time, when it left the queue; negative if it had had more
	 * than its share. And how far off its deadline was then.
	 */
	s64 lag;
	u64 left;
	/* When it left: what all there weighed, how much CPU time they had had, */
	u64 crowd;
	u64 used_ns;
	/* and how often the queue had run empty. */
	u32 emptied;
};

struct policy_runqueue {
	FAIR_RUNQUEUE
	/* Of the running task: its vruntime when it was chosen, */
	u64 chosen_vruntime;
	/* its deadline, and what that was then: as long as it is the same, nobody takes its CPU. */
	u64 curr_deadline;
	u64 chosen_deadline;
	u64 curr_slice_ns;
	/* It got what it had asked for, and asks anew. */
	bool served;
	/* A task that asks for less at a time may take the CPU now. */
	bool unprotected;
	/* The CPU time of all tasks here, and how often nobody was left. */
	u64 used_ns;
	u32 emptied;
	/* What a walk through the queue came to. */
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

/* What balancing is like. */
#define PULL_SCAN_LIMIT	  32
#define BUSY_FACTOR	  16
#define CACHE_NICE_TRIES  1
#define SMALL_IMBALANCE	  LOAD_OF_ONE
#define NEWLY_IDLE_REACH  reach_of_idle(rq)
#define PATIENT_WHEN_IDLE false

/* Hooks of include/fair/policy.h that have a default and are other here. */
#define policy_reweigh policy_reweigh
#define policy_join    policy_join
#define policy_leave   policy_leave

#endif
