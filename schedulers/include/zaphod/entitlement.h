/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_ZAPHOD_ENTITLEMENT_H
#define RUNOFF_ZAPHOD_ENTITLEMENT_H

#include "bonus.h"

/* Where a task stands that has as much per share as the yardstick. */
#define LEVEL_OF_YARDSTICK 119

/* 100 at nice 0, 1 at 19, 10000 at -20. */
static u32 shares_of(s32 static_prio)
{
	u32 below = static_prio - NICE_0, above = NICE_0 - static_prio;

	if (static_prio >= NICE_0)
		return 100 - 99 * below / 19;
	return 100 + 495 * above * above / 20;
}

static void become_yardstick(struct zaphod_task *task, struct zaphod_cpu *cpu, u64 now)
{
	cpu->yardstick = task->usage_per_share;
	task->entitled_level = LEVEL_OF_YARDSTICK;
	cpu->yardstick_decays_at = now + MS(time_slice);
}

/* Compare what @task has used per share with who has most: who has little comes first. */
static void update_entitlement(struct zaphod_task *task, s32 static_prio, struct zaphod_cpu *cpu,
			       u64 now)
{
	u32 usage = task->usage < task->soft_cap ? task->usage : task->soft_cap;

	task->usage_per_share = usage / shares_of(static_prio);
	if (task->usage_per_share > cpu->yardstick)
		become_yardstick(task, cpu, now);
	else if (!task->usage_per_share)
		task->entitled_level = BEST_LEVEL;
	else
		task->entitled_level =
			BEST_LEVEL + scale_round(ratio(task->usage_per_share, cpu->yardstick), 19);
}

/* On a tick: who had most is forgotten little by little, unless he is running right now. */
static void decay_yardstick(struct zaphod_task *running, struct zaphod_cpu *cpu, u64 now)
{
	if (time_before(now, cpu->yardstick_decays_at))
		return;
	cpu->yardstick_decays_at = now + MS(time_slice);
	cpu->yardstick = (u64)cpu->yardstick * of_thousand(990) >> 24;
	if (running->soft_cap && running->usage_per_share > cpu->yardstick)
		become_yardstick(running, cpu, now);
}

#endif
