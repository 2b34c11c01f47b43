/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_NEIGHBOURS_H
#define RUNOFF_NEIGHBOURS_H

#include "machine.h"

/*
 * Who shares a core or a cache with a CPU, as rings in the order of CPU numbers: a walk around one
 * costs what the core or cache is large, and not what the machine is.
 */
static u16 next_in_core[MAX_CPUS];
static u16 next_in_cache[MAX_CPUS];

/* Both are lists that begin with the lowest CPU: put each behind that, the highest first. */
static void find_neighbours(void)
{
	u32 step, cpu, core, cache;

	bpf_for(cpu, 0, cpu_ids)
		next_in_core[CPU_INDEX(cpu)] = next_in_cache[CPU_INDEX(cpu)] = cpu;
	bpf_for(step, 0, cpu_ids) {
		cpu = CPU_INDEX(cpu_ids - 1 - step);
		core = CPU_INDEX(core_of_cpu[cpu]);
		cache = CPU_INDEX(cache_of_cpu[cpu]);
		if (core != cpu) {
			next_in_core[cpu] = next_in_core[core];
			next_in_core[core] = cpu;
		}
		if (cache != cpu) {
			next_in_cache[cpu] = next_in_cache[cache];
			next_in_cache[cache] = cpu;
		}
	}
}

#endif
