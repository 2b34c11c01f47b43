/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_WORKLOAD_H
#define RUNOFF_WORKLOAD_H

#include <vmlinux.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* How deep below that cgroup a task's own may be. */
#define DEEPEST 4

/* The id of the cgroup (v2) whose tasks are observed, and those of cgroups in it; the loader fills
 * it in. */
const volatile u64 workload_cgroup;

static __always_inline bool in_workload(struct task_struct *p)
{
	struct cgroup_subsys_state *css = &p->cgroups->dfl_cgrp->self;
	int i;

#pragma unroll
	for (i = 0; i <= DEEPEST && css; i++) {
		if (css->cgroup->kn->id == workload_cgroup)
			return true;
		css = css->parent;
	}
	return false;
}

/* on_cpu is an int in Linux 6.18 and a byte in 7.3; only this way of reading works for both. */
static __always_inline bool has_cpu(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, on_cpu);
}

/* Whether the previous task of a sched_switch has neither blocked nor ended. */
static __always_inline bool still_runnable(bool preempt, unsigned int prev_state)
{
	return preempt || !prev_state;
}

#endif
