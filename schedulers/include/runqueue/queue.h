/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_QUEUE_H
#define RUNOFF_RUNQUEUE_QUEUE_H

#include "policy.h"
#include "state.h"

/*
 * sched_ext keeps a queue as a tree ordered by a 64-bit key; equal keys stay in order of arrival.
 * The key is the rung above 48 bits. A tail insert has the middle value in these bits, head inserts
 * have ever smaller ones.
 */
#define RUNG_SHIFT  48
#define KEY_OF_TAIL (1ULL << (RUNG_SHIFT - 1))

static u64 tail_key(const struct task_state *t)
{
	return ((u64)t->rung << RUNG_SHIFT) | KEY_OF_TAIL;
}

static u64 head_key(const struct task_state *t, struct runqueue *rq)
{
	return ((u64)t->rung << RUNG_SHIFT) | --rq->heads;
}

static u32 level_of_key(u64 key, const struct runqueue *rq)
{
	return level_of(key >> RUNG_SHIFT, rq);
}

/* A CPU that goes offline no longer asks for work: what must run there goes to the core at once. */
static void insert(struct task_struct *p, struct task_state *t, struct runqueue *rq, u64 slice_ns,
		   u64 enq_flags)
{
	u64 queue = queue_of(rq, t->array);
	u64 key = t->place == PLACE_TAIL ? tail_key(t) : head_key(t, rq);

	if (rq->offline)
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, slice_ns, enq_flags);
	else
		scx_bpf_dsq_insert_vtime(p, queue, slice_ns, key, enq_flags);
}

/* Return the queue to look into when the active one is empty. */
static u64 second_queue(struct runqueue *rq)
{
	u32 second = rq->active ^ 1;

	if (SECOND_ARRAY == EXPIRED) {
		rq->active = second;
		policy_begin_epoch(rq);
	}
	return queue_of(rq, second);
}

/* Whether @t comes before the running task: in a better queue, or on a better level of the same. */
static bool precedes(const struct task_state *t, const struct runqueue *rq)
{
	if (t->array != rq->active)
		return false;
	return rq->curr_array != rq->active || level_of(t->rung, rq) < level_of(rq->curr_rung, rq);
}

/* Return a number for where @t stands on its CPU; less is better. */
static u32 standing(const struct task_state *t, const struct runqueue *rq)
{
	return ((u32)(t->array != rq->active) << 16) | level_of(t->rung, rq);
}

static inline bool equals(const struct task_state *t, const struct runqueue *rq)
{
	return t->array == rq->active && rq->curr_array == rq->active &&
	       level_of(t->rung, rq) == level_of(rq->curr_rung, rq);
}

/* Put the running task @t behind the best waiting level that is not better than its own. */
static inline void join_next_level(struct task_state *t, struct runqueue *rq)
{
	struct task_struct *head = __COMPAT_scx_bpf_dsq_peek(queue_of(rq, rq->active));
	u32 own = level_of(t->rung, rq), best;

	if (head) {
		best = level_of_key(head->scx.dsq_vtime, rq);
		set_level(t, rq, best > own ? best : own);
	}
	t->place = PLACE_TAIL;
}

/* Whether a waiting task comes before @t, which would go on running. */
static bool is_beaten(const struct task_state *t, struct runqueue *rq)
{
	struct task_struct *head = __COMPAT_scx_bpf_dsq_peek(queue_of(rq, rq->active));
	u32 own = level_of(t->rung, rq), best;

	if (ARRAYS == 2 && t->array != rq->active) {
		if (head)
			return true;
		head = __COMPAT_scx_bpf_dsq_peek(second_queue(rq));
	}
	if (!head)
		return false;
	best = level_of_key(head->scx.dsq_vtime, rq);
	return t->place == PLACE_HEAD ? best < own : best <= own;
}

/* Give this CPU the first task of its queue. */
static bool take_first(struct runqueue *rq)
{
	if (scx_bpf_dsq_move_to_local(queue_of(rq, rq->active), 0))
		return true;
	return ARRAYS == 2 && scx_bpf_dsq_move_to_local(second_queue(rq), 0);
}

#endif
