/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_SERVED_H
#define RUNOFF_RUNQUEUE_SERVED_H

#include "hotplug.h"
#include "relief.h"

/* What a CPU does for others before it chooses a task; one that is taken has nothing to offer. */
static void look_after_others(struct runqueue *rq, u64 now)
{
	leave_if_inactive(rq, now);
	if (rq->offline)
		return;
	if (orphans)
		adopt_orphans(rq, now);
	if (rq->taken)
		return;
	if (rq->balance_due)
		pull_to_busy(rq, now);
	if (rq->relief_due)
		relieve(rq, now);
}

static bool serve_bound_from(struct runqueue *rq, u64 queue)
{
	struct task_struct *p;

	bpf_for_each(scx_dsq, p, queue, 0) {
		if (rq->scanned++ >= SEARCH_LIMIT)
			break;
		if (open_cpu(p, rq->cpu) == rq->cpu &&
		    scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0))
			return true;
	}
	return false;
}

/* Give this CPU, which is taken, the first task that may run on no open one. */
static bool serve_bound(struct runqueue *rq)
{
	rq->scanned = 0;
	if (serve_bound_from(rq, queue_of(rq, 0)))
		return true;
	return ARRAYS == 2 && serve_bound_from(rq, queue_of(rq, 1));
}

static void send_away_from(struct runqueue *rq, u64 queue)
{
	struct task_struct *p;
	s32 to;

	bpf_for_each(scx_dsq, p, queue, 0) {
		if (rq->scanned++ >= SEARCH_LIMIT)
			break;
		if (scx_bpf_task_cpu(p) != rq->cpu)
			continue;
		to = open_cpu(p, rq->cpu);
		if (to != rq->cpu)
			scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL_ON | to, 0);
	}
}

/*
 * The server ends when it is given no task, and begins again with the first task that the kernel
 * counts on this CPU. It counts a task that was pulled here until that runs elsewhere, so such
 * tasks are given to the core of another CPU: or a bound task that comes next would never be
 * served.
 */
static void send_away(struct runqueue *rq)
{
	s32 cpu;

	rq->scanned = 0;
	bpf_for(cpu, 0, cpu_ids) {
		send_away_from(rq, queue_of(rq_of(cpu), 0));
		if (ARRAYS == 2)
			send_away_from(rq, queue_of(rq_of(cpu), 1));
	}
}

#endif
