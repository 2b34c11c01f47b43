/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_FAIR_IDLE_H
#define RUNOFF_FAIR_IDLE_H

#include "weight.h"

static void average_in(u64 *average, u64 sample)
{
	*average += ((s64)(sample - *average)) >> 3;
}

/* Note that this CPU has work again. */
static void end_idle(struct runqueue *rq, u64 now)
{
	u64 idle_ns = elapsed(rq->idle_since, now);

	rq->idle = false;
	count_by(idle_ns, idle_ns);
	average_in(&rq->policy.avg_idle_ns, at_most(idle_ns, 2 * MIGRATION_COST_NS));
}

/* Return how far a newly idle CPU looks for work: not far if it is never idle for long. */
static u32 reach_of_idle(const struct runqueue *rq)
{
	return rq->policy.avg_idle_ns < MIGRATION_COST_NS ? SAME_CORE : FAR;
}

/* Whether @t ran so lately that its data will still be in the cache that it would leave. */
static bool is_cache_hot(const struct task_state *t, const struct pull *pull)
{
	return cpu_distance(pull->from, pull->to) > SAME_CORE &&
	       elapsed(t->stamp, pull->now) < MIGRATION_COST_NS;
}

#endif
