/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_OUTRANKED_H
#define RUNOFF_OUTRANKED_H

#include "machine.h"

/*
 * Since Linux 7.0 the kernel's deadline server for sched_ext (kernel/sched/ext.c,
 * ext_server_pick_task) asks a CPU that a higher class has taken for work, for 50 ms of each second
 * in which a task of ours is counted there. Only what can run nowhere else may take that from a
 * real-time task.
 */

/* Priorities below this one are above sched_ext. */
#define PRIO_OF_OURS 100

/*
 * Whether a task above sched_ext wants this CPU, whose run queue is locked. No operation reports
 * it: ops.cpu_release, which is deprecated, does so only if a task of ours has to go. A stopper
 * does not count: it is gone at once.
 */
static bool is_outranked(void)
{
	const struct rq *rq = bpf_this_cpu_ptr(&runqueues);
	u32 above = rq->nr_running - rq->scx.nr_running;

	/* on_rq does not have the same size in all releases. */
	return above > 1 || (above && !BPF_CORE_READ_BITFIELD_PROBED(rq->stop, on_rq));
}

/* Whether @cpu runs a task above sched_ext, as seen from any CPU. */
static bool runs_higher_class(s32 cpu)
{
	const struct task_struct *curr = __COMPAT_scx_bpf_cpu_curr(cpu);

	return curr && curr->prio < PRIO_OF_OURS;
}

/*
 * Whether a task that the core has already been given can be taken back when a higher class takes
 * the CPU before it has run, which the kernel does not report in time (is_outranked).
 */
static bool may_be_called_back(void)
{
	if (cpu_ids == 1)
		return true;
	/* Not one expression: the verifier rejects the sum of two addresses. */
	if (__COMPAT_has_generic_reenq())
		return true;
	if (__COMPAT_scx_bpf_reenqueue_local_from_anywhere())
		return true;
	return false;
}

/* On the struct sched_ext_ops. */
#define HEARS_OF_HIGHER_CLASSES LEFT_OUT("cpu_release", "scx_bpf_reenqueue_local___v2")

#endif
