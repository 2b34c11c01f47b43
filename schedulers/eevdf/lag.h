/* SPDX-License-Identifier: GPL-2.0 */
#ifndef EEVDF_LAG_H
#define EEVDF_LAG_H

#include "average.h"

/* Nobody is owed, or owes, more than this in virtual time; a turn ends at a tick. */
static s64 limit_lag(const struct task_state *t, s64 lag)
{
	u64 longest = 2 * t->policy.slice_ns;
	s64 most = virtual_ns(longest > tick_ns ? longest : tick_ns, t->weight);

	if (lag > most)
		return most;
	return lag < -most ? -most : lag;
}

/*
 * What @t, which slept, is owed now. Who is owed something keeps it. Who has had too much has to
 * wait until the others have had as much: the kernel leaves it in the queue for that long, here
 * its queue's time has gone on meanwhile. There it is forgotten when nobody else is left.
 */
static s64 lag_after_sleep(const struct task_state *t)
{
	const struct runqueue *home = rq_of(t->home);
	s64 lag;

	if (t->policy.lag >= 0)
		return t->policy.lag;
	if (t->policy.emptied != home->policy.emptied)
		return 0;
	lag = average_vruntime(home) - t->policy.vruntime;
	if (lag > 0)
		return 0;
	return lag > t->policy.lag ? lag : t->policy.lag;
}

/*
 * The vruntime at which @t is owed @lag once it is in @rq. By coming there it moves the average
 * towards itself, for which it has to start farther away.
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

static void policy_shifted(struct task_state *t, u64 shift)
{
	t->policy.vruntime += shift;
	t->policy.deadline += shift;
}

static void policy_joins(struct task_state *t, struct runqueue *rq)
{
	struct average *average = average_of(rq);

	if (average)
		add(average, t->weight, t->policy.vruntime);
}

static void policy_leaves(struct task_state *t, struct runqueue *rq)
{
	struct average *average = average_of(rq);
	struct policy_task *own = &t->policy;

	own->lag = limit_lag(t, average_vruntime(rq) - own->vruntime);
	own->left = own->deadline - own->vruntime;
	own->emptied = rq->policy.emptied;
	if (average && remove(average, t->weight, own->vruntime))
		rq->policy.emptied++;
}

#endif
