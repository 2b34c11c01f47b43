/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CFS_WAKEUP_H
#define CFS_WAKEUP_H

#include "state.h"
#include "include/fair/idle.h"
#include "include/fair/place.h"

/* Return how long the running task has run in its life. */
static u64 sum_exec(const struct runqueue *rq)
{
	return rq->policy.curr_sum_exec_ns + elapsed(rq->policy.charged_at, scx_bpf_now());
}

/* Note that the running task wakes another one. */
static void watch_waker(void)
{
	struct runqueue *rq = rq_of(bpf_get_smp_processor_id());
	struct task_struct *waker = bpf_get_current_task_btf();
	struct task_state *t;
	u64 ran, since;

	if (!rq->busy || rq->policy.curr_pid != waker->pid || in_interrupt())
		return;
	t = state_of(waker);
	if (!t)
		return;
	ran = sum_exec(rq);
	since = t->policy.woke_at_ns ? t->policy.woke_at_ns : t->policy.slept_at_ns;
	average_in(&t->policy.avg_wakeup_ns, ran - since);
	t->policy.woke_at_ns = ran;
}

/* Note that @t, which ran, goes to sleep. */
static void watch_sleeper(struct task_state *t)
{
	struct policy_task *own = &t->policy;

	own->slept_at_ns = own->sum_exec_ns;
	if (own->woke_at_ns) {
		average_in(&own->avg_overlap_ns, own->sum_exec_ns - own->woke_at_ns);
		own->woke_at_ns = 0;
	} else {
		average_in(&own->avg_wakeup_ns, wakeup_granularity());
	}
}

/* Whether waker and woken task run so little at the same time that they may share a CPU. */
static bool takes_turns(const struct task_state *t, const struct runqueue *rq)
{
	if (!watches_wakers())
		return true;
	return rq->policy.curr_avg_overlap_ns < MIGRATION_COST_NS &&
	       t->policy.avg_overlap_ns < MIGRATION_COST_NS;
}

/* Up to 2.6.31 a wake-up looks at averages, later at the load of the moment. */
static u32 load_to_give(s32 cpu, u64 now)
{
	return era <= ERA_2_6_31 ? source_load(cpu, 0, now) : load_now(rq_of(cpu));
}

static u32 load_to_take(s32 cpu, u64 now)
{
	return era <= ERA_2_6_31 ? target_load(cpu, 0, now) : load_now(rq_of(cpu));
}

/* Whether @t should run where it was woken, not where it ran before. */
static bool follows_waker(const struct task_state *t, s32 this_cpu, s32 prev, bool sync)
{
	struct runqueue *rq = rq_of(this_cpu);
	u64 now = scx_bpf_now();
	u64 load = load_to_give(prev, now), this_load = load_to_take(this_cpu, now);
	u32 left = this_load, nr = rq->nr, waker = rq->busy ? rq->policy.curr_weight : 0;

	if (sync && takes_turns(t, rq))
		left -= left < waker ? left : waker;
	if (era >= ERA_2_6_32 && !left)
		return true;
	if (100ULL * (left + t->weight) <= PLACE_PCT * load)
		return true;
	if (left <= load && nr && left + load_to_take(prev, now) <= load_now(rq) / nr)
		return true;
	return era <= ERA_2_6_31 && PLACE_PCT * this_load <= 100 * load;
}

/* Return an idle CPU of the waker's cache as 2.6.32 finds it, @prev first, or NO_CPU. */
static s32 idle_near_waker(const struct task_struct *p, s32 this_cpu, s32 prev)
{
	u32 cpu = this_cpu, step;

	if (same_cache(this_cpu, prev) && is_idle(prev) && may_run_on(p, prev))
		return prev;
	bpf_for(step, 0, cpu_ids) {
		cpu = next_in_cache[CPU_INDEX(cpu)];
		if (is_idle(cpu) && may_run_on(p, cpu))
			return cpu;
		if (cpu == this_cpu)
			break;
	}
	return NO_CPU;
}

static s32 policy_select_cpu(struct task_struct *p, struct task_state *t, s32 prev, bool sync)
{
	s32 this_cpu = bpf_get_smp_processor_id(), cpu = prev, idle = NO_CPU;
	bool affine = cpu_distance(this_cpu, prev) <= SAME_NODE && may_run_on(p, this_cpu);

	if (watches_wakers())
		watch_waker();
	if (era == ERA_2_6_32 && affine)
		idle = idle_near_waker(p, this_cpu, prev);
	if (idle != NO_CPU)
		return idle;
	if (affine && this_cpu != prev && follows_waker(t, this_cpu, prev, sync))
		cpu = this_cpu;
	if (era != ERA_3_6 || !affine || (is_idle(cpu) && may_run_on(p, cpu)))
		return cpu;
	idle = idle_in_cache(p, cpu);
	return idle == NO_CPU ? cpu : idle;
}

#endif
