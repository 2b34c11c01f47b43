/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_STAIRCASE_RULES_H
#define RUNOFF_STAIRCASE_RULES_H

#include "include/runqueue/state.h"
#include "state.h"

static u64 interval(void)
{
	return compute ? MS(100) : MS(10);
}

/* How long a task computes before a better one may take the CPU, with compute=1. */
static u64 cache_delay(void)
{
	return cpu_ids > 1 ? MS(50) : MS(10);
}

/* Return the number of stairs below the top: 19 at nice 0, 0 at nice 19. */
static u32 stairs_of(s32 static_prio)
{
	return WORST_NICE - static_prio;
}

static u64 round_of(s32 static_prio)
{
	return interval() * (stairs_of(static_prio) + 1);
}

static bool rewards_sleep(void)
{
	return interactive && !compute;
}

static u32 staircase_level(struct staircase_task *task, s32 static_prio)
{
	u32 stairs = stairs_of(static_prio), level;
	u64 round = round_of(static_prio), used, at_top;

	if (task->burst > stairs)
		task->burst = stairs;
	used = (s64)round > task->slice_ns ? round - task->slice_ns : 0;
	at_top = interval() * (rewards_sleep() ? task->burst + 1 : 1);
	if (used < at_top)
		return static_prio;
	level = static_prio + 1 + (used - at_top) / interval();
	return level < WORST_NICE ? level : WORST_NICE;
}

static void staircase_begin(struct staircase_task *task, s32 static_prio)
{
	task->slice_ns = round_of(static_prio);
	task->stair_ns = interval();
}

static void lose_burst(struct staircase_task *task)
{
	if (task->burst)
		task->burst--;
}

/* A stair ends on a tick, which may be late; the excess is taken from the next stair. */
static void next_stair(struct staircase_task *task)
{
	task->stair_ns += interval();
	if (task->stair_ns < (s64)MS(1) || task->stair_ns > (s64)interval())
		task->stair_ns = interval();
}

/* Whether the running task came to the end of a stair or of its round, and so has a new level. */
static bool staircase_settle(struct staircase_task *task, s32 static_prio)
{
	if (task->slice_ns > 0 && task->stair_ns > 0)
		return false;
	if (task->slice_ns <= 0) {
		lose_burst(task);
		task->slice_ns += round_of(static_prio);
		if (task->slice_ns < (s64)MS(1))
			task->slice_ns = round_of(static_prio);
	}
	next_stair(task);
	return true;
}

/* Whether a short run and the nap after it belong to the run before: the old round goes on. */
static bool continues_round(const struct staircase_task *task, u64 slept_ns)
{
	bool short_run = task->ran_ns < MS(1) || !rewards_sleep();

	return task->forked || (short_run && task->ran_ns + slept_ns < interval());
}

static void staircase_woke(struct staircase_task *task, s32 static_prio, u64 slept_ns)
{
	u64 round = round_of(static_prio), total = task->total_ns + task->ran_ns;

	task->slice_ns = round;
	task->stair_ns = interval();
	if (continues_round(task, slept_ns)) {
		task->forked = false;
		if (total + MS(1) > round) {
			task->total_ns = 0;
			lose_burst(task);
		} else {
			task->total_ns = total;
			task->slice_ns -= total;
		}
	} else {
		if (!task->slept_uninterruptibly && task->burst < stairs_of(static_prio))
			task->burst++;
		task->ran_ns = task->total_ns = 0;
	}
	task->slept_uninterruptibly = false;
}

static void staircase_forked(struct staircase_task *task, struct staircase_task *parent)
{
	task->slice_ns = parent->slice_ns;
	task->stair_ns = parent->stair_ns;
	parent->forked = true;
}

static void staircase_yields(struct staircase_task *task, s32 static_prio)
{
	task->burst = 0;
	task->slice_ns = round_of(static_prio);
	task->stair_ns = interval();
	task->yielded = true;
}

static u64 staircase_run_ns(const struct staircase_task *task)
{
	s64 left = task->slice_ns < task->stair_ns ? task->slice_ns : task->stair_ns;

	return left > 0 ? left : 0;
}

static void staircase_picked(const struct staircase_task *task, struct staircase_cpu *cpu, u64 now)
{
	cpu->stair_ns = task->stair_ns;
	cpu->since = now;
	cpu->preempted = false;
}

/* Among equals the one with more of its stair left preempts, in the original's ticks of 1 ms. */
static bool has_longer_stair(const struct staircase_task *task, s32 static_prio,
			     const struct staircase_cpu *cpu, u64 now)
{
	u64 used = elapsed(cpu->since, now) / NSEC_PER_MSEC * NSEC_PER_MSEC;

	if (task->slice_ns < (s64)round_of(static_prio))
		return false;
	return task->stair_ns > cpu->stair_ns - (s64)used;
}

/* Whether a better task has to wait until the running one has had the cache for a while. */
static bool staircase_delays(const struct task_struct *p, struct staircase_cpu *cpu, u64 now)
{
	if (!compute || !is_user(p) || elapsed(cpu->since, now) >= cache_delay())
		return false;
	cpu->preempted = true;
	return true;
}

static bool staircase_preempts_late(const struct staircase_cpu *cpu, u64 now)
{
	return cpu->preempted && elapsed(cpu->since, now) >= cache_delay();
}

#endif
