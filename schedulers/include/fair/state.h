/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_FAIR_STATE_H
#define RUNOFF_FAIR_STATE_H

#include "include/describe.h"
#include "include/policies.h"

/* What a move to another CPU costs a task: the kernel's default for any machine. */
#define MIGRATION_COST_NS 500000ULL

static u64 at_most(u64 ns, u64 most)
{
	return ns < most ? ns : most;
}

/* Member of the policy_task of every fair scheduler. */
#define FAIR_TASK                                                                      \
	/* How long it has run, in the virtual time of its home; rq->policy has it for \
	 * the running task. */                                                        \
	u64 vruntime;

/* Members of the policy_runqueue of every fair scheduler. */
#define FAIR_RUNQUEUE                                               \
	/* The running task's; meaningless unless busy. */          \
	u64 curr_vruntime;                                          \
	u32 curr_weight;                                            \
	s32 curr_pid;                                               \
	bool curr_is_idle_policy;                                   \
	/* The task that takes its place is already in the core. */ \
	bool replaced;                                              \
	/* How long it has run since its turn began. */             \
	u64 ran_ns;                                                 \
	u64 charged_at;                                             \
	/* How long this CPU is idle at a time, on average. */      \
	u64 avg_idle_ns;

/* Members of the statistics of every fair scheduler. */
#define FAIR_STATISTICS                                                                      \
	RUNQUEUE_STATISTICS                                                                  \
	STATISTIC("Times the running task stayed because nobody who waited came before it.") \
	u64 kept;

#endif
