/* SPDX-License-Identifier: GPL-2.0 */
#ifndef EEVDF_PICK_H
#define EEVDF_PICK_H

#include "lag.h"
#include "include/fair/queue.h"

/* Whether the running task goes on: it is owed something and has not yet got what it asked for. */
static bool is_protected(const struct runqueue *rq, const struct moment *now)
{
	const struct policy_runqueue *own = &rq->policy;

	return !own->unprotected && own->curr_deadline == own->chosen_deadline &&
	       is_eligible(now, own->curr_vruntime);
}

/* How many tasks one look through a queue may cost. */
#define SCAN_LIMIT 512

/* Farther off than any deadline. */
#define NO_LIMIT (1ULL << 62)

/*
 * Look in the queue of @rq, which is in the order of deadlines, for the first task that is owed
 * something and whose deadline is before @limit. Return whether there is one, and with @take
 * whether it was moved to this CPU.
 */
static __always_inline bool find_earliest(struct runqueue *rq, const struct moment *now, u64 limit,
					  bool take)
{
	struct policy_runqueue *own = &rq->policy;
	struct task_struct *p;
	struct task_state *t;

	rq->scanned = 0;
	own->found = false;
	bpf_for_each(scx_dsq, p, queue_of(rq, 0), 0) {
		if (rq->scanned++ >= SCAN_LIMIT || !is_before(p->scx.dsq_vtime, limit))
			break;
		t = state_of(p);
		if (!t || !is_eligible(now, t->policy.vruntime))
			continue;
		own->found = take ? scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0) : true;
		break;
	}
	return own->found;
}

/* Whether @t, which has just come, would be the next to run. */
static bool is_next(const struct task_state *t, struct runqueue *rq, const struct moment *now)
{
	const struct policy_runqueue *own = &rq->policy;

	if (is_protected(rq, now) || !is_eligible(now, t->policy.vruntime))
		return false;
	if (is_eligible(now, own->curr_vruntime) &&
	    !is_before(t->policy.deadline, own->curr_deadline))
		return false;
	return !find_earliest(rq, now, t->policy.deadline, false);
}

static bool policy_dispatch(struct runqueue *rq, struct task_struct *prev)
{
	struct task_struct *head = __COMPAT_scx_bpf_dsq_peek(queue_of(rq, 0));
	struct policy_runqueue *own = &rq->policy;
	struct moment now = {};
	struct task_state *t;
	bool prev_is_eligible;
	u64 earliest, limit;

	if (!head)
		return false;
	earliest = head->scx.dsq_vtime;
	t = state_of(head);
	look_at(rq, &now);
	if (prev && is_protected(rq, &now))
		return false;
	prev_is_eligible = prev && is_eligible(&now, own->curr_vruntime);
	limit = prev_is_eligible ? own->curr_deadline : earliest + NO_LIMIT;
	if (!is_before(earliest, limit))
		return false;
	if (t && is_eligible(&now, t->policy.vruntime))
		return take_first(rq);
	count(passed_over);
	if (find_earliest(rq, &now, limit, true))
		return true;
	return !prev_is_eligible && take_first(rq);
}

#endif
