/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The staircase scheduler by Con Kolivas, version 7 (2004): no estimate of interactivity, only a
 * way down from the level of a task's nice value and back up. docs/schedulers/staircase.md
 * describes the idea, the limits of sched_ext, and every deviation.
 */
#include <scx/common.bpf.h>

#define STAIRCASE_INTERACTIVE 1
#define SECOND_ARRAY	      NOTHING

/* Hooks of include/runqueue/policy.h whose defaults this scheduler replaces. */
#define policy_preempts policy_preempts
#define policy_tick	policy_tick

#include "include/runqueue/statistics.h"
#include "include/staircase/state.h"

struct policy_task {
	struct staircase_task staircase;
};

struct policy_runqueue {
	struct staircase_cpu staircase;
};

struct staircase_stats {
	RUNQUEUE_STATISTICS
	STATISTIC("Times all that waited on a CPU were moved up one level (promotion).")
	u64 promotions;
	STATISTIC("Times a task came to the end of a stair or of its round.")
	u64 stairs;
};

STATISTICS(staircase_stats)

#include "include/staircase/rules.h"
#include "include/runqueue/promotion.h"
#include "include/runqueue/ops.h"

char _license[] SEC("license") = "GPL";

CHOICE("coded, documented, none",
       "none is the plain staircase. coded and documented are its single-array variant, which "
       "moves all that wait up one level at the base interval, or at that times the number of "
       "other tasks.")
volatile u32 promotion = PROMOTION_NONE;

PARAMETER("ms", "1..10000", "Time between two promotions.")
volatile u32 base_promotion_interval = 255;

static void stand(struct task_state *t, struct runqueue *rq)
{
	set_level(t, rq, staircase_level(&t->policy.staircase, t->static_prio));
}

static void policy_init_task(struct task_struct *p, struct task_state *t)
{
	staircase_begin(&t->policy.staircase, t->static_prio);
	set_level(t, rq_of(scx_bpf_task_cpu(p)), t->static_prio);
}

static void policy_fork(struct task_struct *p, struct task_state *t, struct task_struct *parent,
			struct task_state *from)
{
	staircase_forked(&t->policy.staircase, &from->policy.staircase);
}

static bool policy_child_runs_first(const struct task_struct *p)
{
	return false;
}

static void policy_wake(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			u64 slept_ns)
{
	staircase_woke(&t->policy.staircase, t->static_prio, slept_ns);
	stand(t, rq);
}

static bool policy_preempts(const struct task_struct *p, const struct task_state *t,
			    struct runqueue *rq)
{
	struct staircase_cpu *cpu = &rq->policy.staircase;
	u64 now = scx_bpf_now();

	if (!precedes(t, rq) &&
	    !(equals(t, rq) && has_longer_stair(&t->policy.staircase, t->static_prio, cpu, now)))
		return false;
	return !staircase_delays(p, cpu, now);
}

static void policy_running(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			   u64 waited_ns)
{
	if (t->policy.staircase.yielded) {
		t->policy.staircase.yielded = false;
		stand(t, rq);
	}
	staircase_picked(&t->policy.staircase, &rq->policy.staircase, scx_bpf_now());
}

static void policy_charge(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			  u64 ran_ns)
{
	t->policy.staircase.slice_ns -= ran_ns;
	t->policy.staircase.stair_ns -= ran_ns;
}

static u64 policy_run_ns(const struct task_state *t, const struct runqueue *rq)
{
	return staircase_run_ns(&t->policy.staircase);
}

static void policy_settle(struct task_struct *p, struct task_state *t, struct runqueue *rq, u64 now)
{
	if (!staircase_settle(&t->policy.staircase, t->static_prio))
		return;
	stand(t, rq);
	t->place = PLACE_TAIL;
	count(stairs);
}

static void policy_stopping(struct task_struct *p, struct task_state *t, u32 state, u64 ran_ns)
{
	t->policy.staircase.ran_ns = ran_ns;
	t->policy.staircase.slept_uninterruptibly = is_uninterruptible(state);
}

static void policy_tick(struct task_struct *p, struct task_state *t, struct runqueue *rq, u64 now)
{
	if (staircase_preempts_late(&rq->policy.staircase, now))
		scx_bpf_task_set_slice(p, 0);
	promote_when_due(rq, promotion, MS(base_promotion_interval), now);
}

/* A task that yields goes behind all others, and to its proper level when it runs again. */
static void policy_yield(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	staircase_yields(&t->policy.staircase, t->static_prio);
	set_level(t, rq, WORST_NICE);
	t->place = PLACE_TAIL;
}

static void policy_renice(struct task_struct *p, struct task_state *t, struct runqueue *rq, s32 by)
{
	shift_level(t, rq, by, WORST_NICE);
}

SCHEDULER("Down one level for each interval used, and back up (Con Kolivas's staircase, 2004).")
HEARS_OF_HIGHER_CLASSES
SCX_OPS_DEFINE(staircase_ops, RUNQUEUE_OPS, .name = "staircase");
