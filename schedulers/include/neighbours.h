/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_NEIGHBOURS_H
#define RUNOFF_NEIGHBOURS_H

#include "machine.h"

/*
 * The CPUs that share a core or a cache, as rings in the order of CPU numbers: the cost of a walk
 * around one depends on the size of the core or cache, not on that of the machine.
 */
static u16 next_in_core[MAX_CPUS];
static u16 next_in_cache[MAX_CPUS];

/* Each ring begins with its lowest CPU: insert the others behind that, the highest first. */
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
