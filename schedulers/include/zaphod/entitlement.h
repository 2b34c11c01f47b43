/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_ZAPHOD_ENTITLEMENT_H
#define RUNOFF_ZAPHOD_ENTITLEMENT_H

#include "bonus.h"

/* The level of a task that uses as much per share as the yardstick. */
#define LEVEL_OF_YARDSTICK 119

/* Return the shares of a nice value: 100 at nice 0, 1 at 19, 10000 at -20. */
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

/* More decays would make no difference: less than a 20,000th is left. */
#define MOST_DECAYS 1000

/* The yardstick decays once a slice, also in slices in which no task ran. */
static void decay_yardstick(struct zaphod_cpu *cpu, u64 now)
{
	u64 slice = MS(time_slice), due;
	u32 decays;

	if (time_before(now, cpu->yardstick_decays_at))
		return;
	due = (now - cpu->yardstick_decays_at) / slice + 1;
	cpu->yardstick_decays_at += due * slice;
	bpf_for(decays, 0, due < MOST_DECAYS ? due : MOST_DECAYS)
		cpu->yardstick = (u64)cpu->yardstick * of_thousand(990) >> 24;
}

/* Compare what @task uses per share with the yardstick: less is a better level. */
static void update_entitlement(struct zaphod_task *task, s32 static_prio, struct zaphod_cpu *cpu,
			       u64 now)
{
	u32 usage = task->usage < task->soft_cap ? task->usage : task->soft_cap;

	decay_yardstick(cpu, now);
	task->usage_per_share = usage / shares_of(static_prio);
	if (task->usage_per_share > cpu->yardstick)
		become_yardstick(task, cpu, now);
	else if (!task->usage_per_share)
		task->entitled_level = BEST_LEVEL;
	else
		task->entitled_level =
			BEST_LEVEL + scale_round(ratio(task->usage_per_share, cpu->yardstick), 19);
}

/* On a tick: a running task that uses more than the decayed yardstick becomes the new one. */
static void hold_yardstick(struct zaphod_task *running, struct zaphod_cpu *cpu, u64 now)
{
	if (time_before(now, cpu->yardstick_decays_at))
		return;
	decay_yardstick(cpu, now);
	if (running->soft_cap && running->usage_per_share > cpu->yardstick)
		become_yardstick(running, cpu, now);
}

#endif
