/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFS_DEADLINE_H
#define BFS_DEADLINE_H

#include "state.h"
#include "include/policies.h"

#define MAX_RT_PRIO 100
#define NICE_WIDTH  40

/* The original divides by shifting: its millisecond is 2^20 ns and its microsecond 2^10 ns. */
#define MS(n) ((u64)(n) << 20)
#define US(n) ((u64)(n) << 10)

/* Less than this is not worth a context switch; the task gets a new quota instead. */
#define QUOTA_USED_UP US(100)
/* A parent with less than this has nothing to share with its child. */
#define QUOTA_TOO_SMALL_TO_SHARE US(200)

PARAMETER("ms", "1..1000",
	  "How long a task may run before it gets a new deadline; more means fewer switches and "
	  "longer waits.")
TURN volatile u32 rr_interval_ms = 6;

/* Each nice level waits a tenth longer than the one before it: 128 at nice -20, times 11/10. */
/* clang-format off */
#define RATIO(n, before) RATIO_##n = RATIO_##before * 11 / 10
enum {
	RATIO_0 = 128,
	RATIO(1, 0), RATIO(2, 1), RATIO(3, 2), RATIO(4, 3), RATIO(5, 4), RATIO(6, 5), RATIO(7, 6),
	RATIO(8, 7), RATIO(9, 8), RATIO(10, 9), RATIO(11, 10), RATIO(12, 11), RATIO(13, 12),
	RATIO(14, 13), RATIO(15, 14), RATIO(16, 15), RATIO(17, 16), RATIO(18, 17), RATIO(19, 18),
	RATIO(20, 19), RATIO(21, 20), RATIO(22, 21), RATIO(23, 22), RATIO(24, 23), RATIO(25, 24),
	RATIO(26, 25), RATIO(27, 26), RATIO(28, 27), RATIO(29, 28), RATIO(30, 29), RATIO(31, 30),
	RATIO(32, 31), RATIO(33, 32), RATIO(34, 33), RATIO(35, 34), RATIO(36, 35), RATIO(37, 36),
	RATIO(38, 37), RATIO(39, 38),
};

const volatile u32 prio_ratios[NICE_WIDTH] = {
	RATIO_0,  RATIO_1,  RATIO_2,  RATIO_3,  RATIO_4,  RATIO_5,  RATIO_6,  RATIO_7,
	RATIO_8,  RATIO_9,  RATIO_10, RATIO_11, RATIO_12, RATIO_13, RATIO_14, RATIO_15,
	RATIO_16, RATIO_17, RATIO_18, RATIO_19, RATIO_20, RATIO_21, RATIO_22, RATIO_23,
	RATIO_24, RATIO_25, RATIO_26, RATIO_27, RATIO_28, RATIO_29, RATIO_30, RATIO_31,
	RATIO_32, RATIO_33, RATIO_34, RATIO_35, RATIO_36, RATIO_37, RATIO_38, RATIO_39,
};
/* clang-format on */

/* The original's "niffies": one clock for all CPUs that never goes back. */
static u64 niffies(void)
{
	return bpf_ktime_get_ns();
}

static u64 full_quota(void)
{
	return MS(rr_interval_ms);
}

static u64 deadline_offset(s32 static_prio)
{
	u32 nice_level = static_prio - MAX_RT_PRIO;

	if (nice_level >= NICE_WIDTH)
		nice_level = NICE_WIDTH - 1;
	return prio_ratios[nice_level] * full_quota() / RATIO_0;
}

static void renew(struct task_struct *p, struct task_state *t, u64 now)
{
	t->quota_ns = full_quota();
	t->deadline = now + deadline_offset(p->static_prio);
}

static void charge(struct task_state *t, u64 now)
{
	u64 ran = time_after(now, t->charged_at) ? now - t->charged_at : 0;

	t->quota_ns -= ran < t->quota_ns ? ran : t->quota_ns;
	t->charged_at = now;
}

static void deschedule(struct task_struct *p, struct task_state *t, u64 now)
{
	charge(t, now);
	if (t->quota_ns < QUOTA_USED_UP || p->policy == SCHED_BATCH) {
		renew(p, t, now);
		count(renewals);
	}
}

/* Halve what @parent has left; one without enough stops, and its child starts afresh. */
static void inherit(struct task_struct *p, struct task_state *t, struct task_struct *parent,
		    u64 now)
{
	struct task_state *from = state_of(parent);

	if (!from)
		return;
	t->iso = from->iso;
	if (!from->running)
		return;
	charge(from, now);
	if (from->quota_ns < QUOTA_TOO_SMALL_TO_SHARE) {
		from->quota_ns = 0;
		scx_bpf_kick_cpu(scx_bpf_task_cpu(parent), SCX_KICK_PREEMPT);
		return;
	}
	from->quota_ns /= 2;
	t->quota_ns = from->quota_ns;
	t->deadline = from->deadline;
}

#endif
