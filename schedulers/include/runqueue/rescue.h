/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_RESCUE_H
#define RUNOFF_RUNQUEUE_RESCUE_H

#include "state.h"

/*
 * The schedulers of their time let a task wait for as long as better ones had work. Today the core
 * has a watchdog, which ejects a scheduler under which a task waits for 30 s (kernel/sched/ext.c,
 * check_rq_for_timeouts), so who has waited for half of that gets a turn.
 */
#define STARVED_MS	(15 * 1000)
#define RESCUE_EVERY_NS MS(1000)

/* What one look through a queue may cost at most. */
#define SCAN_LIMIT 512

/* On a tick, now and then: next time this CPU chooses, look for tasks that starve. */
static void remind_to_rescue(struct runqueue *rq, u64 now)
{
	if (rq->nr > 1 && elapsed(rq->rescued_at, now) >= RESCUE_EVERY_NS) {
		rq->rescued_at = now;
		rq->rescue_due = true;
	}
}

/* Those who starve are at the end of the queue. */
static bool rescue_from(struct runqueue *rq, u32 array)
{
	u64 ticks = STARVED_MS * NSEC_PER_MSEC / tick_ns;
	struct task_struct *p;

	rq->rescued = false;
	rq->scanned = 0;
	bpf_for_each(scx_dsq, p, queue_of(rq, array), SCX_DSQ_ITER_REV) {
		if (rq->scanned++ >= SCAN_LIMIT)
			break;
		if (bpf_jiffies64() - p->scx.runnable_at < ticks)
			continue;
		if (scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0)) {
			rq->rescued = true;
			count(rescues);
		}
	}
	return rq->rescued;
}

/* Give a turn to the tasks that the watchdog would otherwise call stalled; whether there were any.
 */
static bool rescue_starved(struct runqueue *rq)
{
	bool first;

	rq->rescue_due = false;
	first = rescue_from(rq, 0);
	return (ARRAYS == 2 && rescue_from(rq, 1)) || first;
}

#endif
