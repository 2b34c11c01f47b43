/* SPDX-License-Identifier: GPL-2.0 */
#ifndef O1_INTERACTIVITY_H
#define O1_INTERACTIVITY_H

#include "state.h"
#include "include/runqueue/state.h"

enum { ERA_2_6_8, ERA_2_6_20 };

CHOICE("2.6.8, 2.6.20",
       "The Linux release whose rules hold. 2.6.8, and 2.6.7: slices of 10 to 200 ms, an "
       "interactive credit. 2.6.20, to 2.6.22: slices of 5 to 800 ms, balancing by weight.")
const volatile u32 era = ERA_2_6_8;

#define MAX_BONUS	  10
#define INTERACTIVE_DELTA 2
#define CREDIT_LIMIT	  100
#define GRANULARITY	  MS(10)
/* 30 %, as the original computes it. */
#define CREDIT_FOR_WAITING(ns) ((ns) * (30 * 128 / 100) / 128)
#define CHILD_PENALTY	       95
#define EXIT_WEIGHT	       3

/* Return the slice of an average task, the measure of all sleep. */
static u64 average_slice(void)
{
	return era == ERA_2_6_8 ? MS(102) : MS(100);
}

/* Return 1020 or 1000 ms: ten average slices make the full bonus of ten. */
static u64 max_sleep_avg(void)
{
	return MAX_BONUS * average_slice();
}

static u64 full_slice(s32 static_prio)
{
	u32 levels_below = WORST_NICE - static_prio, ms;

	if (era == ERA_2_6_8)
		return MS(10 + 190 * levels_below / 39);
	ms = (static_prio < NICE_0 ? 400 : 100) * (levels_below + 1) / 20;
	return MS(ms > 5 ? ms : 5);
}

static u32 bonus_of(const struct policy_task *task)
{
	return task->sleep_avg * MAX_BONUS / max_sleep_avg();
}

static u32 nonzero(u32 number)
{
	return number ? number : 1;
}

static u32 priority(const struct task_state *t)
{
	s32 level = t->static_prio - (s32)bonus_of(&t->policy) + MAX_BONUS / 2;

	return level < BEST_LEVEL ? BEST_LEVEL : level > WORST_NICE ? WORST_NICE : level;
}

/* Return how many levels above its static priority an interactive task must be rated. */
static s32 interactive_delta(s32 static_prio)
{
	u32 nice_level = static_prio - BEST_LEVEL, below = static_prio - NICE_0;

	if (era == ERA_2_6_20)
		return (s32)(nice_level * MAX_BONUS / 40) - MAX_BONUS / 2 + INTERACTIVE_DELTA;
	/* The original's division rounds towards zero. */
	if (static_prio < NICE_0)
		return INTERACTIVE_DELTA - (s32)(-below * MAX_BONUS / 40);
	return INTERACTIVE_DELTA + (s32)(below * MAX_BONUS / 40);
}

static bool is_interactive(const struct task_state *t)
{
	return (s32)priority(t) <= t->static_prio - interactive_delta(t->static_prio);
}

/* Return the longest sleep that does not by itself make a task interactive. */
static u64 interactive_sleep(s32 static_prio)
{
	return max_sleep_avg() * (MAX_BONUS / 2 + interactive_delta(static_prio) + 1) / MAX_BONUS -
	       MS(1);
}

/* Return the turn of interactive tasks of one level: shorter, the more interactive they are. */
static u64 granularity(const struct task_state *t)
{
	u32 bonus = bonus_of(&t->policy);
	u32 doublings = bonus < MAX_BONUS ? MAX_BONUS - bonus - 1 : 0;

	return (GRANULARITY << doublings) * cpus_online;
}

/* Sleep that was not the task's own choice makes it just interactive at most. */
static u64 clip(const struct task_state *t, u64 slept)
{
	u64 ceiling = interactive_sleep(t->static_prio), avg = t->policy.sleep_avg;

	if (avg >= ceiling)
		return 0;
	return avg + slept > ceiling ? ceiling - avg : slept;
}

static void credit_sleep_early(struct task_struct *p, struct task_state *t, u64 slept)
{
	struct policy_task *task = &t->policy;
	u64 most = max_sleep_avg(), own = full_slice(t->static_prio);

	slept = slept < most ? slept : most;
	if (!slept)
		return;
	if (is_user(p) && task->woken != BY_DISK && slept > interactive_sleep(t->static_prio)) {
		task->sleep_avg = most - average_slice();
		if (task->credit <= CREDIT_LIMIT)
			task->credit++;
		return;
	}
	slept *= nonzero(MAX_BONUS - bonus_of(task));
	if (task->credit < -CREDIT_LIMIT && slept > own)
		slept = own;
	if (is_user(p) && task->woken == BY_DISK && task->credit <= CREDIT_LIMIT)
		slept = clip(t, slept);
	task->sleep_avg += slept;
	if (task->sleep_avg > most) {
		task->sleep_avg = most;
		if (task->credit <= CREDIT_LIMIT)
			task->credit++;
	}
}

static void credit_sleep_late(struct task_struct *p, struct task_state *t, u64 slept)
{
	struct policy_task *task = &t->policy;
	u64 most = max_sleep_avg(), ceiling = interactive_sleep(t->static_prio);

	if (p->policy == SCHED_BATCH || !slept)
		return;
	if (is_user(p) && slept > ceiling && task->sleep_avg < ceiling) {
		task->sleep_avg = ceiling;
		task->woken = BY_DISK;
	} else {
		if (is_user(p) && task->woken == BY_DISK)
			slept = clip(t, slept);
		task->sleep_avg += slept;
	}
	if (task->sleep_avg > most)
		task->sleep_avg = most;
}

/* Count @slept_ns, asleep or waiting for the CPU, as a sign of interactivity. */
static void credit_sleep(struct task_struct *p, struct task_state *t, u64 slept_ns)
{
	if (era == ERA_2_6_8)
		credit_sleep_early(p, t, slept_ns);
	else
		credit_sleep_late(p, t, slept_ns);
}

/* Running uses up the sleep average, more slowly the better it is. */
static void charge_run(struct policy_task *task, u64 ran)
{
	ran = ran < max_sleep_avg() ? ran : max_sleep_avg();
	if (era == ERA_2_6_20 || task->credit > CREDIT_LIMIT)
		ran /= nonzero(bonus_of(task));
	if (ran < task->sleep_avg) {
		task->sleep_avg -= ran;
		return;
	}
	task->sleep_avg = 0;
}

/* Called once each time that the task leaves the CPU: it loses credit if its average is used up. */
static void lose_credit(struct policy_task *task)
{
	if (!task->sleep_avg && task->credit >= -CREDIT_LIMIT && task->credit <= CREDIT_LIMIT)
		task->credit--;
}

#endif
