/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_PROMOTION_H
#define RUNOFF_RUNQUEUE_PROMOTION_H

#include "state.h"

enum { PROMOTION_CODED, PROMOTION_DOCUMENTED, PROMOTION_NONE };

/*
 * On a tick: move all waiting tasks one level up when that is due, so that none waits for ever.
 * ZAPHOD's announcements say that the interval grows with the number of other tasks, but its test
 * for that is the wrong way round and never defers: the two rules differ from three tasks on
 * (docs/schedulers/zaphod.md).
 */
static void promote_when_due(struct runqueue *rq, u32 rule, u64 interval, u64 now)
{
	if (rule == PROMOTION_NONE || rq->nr < 2) {
		rq->promotion_due = 0;
		return;
	}
	if (rule == PROMOTION_DOCUMENTED)
		interval *= rq->nr - 1;
	if (!rq->promotion_due)
		rq->promotion_due = now + interval;
	if (time_before(now, rq->promotion_due))
		return;
	rq->promotions++;
	/* Count from when it was due, not from this tick, but do not make up for lost ticks. */
	rq->promotion_due += interval;
	if (time_before(rq->promotion_due, now))
		rq->promotion_due = now + interval;
	count(promotions);
}

#endif
