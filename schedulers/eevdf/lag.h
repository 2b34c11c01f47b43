/* SPDX-License-Identifier: GPL-2.0 */
#ifndef EEVDF_LAG_H
#define EEVDF_LAG_H

#include "average.h"

/* No task is owed, or owes, more than this in virtual time: a turn ends at a tick. */
static s64 limit_lag(const struct task_state *t, s64 lag)
{
	u64 longest = 2 * t->policy.slice_ns;
	s64 most = virtual_ns(longest > tick_ns ? longest : tick_ns, t->weight);

	if (lag > most)
		return most;
	return lag < -most ? -most : lag;
}

/*
 * Return what @t, which slept, is owed now. A task that is owed something keeps it. One that has
 * had too much owes it until the others have had as much for their weights: the kernel leaves it in
 * the queue for that long. The debt is forgotten once the queue is empty.
 */
static s64 lag_after_sleep(const struct task_state *t)
{
	const struct policy_runqueue *home = &rq_of(t->home)->policy;
	u64 owes_ns, used_ns = home->used_ns - t->policy.used_ns;

	if (t->policy.lag >= 0)
		return t->policy.lag;
	owes_ns = (u64)-t->policy.lag * t->policy.crowd / NICE_0_WEIGHT;
	if (t->policy.emptied != home->emptied || used_ns >= owes_ns)
		return 0;
	return divide(-(s64)(owes_ns - used_ns) * NICE_0_WEIGHT, t->policy.crowd);
}

/*
 * Return the vruntime at which @t is owed @lag once it is in @rq. By coming there it moves the
 * average towards itself, so it has to start farther away.
 */
static u64 vruntime_for(const struct task_state *t, s64 lag, const struct runqueue *rq)
{
	struct moment now = {};

	look_at(rq, &now);
	if (!now.weight)
		return now.zero;
	return average_at(&now) - divide(lag * (s64)(now.weight + t->weight), now.weight);
}

static u64 virtual_slice(const struct task_state *t)
{
	return virtual_ns(t->policy.slice_ns, t->weight);
}

static u64 policy_shift(const struct task_state *t, const struct runqueue *from,
			const struct runqueue *to)
{
	s64 lag = limit_lag(t, average_vruntime(from) - t->policy.vruntime);

	return vruntime_for(t, lag, to) - t->policy.vruntime;
}

static void policy_apply_shift(struct task_state *t, u64 shift)
{
	t->policy.vruntime += shift;
	t->policy.deadline += shift;
}

static void policy_join(struct task_state *t, struct runqueue *rq)
{
	struct average *average = average_of(rq);

	if (average)
		add(average, t->weight, t->policy.vruntime);
}

static void policy_leave(struct task_state *t, struct runqueue *rq)
{
	struct average *average = average_of(rq);
	struct policy_task *own = &t->policy;
	struct moment now = {};

	look_at(rq, &now);
	own->lag = limit_lag(t, average_at(&now) - own->vruntime);
	own->left = own->deadline - own->vruntime;
	own->crowd = now.weight;
	own->used_ns = rq->policy.used_ns;
	own->emptied = rq->policy.emptied;
	if (average && remove(average, t->weight, own->vruntime))
		rq->policy.emptied++;
}

#endif
