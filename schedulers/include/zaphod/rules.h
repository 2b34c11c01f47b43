/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_ZAPHOD_RULES_H
#define RUNOFF_ZAPHOD_RULES_H

#include "entitlement.h"
#include "policy.h"

/* The worst level of tasks that are over their cap; only the background is behind it. */
#define WORST_CAPPED_LEVEL (WORST_NICE + TOTAL_BONUS)

static void zaphod_begin(struct zaphod_task *task)
{
	task->slice_ns = MS(time_slice);
	task->sleepiness = WHOLE;
	task->soft_cap = WHOLE;
	task->entitled_level = BEST_LEVEL;
	task->ia_bonus = initial_ia_bonus < max_ia_bonus ? initial_ia_bonus : max_ia_bonus;
}

static void find_cap(const struct task_struct *p, struct zaphod_task *task)
{
	if (capped_process && p->tgid == capped_process)
		task->soft_cap = of_thousand(soft_cap);
}

/* Whether a task has no allowance at all. One that may hold a lock after a disk wait goes on. */
static bool is_background(const struct zaphod_task *task)
{
	return !task->soft_cap && !task->slept_uninterruptibly;
}

/* The published code gives a task that exceeds its cap by more a better level; see zaphod.md 9. */
static u32 capped_level(const struct zaphod_task *task, s32 static_prio)
{
	u32 rest = ratio(task->soft_cap, task->usage);

	if (policy_stands_by_entitlement())
		return WORST_CAPPED_LEVEL - scale_round(rest, 20);
	return WORST_CAPPED_LEVEL - ((u64)(WHOLE - rest) * (WORST_NICE + 1 - static_prio) >> 24);
}

static u32 zaphod_level(const struct task_struct *p, const struct zaphod_task *task,
			s32 static_prio)
{
	u32 base = policy_stands_by_entitlement() ? task->entitled_level : static_prio;

	if (!is_user(p))
		return base;
	if (task->usage > task->soft_cap)
		return capped_level(task, static_prio);
	return base + TOTAL_BONUS - visible_ia_bonus(task) - task->tpt_bonus;
}

/* Set what follows from the averages of @task, after they were evaluated. */
static void reconsider(const struct task_struct *p, struct zaphod_task *task, s32 static_prio,
		       struct zaphod_cpu *cpu)
{
	find_cap(p, task);
	if (policy_stands_by_entitlement())
		update_entitlement(task, static_prio, cpu, scx_bpf_now());
	update_tpt_bonus(task, cpu->nr_running);
}

static void zaphod_woke(const struct task_struct *p, struct zaphod_task *task, s32 static_prio,
			struct zaphod_cpu *cpu, u64 slept_ns)
{
	task->sleep_ns += slept_ns;
	task->totals.sleep_ns += slept_ns;
	task->totals.cycles++;
	task->totals.interrupt_wakeups += in_interrupt();
	evaluate(task);
	gain_ia_bonus(task);
	reconsider(p, task, static_prio, cpu);
	task->slice_ns = MS(time_slice);
}

static void zaphod_waited(struct zaphod_task *task, u64 waited_ns)
{
	task->delay_ns += waited_ns;
	task->totals.delay_ns += waited_ns;
	count_by(delay_ns, waited_ns);
}

static void zaphod_ran(struct zaphod_task *task, u64 ran_ns)
{
	task->cpu_ns += ran_ns;
	task->totals.cpu_ns += ran_ns;
}

static void zaphod_stopped(struct zaphod_task *task, u32 state, u64 ran_ns)
{
	task->slept_uninterruptibly = is_uninterruptible(state);
	if (state)
		task->totals.voluntary_switches++;
	else
		task->totals.involuntary_switches++;
	count_by(busy_ns, ran_ns);
}

static void zaphod_expired(const struct task_struct *p, struct zaphod_task *task, s32 static_prio,
			   struct zaphod_cpu *cpu)
{
	evaluate(task);
	lose_ia_bonus(task);
	reconsider(p, task, static_prio, cpu);
	task->slept_uninterruptibly = false;
	/* A slice ends on a tick, which may be late; the excess is taken from the next slice. */
	task->slice_ns += MS(time_slice);
	if (task->slice_ns < (s64)MS(1) || task->slice_ns > (s64)MS(time_slice))
		task->slice_ns = MS(time_slice);
}

static void zaphod_forked(struct zaphod_task *task, const struct zaphod_task *parent)
{
	task->soft_cap = parent->soft_cap;
	task->entitled_level = parent->entitled_level;
}

static void zaphod_tick(struct zaphod_task *running, struct zaphod_cpu *cpu, u32 nr, u64 now)
{
	sample_nr_running(cpu, nr, now);
	if (policy_stands_by_entitlement())
		hold_yardstick(running, cpu, now);
}

#endif
