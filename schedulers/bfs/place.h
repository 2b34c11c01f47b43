/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFS_PLACE_H
#define BFS_PLACE_H

#include "include/affinity.h"
#include "state.h"

/* Which cores and caches have a busy CPU; a mark is valid in the search whose number it has. */
struct busy_marks {
	u64 search;
	u64 core[MAX_CPUS];
	u64 cache[MAX_CPUS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct busy_marks);
} busy SEC(".maps");

/* Not static: the verifier checks it once, and not for every path of every caller. */
__noinline u32 idle_weight(const struct busy_marks *marks __arg_nonnull, u32 from, u32 cpu)
{
	static const u32 by_distance[] = {0, 1, 2, 8, 32};
	const u32 cache_busy = 4, thread_busy = 16;
	u32 distance = cpu_distance(from, cpu), weight;

	weight = distance < FAR ? by_distance[distance] : by_distance[FAR];
	if (marks->cache[CPU_INDEX(cache_of_cpu[CPU_INDEX(cpu)])] == marks->search)
		weight += cache_busy;
	if (marks->core[CPU_INDEX(core_of_cpu[CPU_INDEX(cpu)])] == marks->search)
		weight += thread_busy;
	return weight;
}

static struct busy_marks *mark_busy(const struct cpumask *idle)
{
	const struct cpumask *online = scx_bpf_get_online_cpumask();
	u32 cpu, first = 0;
	struct busy_marks *marks = bpf_map_lookup_elem(&busy, &first);

	if (marks) {
		marks->search++;
		bpf_for(cpu, 0, cpu_ids) {
			if (!bpf_cpumask_test_cpu(cpu, online) || bpf_cpumask_test_cpu(cpu, idle))
				continue;
			marks->core[CPU_INDEX(core_of_cpu[CPU_INDEX(cpu)])] = marks->search;
			marks->cache[CPU_INDEX(cache_of_cpu[CPU_INDEX(cpu)])] = marks->search;
		}
	}
	scx_bpf_put_cpumask(online);
	return marks;
}

/* Return the idle CPU nearest to @from on which @p may run, -1 if there is none. */
static s32 nearest_idle(const struct task_struct *p, s32 from, const struct cpumask *idle)
{
	const struct busy_marks *marks = mark_busy(idle);
	u32 best_weight = ~0U, weight;
	s32 cpu, best = -1;

	if (!marks)
		return -1;
	bpf_for(cpu, 0, cpu_ids) {
		if (!bpf_cpumask_test_cpu(cpu, idle) || !may_run_on(p, cpu))
			continue;
		weight = idle_weight(marks, from, cpu);
		if (weight < best_weight) {
			best_weight = weight;
			best = cpu;
		}
	}
	return best;
}

/* Claim the best idle CPU for @p, which last ran on @from. Return -1 if there is none. */
static s32 claim_idle(const struct task_struct *p, s32 from)
{
	const struct cpumask *idle;
	s32 cpu = -1;

	if (may_run_on(p, from) && scx_bpf_test_and_clear_cpu_idle(from))
		return from;
	idle = scx_bpf_get_idle_cpumask();
	if (!bpf_cpumask_empty(idle))
		cpu = nearest_idle(p, from, idle);
	scx_bpf_put_idle_cpumask(idle);
	if (cpu >= 0 && !scx_bpf_test_and_clear_cpu_idle(cpu))
		cpu = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	return cpu;
}

#endif
