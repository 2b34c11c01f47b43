/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_AFFINITY_H
#define RUNOFF_AFFINITY_H

/*
 * The kernel itself may forbid the current task to migrate while it runs BPF. That does not count:
 * only waiting tasks are moved, and for the current one a wrong answer costs an idle CPU only a
 * look.
 */
static bool may_run_on(const struct task_struct *p, s32 cpu)
{
	if (p->migration_disabled && p != bpf_get_current_task_btf())
		return scx_bpf_task_cpu(p) == cpu;
	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

#endif
