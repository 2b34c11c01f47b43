/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_RESCUE_H
#define RUNOFF_RUNQUEUE_RESCUE_H

#include "include/watchdog.h"
#include "state.h"

/*
 * How many tasks are rescued at once, with a tick each. Then the others have their turns for a
 * while, among them the kernel's own threads, one of which the watchdog needs.
 */
#define RESCUED_AT_ONCE 512
#define RESCUE_REST_NS	MS(500)

/* How many tasks one look through a queue may cost. */
#define RESCUE_SCAN_LIMIT 8192

/* On a tick, now and then: have the next dispatch of this CPU look for tasks that starve. */
static void remind_to_rescue(struct runqueue *rq, u64 now)
{
	if (rq->nr > 1 && !rq->rescued && elapsed(rq->rescued_at, now) >= RESCUE_REST_NS) {
		rq->rescued_at = now;
		rq->rescue_due = true;
	}
}

static bool is_starved(const struct runqueue *rq, struct task_struct *p)
{
	u64 ms = (bpf_jiffies64() - p->scx.runnable_at) * tick_ns / NSEC_PER_MSEC;

	if (is_needed(p))
		return ms >= KERNEL_STARVED_MS;
	return ms >= STARVED_MS && rq->rescued < RESCUED_AT_ONCE;
}

/* What the kernel needs runs first; within a level, the task that has waited longest. */
static void rescue_from(struct runqueue *rq, u32 array)
{
	struct task_struct *p;

	bpf_for_each(scx_dsq, p, queue_of(rq, array), 0) {
		if (rq->scanned++ >= RESCUE_SCAN_LIMIT)
			break;
		if (!is_starved(rq, p))
			continue;
		/*
		 * Better tasks wait for all of them, so each has the time until the next tick and
		 * not a slice. One that begins with a tick has not quite used it at the next one.
		 */
		scx_bpf_dsq_move_set_slice(BPF_FOR_EACH_ITER, tick_ns / 2);
		if (scx_bpf_dsq_move(
			    BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, is_needed(p) ? SCX_ENQ_HEAD : 0)) {
			rq->rescued++;
			count(rescues);
		}
	}
}

/* Let tasks run that the watchdog would otherwise call stalled. Return whether there are any. */
static bool rescue_starved(struct runqueue *rq, u64 now)
{
	/* The CPU asks for work again, so all of them have run. */
	if (rq->rescued) {
		rq->rescued = 0;
		rq->rescued_at = now;
		return false;
	}
	rq->rescue_due = false;
	rq->scanned = 0;
	rescue_from(rq, 0);
	if (ARRAYS == 2)
		rescue_from(rq, 1);
	return rq->rescued;
}

/* Whether rescue_starved has anything to do. */
static __always_inline bool may_rescue(const struct runqueue *rq)
{
	return rq->rescue_due || rq->rescued;
}

#endif
