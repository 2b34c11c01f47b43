/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_ONLINE_H
#define RUNOFF_ONLINE_H

#define NO_CPU -1

/* Of the possible ones. */
static u32 cpus_online = 1;

/* When the scheduler begins or a CPU has come, and when @leaving, which the kernel still counts, is
 * about to go. */
static void count_cpus(s32 leaving)
{
	const struct cpumask *online = scx_bpf_get_online_cpumask();

	cpus_online = bpf_cpumask_weight(online);
	if (leaving != NO_CPU && bpf_cpumask_test_cpu(leaving, online))
		cpus_online--;
	scx_bpf_put_cpumask(online);
}

#endif
