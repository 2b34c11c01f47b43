/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_OUTRANKED_H
#define RUNOFF_OUTRANKED_H

/*
 * Whether somebody above sched_ext wants this CPU, whose run queue is locked. ops.cpu_release says
 * so only when one of ours has to go; a CPU that was idle is taken without a word, also from who
 * has been woken there a moment ago.
 */
static bool is_outranked(void)
{
	const struct rq *rq = bpf_this_cpu_ptr(&runqueues);

	return rq->nr_running > rq->scx.nr_running;
}

#endif
