/* SPDX-License-Identifier: GPL-2.0 */
#ifndef EEVDF_WAKEUP_H
#define EEVDF_WAKEUP_H

#include "state.h"
#include "include/fair/place.h"

/* Whether @t should run near where it was woken, not near where it ran before. */
static bool follows_waker(const struct task_state *t, s32 this_cpu, s32 prev, bool sync)
{
	const struct runqueue *rq = rq_of(this_cpu);
	u64 load = load_now(rq), prev_load = load_now(rq_of(prev));
	u32 waker = rq->busy ? rq->policy.curr_weight : 0;

	if (is_idle(this_cpu) && same_cache(this_cpu, prev))
		return !is_idle(prev);
	if (sync && rq->nr == 1)
		return true;
	if (is_idle(prev))
		return false;
	if (sync && waker > load)
		return true;
	if (sync)
		load -= waker;
	return 100 * (load + t->weight) < PLACE_PCT * prev_load + sync;
}

/* Return an idle CPU near the one that ran or woke @p, or else the one that it prefers. */
static s32 policy_select_cpu(struct task_struct *p, struct task_state *t, s32 prev, bool sync)
{
	s32 this_cpu = bpf_get_smp_processor_id(), cpu = prev, idle;

	if (this_cpu != prev && cpu_distance(this_cpu, prev) <= SAME_NODE &&
	    may_run_on(p, this_cpu) && follows_waker(t, this_cpu, prev, sync))
		cpu = this_cpu;
	if (is_idle(cpu) && may_run_on(p, cpu))
		return cpu;
	if (cpu != prev && same_cache(cpu, prev) && is_idle(prev) && may_run_on(p, prev))
		return prev;
	idle = idle_in_cache(p, cpu);
	return idle == NO_CPU ? cpu : idle;
}

#endif
