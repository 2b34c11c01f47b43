/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The Completely Fair Scheduler by Ingo Molnar as it was in Linux 2.6.24, 2.6.31, 2.6.32 and 3.6:
 * the task that has run least in proportion to its weight runs next. docs/schedulers/cfs.md
 * describes the idea, the limits of sched_ext, and every deviation.
 */
#include <scx/common.bpf.h>
#include "cfs/buddy.h"
#include "cfs/wakeup.h"
#include "include/fair/ops.h"

char _license[] SEC("license") = "GPL";

static u32 policy_idle_weight(void)
{
	return era == ERA_2_6_24 ? 2 : 3;
}

static void policy_scale_times(void)
{
	scale_times(cpus_online);
}

/* 2.6.31 looked only at the threads of its core; from 2.6.32 on a look had to be worth it. */
static u32 newly_idle_reach(const struct runqueue *rq)
{
	if (era == ERA_2_6_31)
		return SAME_CACHE;
	return era >= ERA_2_6_32 ? reach_of_idle(rq) : FAR;
}

static void policy_init_task(struct task_struct *p, struct task_state *t)
{
	t->policy.avg_wakeup_ns = wakeup_granularity();
}

/* A child starts a turn late, so that forking gains nothing. */
static void policy_place_new(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	struct runqueue *here = rq_of(bpf_get_smp_processor_id());
	struct policy_runqueue *own = &rq->policy;
	/* 3.6 places it on its parent's CPU, and moves it from there to where it begins. */
	struct runqueue *from = era == ERA_3_6 && here->busy ? here : rq;
	u64 vruntime, parent;

	if (rq->busy)
		advance_to_first(rq);
	vruntime = from->policy.min_vruntime + first_turn(from, t) + policy_shift(t, from, rq);
	if (era >= ERA_2_6_32 && here->busy) {
		parent = here->policy.curr_vruntime + policy_shift(t, here, rq);
		vruntime = later(vruntime, parent);
	}
	if (child_runs_first() && rq == here && rq->busy &&
	    is_before(own->curr_vruntime, vruntime)) {
		t->policy.vruntime = own->curr_vruntime;
		own->curr_vruntime = vruntime;
		own->child_first = true;
	} else {
		t->policy.vruntime = vruntime;
	}
}

static void policy_place_woken(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	/* select_cpu was skipped for this task. */
	if (watches_wakers() && (p->nr_cpus_allowed == 1 || p->migration_disabled))
		watch_waker();
	go_home(t, rq);
	catch_up(t, rq, sleeper_credit());
}

static void policy_place_moved(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	go_home(t, rq);
}

/* How far behind the running task @p must be to take its CPU. */
static u64 lead_to_preempt(const struct task_state *t, const struct runqueue *rq)
{
	u64 granularity = wakeup_granularity(), expected;

	if (era == ERA_2_6_24)
		return virtual_ns(granularity, rq->policy.curr_weight);
	if (watches_wakers()) {
		/* A task that wakes others soon may preempt sooner. */
		expected = 2 * t->policy.avg_wakeup_ns * rq->nr;
		expected -= at_most(expected, rq->policy.ran_ns);
		granularity = at_most(granularity, expected);
	}
	return virtual_ns(granularity, t->weight);
}

static bool preempts(const struct task_struct *p, const struct task_state *t,
		     const struct runqueue *rq)
{
	const struct policy_runqueue *own = &rq->policy;

	if (era >= ERA_2_6_31 && own->curr_is_idle_policy && p->policy != SCHED_IDLE)
		return true;
	if (p->policy == SCHED_BATCH || p->policy == SCHED_IDLE)
		return false;
	return (s64)(own->curr_vruntime - t->policy.vruntime) > (s64)lead_to_preempt(t, rq);
}

/* Whether @t would be chosen now: as the first of all, or as a buddy that is near enough to it. */
static bool is_chosen(const struct task_state *t, struct runqueue *rq)
{
	struct task_struct *head = __COMPAT_scx_bpf_dsq_peek(queue_of(rq, 0));
	u64 lead;

	if (!head)
		return true;
	lead = t->policy.vruntime - head->scx.dsq_vtime;
	if (!has_next_buddy())
		return (s64)lead < 0;
	return (s64)lead <= (s64)virtual_ns(wakeup_granularity(), weight_of(head));
}

