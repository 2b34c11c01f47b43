/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The O(1) scheduler of Linux 2.6 by Ingo Molnar, as it was in 2.6.8 and in 2.6.20: two arrays of
 * lists per CPU and a guess at how interactive a task is. docs/schedulers/o1.md describes the idea,
 * the limits of sched_ext, and every deviation.
 */
#include <scx/common.bpf.h>
#include "o1/interactivity.h"
#include "include/runqueue/ops.h"

char _license[] SEC("license") = "GPL";

#define NOBODY_EXPIRED (WORST_NICE + 1)

static bool policy_balances_like_2_6_20(void)
{
	return era == ERA_2_6_20;
}

static u32 weight(s32 static_prio)
{
	return era == ERA_2_6_8 ? LOAD_OF_ONE : LOAD_OF_ONE * full_slice(static_prio) / MS(100);
}

static void policy_init_task(struct task_struct *p, struct task_state *t)
{
	t->policy.slice_ns = full_slice(t->static_prio);
	set_level(t, rq_of(scx_bpf_task_cpu(p)), t->static_prio);
	t->weight = weight(t->static_prio);
}

static void policy_fork(struct task_struct *p, struct task_state *t, struct task_struct *parent,
			struct task_state *from)
{
	u64 step = max_sleep_avg() / MAX_BONUS;
	u32 bonus = bonus_of(&from->policy);

	charge(parent, from, rq_of(scx_bpf_task_cpu(parent)), scx_bpf_now());
	t->policy.first_slice = true;
	t->policy.sleep_avg = bonus * CHILD_PENALTY / 100 * step;
	from->policy.sleep_avg = bonus * step;
	if (from->policy.slice_ns > 0) {
		t->policy.slice_ns = (from->policy.slice_ns + 1) >> 1;
		from->policy.slice_ns >>= 1;
	} else {
		/*
		 * The tick that finds the slice used up has not come yet; in the original the
		 * parent has a tick left.
		 */
		t->policy.slice_ns = MS(1);
	}
	set_level(t, rq_of(scx_bpf_task_cpu(parent)), priority(t));
}

static bool policy_child_runs_first(const struct task_struct *p)
{
	return era == ERA_2_6_8 || p->mm != bpf_get_current_task_btf()->mm;
}

static void policy_wake(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			u64 slept_ns)
{
	struct policy_task *task = &t->policy;

	task->woken = task->slept_uninterruptibly ? BY_DISK : NOT_WOKEN;
	credit_sleep(p, t, slept_ns);
	if (task->woken == NOT_WOKEN)
		task->woken = in_interrupt() ? BY_INTERRUPT : BY_TASK;
	set_level(t, rq, priority(t));
	if (era == ERA_2_6_20 && p->policy == SCHED_BATCH)
		t->array = rq->active ^ 1;
}

static void policy_running(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			   u64 waited_ns)
{
	struct policy_task *task = &t->policy;

	rq->policy.curr_static_prio = t->static_prio;
	if (task->woken == BY_INTERRUPT || task->woken == BY_TASK) {
		credit_sleep(p,
			     t,
			     task->woken == BY_INTERRUPT ? waited_ns
							 : CREDIT_FOR_WAITING(waited_ns));
		set_level(t, rq, priority(t));
	}
	task->woken = NOT_WOKEN;
}

static void policy_charge(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			  u64 ran_ns)
{
	t->policy.slice_ns -= ran_ns;
}

/* Whether interactive tasks have made those in the expired queue wait for too long. */
static bool is_starving(const struct runqueue *rq, u64 now)
{
	const struct policy_runqueue *expired = &rq->policy;
	u64 limit = max_sleep_avg() * rq->nr + (era == ERA_2_6_8 ? MS(1) : 0);

	return expired->curr_static_prio > expired->best_expired ||
	       (expired->expired_since && elapsed(expired->expired_since, now) >= limit);
}

static void expire(struct task_state *t, struct runqueue *rq, u64 now)
{
	struct policy_task *task = &t->policy;
	u64 full = full_slice(t->static_prio);

	/* A slice ends on a tick, which may be late; the excess is taken from the next slice. */
	task->slice_ns += full;
	if (task->slice_ns < (s64)MS(1))
		task->slice_ns = MS(1);
	task->first_slice = false;
	set_level(t, rq, priority(t));
	t->place = PLACE_TAIL;
	if (!rq->policy.expired_since)
		rq->policy.expired_since = now;
	if (is_interactive(t)) {
		if (!is_starving(rq, now)) {
			count(interactive_refills);
			return;
		}
		count(starved_expiries);
	}
	t->array = rq->active ^ 1;
	if (t->static_prio < rq->policy.best_expired)
		rq->policy.best_expired = t->static_prio;
}

