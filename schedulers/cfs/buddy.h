/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CFS_BUDDY_H
#define CFS_BUDDY_H

#include "vruntime.h"
#include "include/fair/queue.h"

static void forget(struct runqueue *rq, s32 pid)
{
	if (rq->policy.next.pid == pid)
		rq->policy.next.pid = 0;
	if (rq->policy.last.pid == pid)
		rq->policy.last.pid = 0;
}

static void prefer_woken(struct runqueue *rq, const struct task_struct *p,
			 const struct task_state *t)
{
	rq->policy.next.pid = p->pid;
	rq->policy.next.vruntime = t->policy.vruntime;
}

/* The task that makes way now comes back first; its vruntime is known once it has stopped. */
static void prefer_running(struct runqueue *rq)
{
	rq->policy.last.pid = rq->policy.curr_pid;
	rq->policy.last.vruntime = rq->policy.curr_vruntime;
}

static bool is_near(const struct buddy *buddy, u64 first, u64 granularity)
{
	return buddy->pid && (s64)(buddy->vruntime - first) <= (s64)granularity;
}

/* Return the buddy to run instead of a task of @weight with the vruntime @first, 0 if none. */
static s32 near_buddy(const struct runqueue *rq, u64 first, u32 weight)
{
	const struct policy_runqueue *own = &rq->policy;
	u64 granularity = virtual_ns(wakeup_granularity(), weight);

	if (is_near(&own->next, first, granularity))
		return own->next.pid;
	if (is_near(&own->last, first, granularity))
		return own->last.pid;
	return 0;
}

static bool has_buddies(const struct runqueue *rq)
{
	return rq->policy.next.pid || rq->policy.last.pid;
}

/* Move the task @pid from the queue to this CPU, wherever it is in the queue. */
static bool take(struct runqueue *rq, s32 pid)
{
	struct task_struct *p = bpf_task_from_pid(pid);
	struct bpf_iter_scx_dsq it;
	bool taken = false;

	if (!p)
		return false;
	/* The kernel needs an iterator to know when this look began; a walk is not needed. */
	if (!bpf_iter_scx_dsq_new(&it, queue_of(rq, 0), 0))
		taken = scx_bpf_dsq_move(&it, p, SCX_DSQ_LOCAL, 0);
	bpf_iter_scx_dsq_destroy(&it);
	bpf_task_release(p);
	return taken;
}

static bool take_leftmost(struct runqueue *rq)
{
	rq->policy.took_first = take_first(rq);
	return rq->policy.took_first;
}

static bool take_buddy(struct runqueue *rq, s32 pid)
{
	if (take(rq, pid)) {
		count(buddies);
		return true;
	}
	forget(rq, pid);
	return take_leftmost(rq);
}

static bool policy_dispatch(struct runqueue *rq, struct task_struct *prev)
{
	struct policy_runqueue *own = &rq->policy;
	struct task_struct *head;
	u64 first, granularity;
	s32 pid, head_pid;
	bool prev_is_first;
	u32 weight;

	if (!prev && !has_buddies(rq))
		return take_leftmost(rq);
	head = __COMPAT_scx_bpf_dsq_peek(queue_of(rq, 0));
	if (!head)
		return false;
	first = head->scx.dsq_vtime;
	head_pid = head->pid;
	prev_is_first = prev && is_before(own->curr_vruntime, first);
	if (prev)
		advance(rq, prev_is_first ? own->curr_vruntime : first);
	if (prev_is_first && own->skip_curr) {
		granularity = virtual_ns(wakeup_granularity(), own->curr_weight);
		prev_is_first = (s64)(first - own->curr_vruntime) > (s64)granularity;
	}
	if (prev && own->last.pid == own->curr_pid)
		own->last.vruntime = own->curr_vruntime;
	own->skip_curr = false;
	pid = 0;
	if (has_buddies(rq)) {
		weight = prev_is_first ? own->curr_weight : weight_of(head);
		pid = near_buddy(rq, prev_is_first ? own->curr_vruntime : first, weight);
	}
	if (pid ? prev && pid == own->curr_pid : prev_is_first)
		return false;
	return pid && pid != head_pid ? take_buddy(rq, pid) : take_leftmost(rq);
}

#endif
