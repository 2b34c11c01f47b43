/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_PLACE_H
#define RUNOFF_RUNQUEUE_PLACE_H

#include "include/neighbours.h"
#include "load.h"
#include "policy.h"

/* Whether @p ran on its CPU so lately that its data will still be in the cache. */
static bool is_cache_hot(const struct task_state *t, u32 distance, u64 now)
{
	static const u64 hot_us[] = {0, 0, 2500, 2500, 10000};

	return elapsed(t->stamp, now) < hot_us[distance < FAR ? distance : FAR] * 1000;
}

/* 2.6.8: a task that is not cache-hot follows its waker; a hot one only to a much lower load. */
static bool follows_waker_early(const struct task_state *t, s32 this_cpu, s32 prev, u64 now)
{
	u32 distance = cpu_distance(this_cpu, prev);
	u32 load = source_load(prev, 0, now), this_load = target_load(this_cpu, 0, now);

	if (t->sync)
		this_load -= this_load < LOAD_OF_ONE ? this_load : LOAD_OF_ONE;
	if (load < LOAD_OF_ONE / 2 && this_load > LOAD_OF_ONE / 2)
		return false;
	if (distance <= SAME_NODE && !is_cache_hot(t, distance, now))
		return true;
	return (IMBALANCE_PCT + (IMBALANCE_PCT - 100) / 2) * this_load <= 100 * load;
}

/* 2.6.20: a task follows its waker if the CPU of the waker is not busier than its own then. */
static bool follows_waker_late(const struct task_state *t, s32 this_cpu, s32 prev, u64 now)
{
	u32 distance = cpu_distance(this_cpu, prev);
	u32 load = source_load(prev, 0, now), this_load = target_load(this_cpu, 0, now);
	u32 left = this_load, nr = rq_of(this_cpu)->nr;

	if (t->sync)
		left -= left < LOAD_OF_ONE ? left : LOAD_OF_ONE;
	if (distance <= SAME_NODE) {
		u32 per_task = nr ? load_now(rq_of(this_cpu)) / nr : LOAD_OF_ONE;

		if (left <= load && left + target_load(prev, 0, now) <= per_task)
			return true;
		if (100 * (left + t->weight) <= (100 + (IMBALANCE_PCT - 100) / 2) * load)
			return true;
	}
	return distance > SAME_CORE && IMBALANCE_PCT * this_load <= 100 * load;
}

/* Return an idle thread of the core of @cpu if @cpu itself has work, or else @cpu. */
static s32 idle_thread(const struct task_struct *p, s32 cpu)
{
	u32 other = cpu, step;

	if (next_in_core[CPU_INDEX(cpu)] == cpu || is_idle(cpu))
		return cpu;
	bpf_for(step, 0, cpu_ids) {
		other = next_in_core[CPU_INDEX(other)];
		if (other == cpu || (is_idle(other) && may_run_on(p, other)))
			return other;
	}
	return cpu;
}

/* Return where a woken task runs: where it ran before, or where its waker runs. */
static s32 wake_cpu(const struct task_struct *p, const struct task_state *t, s32 prev)
{
	s32 this_cpu = bpf_get_smp_processor_id(), cpu = prev;

	if (this_cpu != prev && may_run_on(p, this_cpu)) {
		u64 now = scx_bpf_now();
		bool follows = policy_balances_like_2_6_20()
				       ? follows_waker_late(t, this_cpu, prev, now)
				       : follows_waker_early(t, this_cpu, prev, now);

		if (follows)
			cpu = this_cpu;
	}
	return idle_thread(p, cpu);
}

/* Return where a new task starts: on the least busy CPU if its parent's has clearly more to do. */
static s32 fork_cpu(const struct task_struct *p, s32 parent_cpu)
{
	u64 now = scx_bpf_now();
	u32 least = ~0U, load;
	s32 cpu, best = parent_cpu;

	bpf_for(cpu, 0, cpu_ids) {
		if (rq_of(cpu)->offline || !may_run_on(p, cpu))
			continue;
		load = target_load(cpu, 0, now);
		if (load < least) {
			least = load;
			best = cpu;
		}
	}
	load = source_load(parent_cpu, 0, now) + LOAD_OF_ONE;
	return least * (100 + (IMBALANCE_PCT - 100) / 2) < load * 100 ? best : parent_cpu;
}

#endif
