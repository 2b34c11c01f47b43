/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ZAPHOD by Peter Williams (2004), version 4.1 with the soft caps of 5.0: one priority array per
 * CPU, promotion, and bonuses that are measured, not guessed. docs/schedulers/zaphod.md describes
 * the idea, the limits of sched_ext, and every deviation.
 */
#include <scx/common.bpf.h>

#define TOTAL_BONUS	      19
#define MAX_IA_BONUS	      10
#define MAX_IA_RANGE	      "0..10"
#define MAX_TPT_BONUS	      5
#define MAX_TPT_RANGE	      "0..9"
#define PROMOTION_INTERVAL_MS 110
#define SECOND_ARRAY	      BACKGROUND

/* Hooks of include/runqueue/policy.h whose defaults this scheduler replaces. */
#define policy_tick policy_tick

#include "include/zaphod/state.h"

struct policy_task {
	struct zaphod_task zaphod;
};

struct policy_runqueue {
	struct zaphod_cpu zaphod;
};

struct zaphod_stats {
	ZAPHOD_STATISTICS
	STATISTIC("Slices used up.")
	u64 expiries;
};

STATISTICS(zaphod_stats)

#include "include/zaphod/rules.h"
#include "include/runqueue/promotion.h"
#include "include/runqueue/ops.h"

char _license[] SEC("license") = "GPL";

enum { MODE_PB, MODE_EB };

CHOICE("pb, eb",
       "pb orders tasks by nice and bonuses; eb by what they have used of the shares that nice "
       "gives them, and bonuses.")
volatile u32 mode = MODE_PB;

CHOICE("coded, documented",
       "coded promotes at the base interval, as the published code does; documented makes it "
       "longer with the number of tasks, as the announcements say.")
volatile u32 promotion = PROMOTION_CODED;

static bool policy_stands_by_entitlement(void)
{
	return mode == MODE_EB;
}

static void stand(const struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	t->array = is_background(&t->policy.zaphod);
	set_level(t, rq, zaphod_level(p, &t->policy.zaphod, t->static_prio));
}

static void policy_init_task(struct task_struct *p, struct task_state *t)
{
	zaphod_begin(&t->policy.zaphod);
	set_level(
		t, rq_of(scx_bpf_task_cpu(p)), zaphod_level(p, &t->policy.zaphod, t->static_prio));
}

static void policy_fork(struct task_struct *p, struct task_state *t, struct task_struct *parent,
			struct task_state *from)
{
	zaphod_forked(&t->policy.zaphod, &from->policy.zaphod);
}

static bool policy_child_runs_first(const struct task_struct *p)
{
	return true;
}

static void policy_wake(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			u64 slept_ns)
{
	zaphod_woke(p, &t->policy.zaphod, t->static_prio, &rq->policy.zaphod, slept_ns);
	stand(p, t, rq);
}

static void policy_running(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			   u64 waited_ns)
{
	zaphod_waited(&t->policy.zaphod, waited_ns);
}

static void policy_charge(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			  u64 ran_ns)
{
	zaphod_ran(&t->policy.zaphod, ran_ns);
	t->policy.zaphod.slice_ns -= ran_ns;
}

static u64 policy_run_ns(const struct task_state *t, const struct runqueue *rq)
{
	return t->policy.zaphod.slice_ns > 0 ? t->policy.zaphod.slice_ns : 0;
}

static void policy_settle(struct task_struct *p, struct task_state *t, struct runqueue *rq, u64 now)
{
	if (t->policy.zaphod.slice_ns > 0)
		return;
	zaphod_expired(p, &t->policy.zaphod, t->static_prio, &rq->policy.zaphod);
	stand(p, t, rq);
	t->place = PLACE_TAIL;
	count(expiries);
}

static void policy_stopping(struct task_struct *p, struct task_state *t, u32 state, u64 ran_ns)
{
	zaphod_stopped(&t->policy.zaphod, state, ran_ns);
}

static void policy_tick(struct task_struct *p, struct task_state *t, struct runqueue *rq, u64 now)
{
	zaphod_tick(&t->policy.zaphod, &rq->policy.zaphod, rq->nr, now);
	promote_when_due(rq, promotion, MS(base_promotion_interval), now);
}

/* A task that yields goes behind all tasks of the next level on which any waits. */
static void policy_yield(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	join_next_level(t, rq);
}

static void policy_renice(struct task_struct *p, struct task_state *t, struct runqueue *rq, s32 by)
{
	shift_level(t, rq, by, WORST_CAPPED_LEVEL);
}

SCHEDULER("One priority array per CPU with promotion and measured bonuses (Peter Williams, 2004).")
HEARS_OF_HIGHER_CLASSES
SCX_OPS_DEFINE(zaphod_ops, RUNQUEUE_OPS, .name = "zaphod");
