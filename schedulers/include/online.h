/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_ONLINE_H
#define RUNOFF_ONLINE_H

#define NO_CPU -1

/* How many of the possible CPUs are online. */
static u32 cpus_online = 1;

/*
 * Count the CPUs that are online, when the scheduler starts and when a CPU comes or goes. @leaving
 * is one that goes but that the kernel still counts, or NO_CPU.
 */
static void count_cpus(s32 leaving)
{
	const struct cpumask *online = scx_bpf_get_online_cpumask();

	cpus_online = bpf_cpumask_weight(online);
	if (leaving != NO_CPU && bpf_cpumask_test_cpu(leaving, online))
		cpus_online--;
	scx_bpf_put_cpumask(online);
}

#endif
