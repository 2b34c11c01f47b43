/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_PULL_H
#define RUNOFF_RUNQUEUE_PULL_H

#include "balance.h"
#include "place.h"
#include "queue.h"

static bool is_pullable(const struct task_state *t, const struct pull *pull)
{
	if (t->weight / 2 > pull->load)
		return false;
	return pull->also_hot || !is_cache_hot(t, cpu_distance(pull->from, pull->to), pull->now);
}

/* Bring tasks over from one of the other CPU's queues, the best level first. */
static void pull_array(struct pull *pull, u32 array)
{
	struct runqueue *from = rq_of(pull->from), *to = rq_of(pull->to);
	u32 place = array ^ from->active ^ to->active;
	struct task_struct *p;
	struct task_state *t;

	bpf_for_each(scx_dsq, p, queue_of(from, array), 0) {
		if (pull->pulled >= pull->tasks || pull->scanned++ >= pull->limit)
			break;
		if (!may_run_on(p, pull->to))
			continue;
		t = state_of(p);
		if (!t || !is_pullable(t, pull))
			continue;
		move_home(t, to);
		scx_bpf_dsq_move_set_vtime(BPF_FOR_EACH_ITER, tail_key(t));
		if (!scx_bpf_dsq_move_vtime(BPF_FOR_EACH_ITER, p, queue_of(to, place), 0)) {
			move_home(t, from);
			continue;
		}
		t->array = place;
		t->place = PLACE_TAIL;
		count_on(t, to->cpu);
		pull->load -= t->weight < pull->load ? t->weight : pull->load;
		pull->pulled++;
	}
}

/* The expired queue first: its tasks have waited longest, so they are the least cache-hot. */
static bool pull_tasks(struct pull *pull)
{
	u32 active = rq_of(pull->from)->active;

	pull->pulled = pull->scanned = 0;
	if (SECOND_ARRAY == EXPIRED)
		pull_array(pull, active ^ 1);
	pull_array(pull, active);
	if (SECOND_ARRAY == BACKGROUND)
		pull_array(pull, active ^ 1);
	count_by(pulls, pull->pulled);
	return pull->pulled;
}

#endif
