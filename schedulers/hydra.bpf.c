/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HYDRA by Peter Williams (2004): the staircase and both of ZAPHOD's modes in one scheduler, chosen
 * while it runs. docs/schedulers/hydra.md describes the idea, the limits of sched_ext, and every
 * deviation.
 */
#include <scx/common.bpf.h>

#define TOTAL_BONUS	      17
#define MAX_IA_BONUS	      9
#define MAX_IA_RANGE	      "0..9"
#define MAX_TPT_BONUS	      4
#define MAX_TPT_RANGE	      "0..8"
#define PROMOTION_INTERVAL_MS 255
#define STAIRCASE_INTERACTIVE 1
#define SECOND_ARRAY	      BACKGROUND

/* Hooks of include/runqueue/policy.h whose defaults this scheduler replaces. */
#define policy_preempts policy_preempts
#define policy_tick	policy_tick
#define policy_reclass	policy_reclass

#include "include/staircase/state.h"
#include "include/zaphod/state.h"

struct policy_task {
	struct staircase_task staircase;
	struct zaphod_task zaphod;
};

struct policy_runqueue {
	struct staircase_cpu staircase;
	struct zaphod_cpu zaphod;
};

struct hydra_stats {
	ZAPHOD_STATISTICS
	STATISTIC("Slices and stairs used up.")
	u64 expiries;
};

STATISTICS(hydra_stats)

#include "include/staircase/rules.h"
#include "include/zaphod/rules.h"
#include "include/runqueue/promotion.h"
#include "include/runqueue/ops.h"

char _license[] SEC("license") = "GPL";

enum { MODE_SC, MODE_PB, MODE_EB };

CHOICE("sc, pb, eb",
       "sc is the staircase; pb and eb are the modes of zaphod. A change takes hold of each task "
       "when it next wakes or has used up its slice.")
volatile u32 mode = MODE_SC;

CHOICE("coded, documented",
       "coded promotes at the base interval, as the published code does; documented makes it "
       "longer with the number of tasks, as the announcements say.")
volatile u32 promotion = PROMOTION_CODED;

PARAMETER("1", "1..100", "How many slices in one a task of SCHED_BATCH or SCHED_IDLE gets.")
TURNS_IN_ONE volatile u32 batch_time_slice_multiplier = 10;

static bool policy_stands_by_entitlement(void)
{
	return mode == MODE_EB;
}

/*
 * Whether @p runs only when no other task wants to: HYDRA's SCHED_BATCH, which is that of -ck.
 * Today's SCHED_IDLE is the same, and must not come before it.
 */
static bool is_background_policy(const struct task_struct *p)
{
	return p->policy == SCHED_BATCH || p->policy == SCHED_IDLE;
}

static void stand(const struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	struct policy_task *task = &t->policy;
	u32 level = mode == MODE_SC ? staircase_level(&task->staircase, t->static_prio)
				    : zaphod_level(p, &task->zaphod, t->static_prio);

	t->array = is_background_policy(p) || (mode != MODE_SC && is_background(&task->zaphod));
	set_level(t, rq, level);
}

static void policy_init_task(struct task_struct *p, struct task_state *t)
{
	staircase_begin(&t->policy.staircase, t->static_prio);
	zaphod_begin(&t->policy.zaphod);
	set_level(t, rq_of(scx_bpf_task_cpu(p)), t->static_prio);
}

static void policy_fork(struct task_struct *p, struct task_state *t, struct task_struct *parent,
			struct task_state *from)
{
	staircase_forked(&t->policy.staircase, &from->policy.staircase);
	zaphod_forked(&t->policy.zaphod, &from->policy.zaphod);
}

static bool policy_child_runs_first(const struct task_struct *p)
{
	return mode != MODE_SC;
}

static void lengthen_background(const struct task_struct *p, struct task_state *t)
{
	if (is_background_policy(p)) {
		t->policy.zaphod.slice_ns = MS(time_slice) * batch_time_slice_multiplier;
		t->policy.staircase.stair_ns = interval() * batch_time_slice_multiplier;
	}
}

