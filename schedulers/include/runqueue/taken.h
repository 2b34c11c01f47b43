/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_TAKEN_H
#define RUNOFF_RUNQUEUE_TAKEN_H

#include "include/outranked.h"
#include "state.h"

/*
 * Real-time tasks, and whatever else is above sched_ext, take a CPU without asking. None of ours
 * runs there then and none of our ticks comes, so others look after those who wait there: idle CPUs
 * at once, and those with work on a tick (relief.h). Who wakes meanwhile is sent elsewhere.
 */

/* Whether @cpu runs a task of a higher class, or is about to. */
__noinline bool is_taken(s32 cpu)
{
	const struct runqueue *rq = rq_of(cpu);
	struct task_struct *curr;

	if (cpu_ids == 1 || rq->busy)
		return false;
	if (rq->taken)
		return true;
	curr = __COMPAT_scx_bpf_cpu_curr(cpu);
	return curr && curr->prio < BEST_LEVEL;
}

/*
 * Whether somebody may wait whom another CPU could take. A CPU that becomes idle reads this before
 * it looks at all the others; it is a hint, which the next tick of a busy CPU sets right.
 */
static bool work_waits;

/* Whether somebody may wait on a CPU that a higher class has taken. A hint, too. */
static bool held_back;

/* What one look through a queue may cost when a CPU has nothing else to do. */
#define SEARCH_LIMIT 8192

/* For so many of those who wait idle CPUs are called; whoever comes calls for the next. */
#define CALLS_AT_ONCE 8

/* Call an idle CPU for each of the first who wait in @queue and may run there. */
static void call_for_queue(u64 queue, const struct cpumask *idle, struct pull *count)
{
	struct task_struct *p;
	s32 cpu;

	bpf_for_each(scx_dsq, p, queue, 0) {
		if (count->scanned++ >= SEARCH_LIMIT || count->pulled >= CALLS_AT_ONCE)
			break;
		if (!is_movable(p))
			continue;
		cpu = bpf_cpumask_any_and_distribute(idle, p->cpus_ptr);
		if (cpu < cpu_ids) {
			kick(cpu, SCX_KICK_IDLE);
			count->pulled++;
		}
	}
}

/* Have idle CPUs look for work who may run somebody that waits on @cpu. */
__noinline int call_for_waiting(s32 cpu)
{
	struct pull *count = &rq_of(bpf_get_smp_processor_id())->pull;
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();

	work_waits = true;
	count->scanned = count->pulled = 0;
	if (!bpf_cpumask_empty(idle)) {
		call_for_queue(queue_of(rq_of(cpu), 0), idle, count);
		if (ARRAYS == 2)
			call_for_queue(queue_of(rq_of(cpu), 1), idle, count);
	}
	scx_bpf_put_idle_cpumask(idle);
	return 0;
}

/* Have an idle CPU look for @p, which has been queued where it may have to wait for long. */
static void call_idle_cpu_for(const struct task_struct *p)
{
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();
	s32 cpu = bpf_cpumask_any_and_distribute(idle, p->cpus_ptr);

	scx_bpf_put_idle_cpumask(idle);
	work_waits = held_back = true;
	if (cpu < cpu_ids)
		kick(cpu, SCX_KICK_IDLE);
}

/* A higher class takes the CPU from the task that ran on it, or that task has joined one. */
static void lose_cpu(struct runqueue *rq)
{
	if (rq->taken)
		return;
	rq->taken = true;
	rq->taken_at = scx_bpf_now();
	if (cpu_ids == 1 || rq->nr <= 0)
		return;
	held_back = true;
	call_for_waiting(rq->cpu);
}

/*
 * One of ours leaves this CPU, or its idleness ends: it may be for a higher class. What the core
 * has already been given would wait there for its CPU, where nobody can pull it.
 */
static void lose_cpu_if_outranked(struct runqueue *rq)
{
	if (cpu_ids == 1 || !is_outranked())
		return;
	if (!rq->offline)
		scx_bpf_reenqueue_local_from_anywhere();
	lose_cpu(rq);
}

/*
 * Somebody may be queued between this CPU's last look for work and the moment when others could see
 * it idle, so it looks once more.
 */
void BPF_STRUCT_OPS(runqueue_update_idle, s32 cpu, bool idle)
{
	if (!idle)
		lose_cpu_if_outranked(rq_of(cpu));
	else if (work_waits && !rq_of(cpu)->offline)
		kick(cpu, SCX_KICK_IDLE);
}

/* Before Linux 6.19 what the core has been given can be had back here only (outranked.h). */
void BPF_STRUCT_OPS(runqueue_cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	if (args->reason != SCX_CPU_PREEMPT_STOP && cpu_ids > 1 && !rq_of(cpu)->offline)
		scx_bpf_reenqueue_local();
}

#endif