/* Return how much of its slice an interactive task may use before its equals get a turn. */
static u64 until_turn(const struct task_state *t)
{
	u64 slice = t->policy.slice_ns, full = full_slice(t->static_prio), turn = granularity(t);
	u64 used = full > slice ? full - slice : 0, left = turn - used % turn;

	return slice >= left + turn ? left : slice;
}

static u64 policy_run_ns(const struct task_state *t, const struct runqueue *rq)
{
	if (t->policy.slice_ns <= 0)
		return 0;
	return is_interactive(t) ? until_turn(t) : t->policy.slice_ns;
}

/* Whether the run that ends @now went past the end of a turn, with enough left for another. */
static bool turn_is_over(const struct task_state *t, u64 now)
{
	u64 slice = t->policy.slice_ns, full = full_slice(t->static_prio), turn = granularity(t);
	u64 used = full > slice ? full - slice : 0, ran = elapsed(t->stamp, now);
	u64 before = used > ran ? used - ran : 0;

	return slice >= turn && used / turn > before / turn;
}

static void policy_settle(struct task_struct *p, struct task_state *t, struct runqueue *rq, u64 now)
{
	if (t->policy.slice_ns <= 0) {
		expire(t, rq, now);
	} else if (is_interactive(t) && turn_is_over(t, now)) {
		t->place = PLACE_TAIL;
		if (era == ERA_2_6_8)
			set_level(t, rq, priority(t));
		count(granularity_turns);
	}
}

/* Return what a parent lent to a child that never used up a slice, and let it learn from it. */
static void return_slice(struct task_struct *p, struct task_state *t)
{
	struct task_struct *parent = bpf_task_from_pid(BPF_CORE_READ(p, real_parent, pid));
	struct task_state *to;
	u64 most;

	if (!parent)
		return;
	to = state_of(parent);
	if (to && t->policy.first_slice && t->policy.slice_ns > 0 &&
	    (era == ERA_2_6_8 || scx_bpf_task_cpu(p) == scx_bpf_task_cpu(parent))) {
		most = era == ERA_2_6_8 ? MS(200) : full_slice(t->static_prio);
		to->policy.slice_ns += t->policy.slice_ns;
		if (to->policy.slice_ns > (s64)most)
			to->policy.slice_ns = most;
	}
	if (to && t->policy.sleep_avg < to->policy.sleep_avg)
		to->policy.sleep_avg = (EXIT_WEIGHT * to->policy.sleep_avg + t->policy.sleep_avg) /
				       (EXIT_WEIGHT + 1);
	bpf_task_release(parent);
}

static void policy_stopping(struct task_struct *p, struct task_state *t, u32 state, u64 ran_ns)
{
	/* Only here: at a tick its bonus is still that with which it got the CPU. */
	charge_run(&t->policy, ran_ns);
	lose_credit(&t->policy);
	if (state & TASK_DEAD)
		return_slice(p, t);
	t->policy.slept_uninterruptibly = is_uninterruptible(state);
}

static void policy_yield(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	t->array = rq->active ^ 1;
	t->place = PLACE_TAIL;
}

/* The original forgets the bonus here, until the level is computed the next time. */
static void policy_renice(struct task_struct *p, struct task_state *t, struct runqueue *rq, s32 by)
{
	set_level(t, rq, t->static_prio);
	t->weight = weight(t->static_prio);
}

/* 2.6.20: a batch task has no bonus and waits for the next epoch; the others for this one. */
static void policy_reclass(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	bool is_batch = p->policy == SCHED_BATCH;

	if (era != ERA_2_6_20)
		return;
	if (is_batch)
		t->policy.sleep_avg = 0;
	set_level(t, rq, priority(t));
	t->array = is_batch ? rq->active ^ 1 : rq->active;
}

static void policy_begin_epoch(struct runqueue *rq)
{
	rq->policy.expired_since = 0;
	rq->policy.best_expired = NOBODY_EXPIRED;
	/* A CPU that goes idle comes here too. */
	if (rq->nr)
		count(epochs);
}

SCHEDULER("Active and expired queues per CPU, slices by nice, bonuses for sleepers (Linux 2.6.8, "
	  "2.6.20).")
HEARS_OF_HIGHER_CLASSES
SCX_OPS_DEFINE(o1_ops, RUNQUEUE_OPS, .name = "o1");
