/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_OUTRANKED_H
#define RUNOFF_OUTRANKED_H

#include "machine.h"

/*
 * Whether somebody above sched_ext wants this CPU, whose run queue is locked. No operation says so
 * since ops.cpu_release is deprecated; before, it did only when one of ours had to go. A stopper
 * does not count: it is gone at once.
 */
static bool is_outranked(void)
{
	const struct rq *rq = bpf_this_cpu_ptr(&runqueues);
	u32 above = rq->nr_running - rq->scx.nr_running;

	/* It has not had the same size in all releases. */
	return above > 1 || (above && !BPF_CORE_READ_BITFIELD_PROBED(rq->stop, on_rq));
}

/*
 * Whether a task that the core has already been given can be had back when a higher class takes the
 * CPU before it has run, which the kernel does not tell us in time (is_outranked).
 */
static bool may_be_called_back(void)
{
	if (cpu_ids == 1)
		return true;
	/* Not one expression: the verifier does not take the sum of two addresses. */
	if (__COMPAT_has_generic_reenq())
		return true;
	if (__COMPAT_scx_bpf_reenqueue_local_from_anywhere())
		return true;
	return false;
}

/* On the struct sched_ext_ops. */
#define HEARS_OF_HIGHER_CLASSES LEFT_OUT("cpu_release", "scx_bpf_reenqueue_local___v2")

#endif
