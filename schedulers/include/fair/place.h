/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_FAIR_PLACE_H
#define RUNOFF_FAIR_PLACE_H

#include "weight.h"
#include "include/neighbours.h"
#include "include/runqueue/load.h"

/* Percent up to which two CPUs count as equally busy when one is chosen for a task. */
#define PLACE_PCT (100 + (IMBALANCE_PCT - 100) / 2)

static bool same_cache(s32 a, s32 b)
{
	return cpu_distance(a, b) <= SAME_CACHE;
}

/* Return an idle CPU for @p in the core of @cpu, or NO_CPU. */
static s32 idle_thread(const struct task_struct *p, s32 cpu)
{
	u32 other = cpu, step;

	bpf_for(step, 0, cpu_ids) {
		if (is_idle(other) && may_run_on(p, other))
			return other;
		other = next_in_core[CPU_INDEX(other)];
		if (other == cpu)
			break;
	}
	return NO_CPU;
}

/* Return a CPU for @p in the first wholly idle core, counted from that of @cpu, or NO_CPU. */
static s32 idle_core(const struct task_struct *p, s32 cpu)
{
	const struct cpumask *cores = scx_bpf_get_idle_smtmask();
	s32 found = NO_CPU;
	u32 other = cpu, step;

	if (!bpf_cpumask_empty(cores)) {
		bpf_for(step, 0, cpu_ids) {
			if (bpf_cpumask_test_cpu(other, cores) && is_idle(other) &&
			    may_run_on(p, other)) {
				found = other;
				break;
			}
			other = next_in_cache[CPU_INDEX(other)];
			if (other == cpu)
				break;
		}
	}
	scx_bpf_put_idle_cpumask(cores);
	return found;
}

/* Return an idle CPU for @p in the cache of @cpu, of a wholly idle core if there is one. */
static s32 idle_in_cache(const struct task_struct *p, s32 cpu)
{
	s32 found = idle_core(p, cpu);

	return found == NO_CPU ? idle_thread(p, cpu) : found;
}

/* Return where a new task starts: on its parent's CPU unless another one has clearly less to do. */
static s32 fork_cpu(const struct task_struct *p, s32 parent_cpu)
{
	u32 least = ~0U, load;
	s32 cpu, best = parent_cpu;

	bpf_for(cpu, 0, cpu_ids) {
		if (cpu == parent_cpu || rq_of(cpu)->offline || !may_run_on(p, cpu))
			continue;
		load = load_now(rq_of(cpu));
		if (load < least) {
			least = load;
			best = cpu;
		}
	}
	if (best == parent_cpu || !may_run_on(p, parent_cpu))
		return best;
	return 100ULL * load_now(rq_of(parent_cpu)) < (u64)PLACE_PCT * least ? parent_cpu : best;
}

#endif
