/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Earliest eligible virtual deadline first, by Ion Stoica and Hussein Abdel-Wahab, as Peter
 * Zijlstra brought it to Linux, in the form of 6.12: of the tasks that have not had more than their
 * share, the one whose request is due first runs next. docs/schedulers/eevdf.md describes the idea,
 * the limits of sched_ext, and every deviation.
 */
#include <scx/common.bpf.h>
#include "eevdf/pick.h"
#include "eevdf/wakeup.h"
#include "include/fair/ops.h"

char _license[] SEC("license") = "GPL";

#define ONE_CPU_SLICE_NS  750000ULL
#define MOST_CPUS_COUNTED 8

/* What a task asks for at a time unless it says otherwise, on this machine. */
static u64 base_slice_ns = ONE_CPU_SLICE_NS;

static u32 policy_idle_weight(void)
{
	return 3;
}

static void policy_scale_times(void)
{
	u32 counted = cpus_online < MOST_CPUS_COUNTED ? cpus_online : MOST_CPUS_COUNTED;
	u32 factor = 1;

	for (; counted > 1; counted /= 2)
		factor++;
	base_slice_ns = ONE_CPU_SLICE_NS * factor;
}

/* A task may say how much it asks for at a time: the runtime of sched_setattr. */
static u64 slice_of(const struct task_struct *p)
{
	if (bpf_core_field_exists(p->se.custom_slice) && p->se.custom_slice)
		return p->se.slice;
	return slice_us ? slice_us * 1000ULL : base_slice_ns;
}

static void policy_init_task(struct task_struct *p, struct task_state *t)
{
	t->policy.slice_ns = slice_of(p);
}

/* The first request of a child is half as long: on average the others have done half of theirs. */
static void policy_place_new(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	t->policy.slice_ns = slice_of(p);
	t->policy.vruntime = vruntime_for(t, 0, rq);
	t->policy.deadline = t->policy.vruntime + virtual_slice(t) / 2;
}

static void policy_place_woken(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	t->policy.slice_ns = slice_of(p);
	t->policy.vruntime = vruntime_for(t, lag_after_sleep(t), rq);
	t->policy.deadline = t->policy.vruntime + virtual_slice(t);
}

/* What is left of its request stays the same. */
static void policy_place_moved(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	if (t->home == NO_CPU)
		t->policy.left = virtual_slice(t);
	t->policy.vruntime = vruntime_for(t, t->policy.lag, rq);
	t->policy.deadline = t->policy.vruntime + t->policy.left;
}

/* Whether the running task must let @t go first because @t asks for less at a time. */
static bool yields_to_shorter(const struct task_state *t, const struct runqueue *rq,
			      const struct moment *now)
{
	const struct policy_runqueue *own = &rq->policy;

	if (t->policy.slice_ns >= own->curr_slice_ns || !is_eligible(now, t->policy.vruntime))
		return false;
	return is_before(t->policy.deadline, own->curr_deadline) ||
	       !is_eligible(now, own->curr_vruntime);
}

static enum verdict policy_check_preempt(struct task_struct *p, struct task_state *t,
					 struct runqueue *rq)
{
	struct policy_runqueue *own = &rq->policy;
	bool idle_makes_way = own->curr_is_idle_policy && p->policy != SCHED_IDLE;
	enum verdict otherwise = own->served || idle_makes_way ? CHOOSE_ANEW : WAITS;
	struct moment now = {};

	if (!idle_makes_way && (p->policy == SCHED_BATCH || p->policy == SCHED_IDLE))
		return otherwise;
	look_at(rq, &now);
	if (idle_makes_way) {
		own->unprotected = true;
	} else if (!own->unprotected && yields_to_shorter(t, rq, &now)) {
		own->unprotected = true;
		count(short_preemptions);
	}
	return is_next(t, rq, &now) ? TAKES_CPU : otherwise;
}

/* Begin the running task's request, or go on with it. */
static void begin_turn(struct runqueue *rq)
{
	rq->policy.chosen_deadline = rq->policy.curr_deadline;
	rq->policy.served = false;
	rq->policy.unprotected = false;
}

static void policy_running(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	struct policy_runqueue *own = &rq->policy;
	struct average *average = average_of(rq);

	own->chosen_vruntime = t->policy.vruntime;
	own->curr_deadline = t->policy.deadline;
	own->curr_slice_ns = t->policy.slice_ns;
	begin_turn(rq);
	if (average)
		rebase(average);
}

/* Bring the average up to the running task's vruntime of now. */
static void settle(struct runqueue *rq)
{
	struct policy_runqueue *own = &rq->policy;
	struct average *average = average_of(rq);

	if (average)
		advance(average, own->curr_weight, own->curr_vruntime - own->chosen_vruntime);
	own->chosen_vruntime = own->curr_vruntime;
}

static void policy_keep(struct task_struct *p, struct runqueue *rq)
{
	begin_turn(rq);
	settle(rq);
}

static void policy_charge(struct runqueue *rq, u64 ran_ns, u64 passed_ns)
{
	struct policy_runqueue *own = &rq->policy;

	own->used_ns += ran_ns;
	if (is_before(own->curr_vruntime, own->curr_deadline))
		return;
	own->curr_deadline = own->curr_vruntime + virtual_ns(own->curr_slice_ns, own->curr_weight);
	own->served = rq->nr > 1;
}

static void policy_stopping(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			    bool runnable)
{
	settle(rq);
	t->policy.deadline = rq->policy.curr_deadline;
}

static bool policy_tick(struct task_struct *p, struct runqueue *rq)
{
	return rq->policy.served;
}

static void policy_yield(struct task_struct *p, struct runqueue *rq)
{
	struct policy_runqueue *own = &rq->policy;

	/* Alone it would push its deadline ahead without end. */
	if (rq->nr > 1)
		own->curr_deadline += virtual_ns(own->curr_slice_ns, own->curr_weight);
}

static void policy_reweigh(struct task_state *t, u32 weight)
{
	struct policy_task *own = &t->policy;
	struct average *average;
	struct runqueue *rq;
	u64 at;
	s64 by;

	if (t->counted_on == NO_CPU) {
		own->lag = divide(own->lag * t->weight, weight);
		/* Needed if it runs; a task that sleeps asks anew. */
		own->left = own->left * t->weight / weight;
		return;
	}
	/* In wall time, what it is owed and what is left of its request stay the same. */
	rq = rq_of(t->counted_on);
	average = average_of(rq);
	at = average_vruntime(rq);
	by = at - divide((s64)(at - own->vruntime) * t->weight, weight) - own->vruntime;
	own->left = (own->deadline - own->vruntime) * t->weight / weight;
	if (average)
		advance(average, t->weight, by);
	own->vruntime += by;
	own->deadline = own->vruntime + own->left;
}

static u64 policy_key(const struct task_state *t)
{
	return t->policy.deadline;
}

SCHEDULER("Of the tasks below their share, the one with the earliest deadline (EEVDF of Linux "
	  "6.12).")
HEARS_OF_HIGHER_CLASSES
SCX_OPS_DEFINE(eevdf_ops, FAIR_OPS, .name = "eevdf");