/* Both sets of rules learn from every sleep, whichever of them decides. */
static void policy_wake(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			u64 slept_ns)
{
	staircase_woke(&t->policy.staircase, t->static_prio, slept_ns);
	zaphod_woke(p, &t->policy.zaphod, t->static_prio, &rq->policy.zaphod, slept_ns);
	lengthen_background(p, t);
	stand(p, t, rq);
}

static bool policy_preempts(const struct task_struct *p, const struct task_state *t,
			    struct runqueue *rq)
{
	struct staircase_cpu *cpu = &rq->policy.staircase;
	u64 now = scx_bpf_now();

	if (precedes(t, rq))
		return mode != MODE_SC || !staircase_delays(p, cpu, now);
	return mode == MODE_SC && equals(t, rq) &&
	       has_longer_stair(&t->policy.staircase, t->static_prio, cpu, now) &&
	       !staircase_delays(p, cpu, now);
}

static void policy_running(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			   u64 waited_ns)
{
	zaphod_waited(&t->policy.zaphod, waited_ns);
	if (t->policy.staircase.yielded) {
		t->policy.staircase.yielded = false;
		stand(p, t, rq);
	}
	staircase_picked(&t->policy.staircase, &rq->policy.staircase, scx_bpf_now());
}

static void policy_charge(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			  u64 ran_ns)
{
	zaphod_ran(&t->policy.zaphod, ran_ns);
	if (mode != MODE_SC) {
		t->policy.zaphod.slice_ns -= ran_ns;
	} else {
		t->policy.staircase.slice_ns -= ran_ns;
		t->policy.staircase.stair_ns -= ran_ns;
	}
}

static u64 policy_run_ns(const struct task_state *t, const struct runqueue *rq)
{
	if (mode == MODE_SC)
		return staircase_run_ns(&t->policy.staircase);
	return t->policy.zaphod.slice_ns > 0 ? t->policy.zaphod.slice_ns : 0;
}

static void policy_settle(struct task_struct *p, struct task_state *t, struct runqueue *rq, u64 now)
{
	if (mode == MODE_SC) {
		if (!staircase_settle(&t->policy.staircase, t->static_prio))
			return;
	} else {
		if (t->policy.zaphod.slice_ns > 0)
			return;
		zaphod_expired(p, &t->policy.zaphod, t->static_prio, &rq->policy.zaphod);
	}
	lengthen_background(p, t);
	stand(p, t, rq);
	t->place = PLACE_TAIL;
	count(expiries);
}

static void policy_stopping(struct task_struct *p, struct task_state *t, u32 state, u64 ran_ns)
{
	t->policy.staircase.ran_ns = ran_ns;
	t->policy.staircase.slept_uninterruptibly = is_uninterruptible(state);
	zaphod_stopped(&t->policy.zaphod, state, ran_ns);
}

static void policy_tick(struct task_struct *p, struct task_state *t, struct runqueue *rq, u64 now)
{
	if (mode == MODE_SC && staircase_preempts_late(&rq->policy.staircase, now))
		scx_bpf_task_set_slice(p, 0);
	zaphod_tick(&t->policy.zaphod, &rq->policy.zaphod, rq->nr, now);
	promote_when_due(rq, promotion, MS(base_promotion_interval), now);
}

static void policy_yield(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	if (mode != MODE_SC) {
		join_next_level(t, rq);
		return;
	}
	staircase_yields(&t->policy.staircase, t->static_prio);
	set_level(t, rq, WORST_NICE);
	t->place = PLACE_TAIL;
}

static void policy_renice(struct task_struct *p, struct task_state *t, struct runqueue *rq, s32 by)
{
	shift_level(t, rq, by, mode == MODE_SC ? WORST_NICE : WORST_CAPPED_LEVEL);
}

static void policy_reclass(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	stand(p, t, rq);
}

SCHEDULER("Staircase, priorities or entitlements, chosen while it runs (Peter Williams, 2004).")
HEARS_OF_HIGHER_CLASSES
SCX_OPS_DEFINE(hydra_ops, RUNQUEUE_OPS, .name = "hydra");
