/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_FAIR_QUEUE_H
#define RUNOFF_FAIR_QUEUE_H

#include "idle.h"
#include "policy.h"
#include "weight.h"
#include "include/runqueue/balance.h"
#include "include/runqueue/rescue.h"

/*
 * The slice that the core counts down. A task runs until the scheduler ends its turn at a tick, but
 * with an infinite slice the core might stop the tick.
 */
#define TURN_NS MS(1000)

static void leave(struct task_state *t)
{
	if (t->counted_on == NO_CPU)
		return;
	policy_leave(t, rq_of(t->counted_on));
	count_on(t, NO_CPU);
}

static void join(struct task_state *t, struct runqueue *rq)
{
	policy_join(t, rq);
	count_on(t, rq->cpu);
}

static bool is_pullable(const struct task_struct *p, const struct task_state *t,
			const struct pull *pull)
{
	/* A task that its CPU does not count yet is still on its way there. */
	if (t->counted_on != pull->from)
		return false;
	if (t->weight / 2 > pull->load)
		return false;
	return pull->also_hot || !policy_is_hot(p, t, pull);
}

static bool pull_tasks(struct pull *pull)
{
	struct runqueue *from = rq_of(pull->from), *to = rq_of(pull->to);
	struct task_struct *p;
	struct task_state *t;

	pull->pulled = pull->scanned = 0;
	bpf_for_each(scx_dsq, p, queue_of(from, 0), 0) {
		u64 shift;

		if (pull->pulled >= pull->tasks || pull->scanned++ >= pull->limit)
			break;
		if (!may_run_on(p, pull->to))
			continue;
		t = state_of(p);
		if (!t || !is_pullable(p, t, pull))
			continue;
		shift = policy_shift(t, from, to);
		scx_bpf_dsq_move_set_vtime(BPF_FOR_EACH_ITER, policy_key(t) + shift);
		if (!scx_bpf_dsq_move_vtime(BPF_FOR_EACH_ITER, p, queue_of(to, 0), 0))
			continue;
		leave(t);
		t->home = to->cpu;
		policy_apply_shift(t, shift);
		join(t, to);
		pull->load -= t->weight < pull->load ? t->weight : pull->load;
		pull->pulled++;
	}
	count_by(pulls, pull->pulled);
	return pull->pulled;
}

static bool take_first(struct runqueue *rq)
{
	return scx_bpf_dsq_move_to_local(queue_of(rq, 0), 0);
}

#endif
