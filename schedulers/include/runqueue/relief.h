/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_RELIEF_H
#define RUNOFF_RUNQUEUE_RELIEF_H

#include "balance.h"

/*
 * A task on a CPU that a higher class has taken waits until that class gives the CPU back, whatever
 * the loads of CPUs say. After a tick of that, the other CPUs share its tasks, although they have
 * work themselves: each on its own tick, so that all are moved within two.
 */

/* Return a CPU where tasks wait for a higher class, or NO_CPU. */
__noinline s32 find_held(s32 cpu)
{
	s32 other, held = NO_CPU;

	bpf_for(other, 0, cpu_ids) {
		if (other != cpu && nr_to_give(rq_of(other)) > 0 && is_taken(other))
			held = other;
	}
	held_back = held != NO_CPU;
	return held;
}

/* On the tick of a CPU on which @p runs; a CPU that is taken has no tick of ours. */
static void remind_to_relieve(struct task_struct *p, struct runqueue *rq, u64 now)
{
	s32 held = held_back ? find_held(rq->cpu) : NO_CPU;

	if (held == NO_CPU)
		return;
	kick_idle_for_waiting(held);
	if (elapsed(rq_of(held)->taken_at, now) < tick_ns)
		return;
	rq->relief_due = true;
	scx_bpf_task_set_slice(p, 0);
}

/* Return how many CPUs can share the work. */
static u32 nr_open(struct pull *pull)
{
	s32 cpu;

	pull->cpus = 0;
	bpf_for(cpu, 0, cpu_ids)
		pull->cpus += !rq_of(cpu)->offline && !is_taken(cpu);
	return pull->cpus ?: 1;
}

/* Bring over this CPU's part, in its next dispatch. */
static void relieve(struct runqueue *rq, u64 now)
{
	struct pull *pull = &rq->pull;
	u32 open = nr_open(pull);

	rq->relief_due = false;
	pull->from = find_held(rq->cpu);
	if (pull->from == NO_CPU)
		return;
	pull->to = rq->cpu;
	pull->tasks = (nr_to_give(rq_of(pull->from)) + open - 1) / open;
	pull->load = ~0U;
	pull->limit = SEARCH_LIMIT;
	pull->also_hot = true;
	pull->now = now;
	pull_tasks(pull);
}

#endif