static enum verdict policy_check_preempt(struct task_struct *p, struct task_state *t,
					 struct runqueue *rq)
{
	bool child_first = rq->policy.child_first;

	rq->policy.child_first = false;
	if (era == ERA_2_6_31) {
		prefer_running(rq);
		prefer_woken(rq, p, t);
	}
	if (!child_first && !preempts(p, t, rq))
		return WAITS;
	if (era == ERA_3_6)
		prefer_woken(rq, p, t);
	if (era >= ERA_2_6_32 && is_crowded(rq->nr))
		prefer_running(rq);
	return is_chosen(t, rq) ? TAKES_CPU : CHOOSE_ANEW;
}

static void policy_requeue(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	if (has_last_buddy() && rq->policy.last.pid == p->pid)
		rq->policy.last.vruntime = t->policy.vruntime;
}

static void policy_running(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	struct policy_runqueue *own = &rq->policy;

	if (own->took_first || rq->nr <= 1)
		advance(rq, t->policy.vruntime);
	own->took_first = false;
	if (era != ERA_2_6_24)
		forget(rq, p->pid);
	if (watches_wakers()) {
		own->curr_sum_exec_ns = t->policy.sum_exec_ns;
		own->curr_avg_overlap_ns = t->policy.avg_overlap_ns;
	}
}

static void policy_keep(struct task_struct *p, struct runqueue *rq)
{
	if (era != ERA_2_6_24)
		forget(rq, p->pid);
}

static void policy_charge(struct runqueue *rq, u64 ran_ns, u64 passed_ns)
{
	if (watches_wakers())
		rq->policy.curr_sum_exec_ns += ran_ns;
	if (rq->nr <= 1)
		advance(rq, rq->policy.curr_vruntime);
}

static void policy_stopping(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			    bool runnable)
{
	if (!watches_wakers())
		return;
	t->policy.sum_exec_ns = rq->policy.curr_sum_exec_ns;
	if (!runnable)
		watch_sleeper(t);
}

/* From 2.6.32 on a turn also ends when the task is ahead of the next one by more than a turn. */
static bool policy_tick(struct task_struct *p, struct runqueue *rq)
{
	struct policy_runqueue *own = &rq->policy;
	struct task_struct *head;
	u64 turn;

	if (rq->nr < 2)
		return false;
	turn = turn_ns(rq, own->curr_weight);
	if (own->ran_ns > turn) {
		forget(rq, own->curr_pid);
		return true;
	}
	if (era < ERA_2_6_32 || own->ran_ns < min_granularity())
		return false;
	head = __COMPAT_scx_bpf_dsq_peek(queue_of(rq, 0));
	return head && (s64)(own->curr_vruntime - head->scx.dsq_vtime) > (s64)turn;
}

/* Up to 2.6.32 a batch task goes behind all others; any other task stays where it is. */
static void policy_yield(struct task_struct *p, struct runqueue *rq)
{
	struct policy_runqueue *own = &rq->policy;

	own->skip_curr = era == ERA_3_6;
	if (era < ERA_3_6 && p->policy == SCHED_BATCH)
		own->curr_vruntime = later(own->curr_vruntime, last_vruntime(rq) + 1);
}

static bool policy_is_hot(const struct task_struct *p, const struct task_state *t,
			  const struct pull *pull)
{
	const struct policy_runqueue *from = &rq_of(pull->from)->policy;

	if (p->pid == from->next.pid || p->pid == from->last.pid)
		return true;
	return is_cache_hot(t, pull);
}

SCHEDULER("The task that has run least for its weight runs next (CFS of Linux 2.6.24, 2.6.31, "
	  "2.6.32, "
	  "3.6).")
HEARS_OF_HIGHER_CLASSES
SCX_OPS_DEFINE(cfs_ops, FAIR_OPS, .name = "cfs");
