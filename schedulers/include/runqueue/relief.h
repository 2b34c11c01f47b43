/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_RELIEF_H
#define RUNOFF_RUNQUEUE_RELIEF_H

#include "balance.h"

/*
 * Who waits on a CPU that a higher class has taken may wait for as long as that likes, whatever the
 * loads of CPUs say. When it has lasted for a tick the other CPUs share those tasks, though they
 * have work themselves: each on its own tick, so that it is over within two.
 */

/* The CPU where that is so, or NO_CPU. */
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

/* On the tick of a CPU with work, on which @p runs; on a CPU that is taken there is none. */
static void remind_to_relieve(struct task_struct *p, struct runqueue *rq, u64 now)
{
	s32 held = held_back ? find_held(rq->cpu) : NO_CPU;

	if (held == NO_CPU)
		return;
	call_for_waiting(held);
	if (elapsed(rq_of(held)->taken_at, now) < tick_ns)
		return;
	rq->relief_due = true;
	scx_bpf_task_set_slice(p, 0);
}

/* How many CPUs there are to share the work. */
static u32 nr_open(struct pull *pull)
{
	s32 cpu;

	pull->cpus = 0;
	bpf_for(cpu, 0, cpu_ids)
		pull->cpus += !rq_of(cpu)->offline && !is_taken(cpu);
	return pull->cpus ?: 1;
}

/* Bring over this CPU's part, at its next choice. */
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
