/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_ZAPHOD_BONUS_H
#define RUNOFF_ZAPHOD_BONUS_H

#include "include/runqueue/state.h"
#include "proportion.h"
#include "state.h"

#define SECONDS(n) ((u64)(n) * 1000 * NSEC_PER_MSEC)
/* Longer sleeps say nothing about the user; the averages are compared to 16 times the time. */
#define SLEEP_WITHOUT_GAIN (SECONDS(15 * 60) * 16)
#define SLEEP_THAT_RUSTS   (SECONDS(2 * 60 * 60) * 16)
#define ONE_TASK	   16
#define NR_RUNNING_MOST	   (1 << 20)

/* At the end of a cycle, or of a slice without one: each average loses a sixteenth. */
static void evaluate(struct zaphod_task *task)
{
	u64 own;

	task->sleep_ns = task->sleep_ns * 15 >> 4;
	task->cpu_ns = task->cpu_ns * 15 >> 4;
	task->delay_ns = task->delay_ns * 15 >> 4;
	own = task->sleep_ns + task->cpu_ns;
	task->sleepiness = own ? ratio(task->sleep_ns, own) : WHOLE;
	task->usage = own ? ratio(task->cpu_ns, own + task->delay_ns) : 0;
}

static void decay_ia_bonus(struct zaphod_task *task)
{
	task->ia_bonus = (task->ia_bonus * 255) >> 8;
}

static u32 visible_ia_bonus(const struct zaphod_task *task)
{
	u32 bonus = (task->ia_bonus + 128) >> 8;

	return bonus < max_ia_bonus ? bonus : max_ia_bonus;
}

/* At a wake-up. */
static void gain_ia_bonus(struct zaphod_task *task)
{
	if (!max_ia_bonus) {
		task->ia_bonus = 0;
	} else if (task->sleep_ns > SLEEP_THAT_RUSTS) {
		decay_ia_bonus(task);
	} else if (task->sleep_ns <= SLEEP_WITHOUT_GAIN &&
		   task->sleepiness > of_thousand(ia_threshold)) {
		decay_ia_bonus(task);
		task->ia_bonus += scale_round(task->sleepiness, max_ia_bonus);
	}
}

/* At the end of a slice. */
static void lose_ia_bonus(struct zaphod_task *task)
{
	if (task->usage > of_thousand(cpu_hog_threshold))
		decay_ia_bonus(task);
}

/* Set the bonus of a task that waited longer than fair turns with the others would need. */
static void update_tpt_bonus(struct zaphod_task *task, u32 nr_running)
{
	u64 expected = nr_running > ONE_TASK ? task->cpu_ns * (nr_running - ONE_TASK) >> 4 : 0;
	u64 excess = task->delay_ns - expected;

	if (task->delay_ns <= expected)
		task->tpt_bonus = 0;
	else
		task->tpt_bonus =
			scale_round_root(ratio(excess, excess + task->cpu_ns), max_tpt_bonus);
}

/* One step per millisecond, as with the original's tick; an idle CPU's average only decays. */
static void sample_nr_running(struct zaphod_cpu *cpu, u32 nr, u64 now)
{
	u64 ms = elapsed(cpu->sampled_at, now) / NSEC_PER_MSEC;
	u64 busy_ms = tick_ns / NSEC_PER_MSEC ?: 1;
	u32 average = cpu->nr_running, step;

	cpu->sampled_at = now;
	if (ms > 2 * busy_ms) {
		/* Eleven steps halve it. */
		u64 halvings = (ms - busy_ms) / 11;

		average = halvings < 32 ? average >> halvings : 0;
	}
	bpf_for(step, 0, busy_ms) {
		average = (average * 15 >> 4) + nr;
		average = average < NR_RUNNING_MOST ? average : NR_RUNNING_MOST;
	}
	cpu->nr_running = average;
}

#endif
