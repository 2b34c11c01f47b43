/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_OUTRANKED_H
#define RUNOFF_OUTRANKED_H

#include "describe.h"

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

/* On the struct sched_ext_ops. */
#define HEARS_OF_HIGHER_CLASSES LEFT_OUT("cpu_release", "scx_bpf_reenqueue_local___v2")

#endif
