/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CFS_VRUNTIME_H
#define CFS_VRUNTIME_H

#include "state.h"
#include "include/fair/weight.h"

static u64 later(u64 a, u64 b)
{
	return is_before(a, b) ? b : a;
}

static void advance(struct runqueue *rq, u64 to)
{
	rq->policy.min_vruntime = later(rq->policy.min_vruntime, to);
}

/* Bring the virtual time of the queue up to the task that has run least. */
static void advance_to_first(struct runqueue *rq)
{
	struct task_struct *head = __COMPAT_scx_bpf_dsq_peek(queue_of(rq, 0));
	u64 first = rq->policy.curr_vruntime;

	if (head && is_before(head->scx.dsq_vtime, first))
		first = head->scx.dsq_vtime;
	advance(rq, first);
}

/* Return the vruntime of the last task in the queue; that of the running one if none waits. */
static u64 last_vruntime(struct runqueue *rq)
{
	u64 last = rq->policy.curr_vruntime - 1;
	struct task_struct *p;

	bpf_for_each(scx_dsq, p, queue_of(rq, 0), SCX_DSQ_ITER_REV) {
		last = p->scx.dsq_vtime;
		break;
	}
	return last;
}

/* Sleep earns little: a task that comes may be at most @credit behind the others. */
static void catch_up(struct task_state *t, struct runqueue *rq, u64 credit)
{
	struct policy_runqueue *own = &rq->policy;

	/* The virtual time is brought up to date only where the look at the queue can matter. */
	if (rq->busy && is_before(t->policy.vruntime, own->curr_vruntime - credit))
		advance_to_first(rq);
	t->policy.vruntime = later(t->policy.vruntime, own->min_vruntime - credit);
}

/* Return the turn of a task of @weight: its share of one period of all tasks, in wall time. */
static u64 turn_ns(const struct runqueue *rq, u32 weight)
{
	u32 all = rq->weight;

	return period(rq->nr) * weight / (all ? all : weight);
}

/* Return the turn of a new task, in virtual time. */
static u64 first_turn(const struct runqueue *rq, const struct task_state *t)
{
	return period(rq->nr + 1) * NICE_0_WEIGHT / (rq->weight + t->weight);
}

static u64 policy_shift(const struct task_state *t, const struct runqueue *from,
			const struct runqueue *to)
{
	return to->policy.min_vruntime - from->policy.min_vruntime;
}

static void policy_apply_shift(struct task_state *t, u64 shift)
{
	t->policy.vruntime += shift;
}

static void go_home(struct task_state *t, const struct runqueue *rq)
{
	if (t->home == NO_CPU)
		t->policy.vruntime = rq->policy.min_vruntime;
	else if (t->home != rq->cpu)
		t->policy.vruntime += policy_shift(t, rq_of(t->home), rq);
}

static u64 policy_key(const struct task_state *t)
{
	return t->policy.vruntime;
}

#endif
