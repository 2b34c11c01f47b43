/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_TAKEN_H
#define RUNOFF_RUNQUEUE_TAKEN_H

#include "include/outranked.h"
#include "state.h"

/*
 * Real-time tasks, and all else that is above sched_ext, take a CPU without asking. No task of ours
 * runs there then and no tick of ours comes, so other CPUs look after the tasks that wait there:
 * idle CPUs at once, busy ones on a tick (relief.h). A task that wakes meanwhile is sent elsewhere.
 * What can run nowhere else is left to the kernel's server (served.h).
 */

/* Whether a higher class has @cpu, even if the kernel's server lends it to a task of ours. */
__noinline bool is_taken(s32 cpu)
{
	const struct runqueue *rq = rq_of(cpu);

	if (rq->taken)
		return true;
	return cpu_ids > 1 && !rq->busy && runs_higher_class(cpu);
}

/* Note that a higher class that had this CPU has given it back. */
static void note_given_back(struct runqueue *rq)
{
	if (rq->taken)
		rq->taken = is_outranked();
}

/*
 * Whether a task may wait that another CPU could take. A CPU that becomes idle reads this before it
 * looks at all the others; it is a hint, which the next tick of a busy CPU corrects.
 */
static bool work_waits;

/* Whether a task may wait on a CPU that a higher class has taken. Also a hint. */
static bool held_back;

/* How many tasks one look through a queue may cost when a CPU has nothing else to do. */
#define SEARCH_LIMIT 8192

/* For how many waiting tasks idle CPUs are kicked; each CPU that comes kicks for the next. */
#define KICKS_AT_ONCE 8

/* Kick an idle CPU for each of the first tasks in @queue that may run on one. */
static void kick_idle_for_queue(u64 queue, const struct cpumask *idle, struct pull *count)
{
	struct task_struct *p;
	s32 cpu;

	bpf_for_each(scx_dsq, p, queue, 0) {
		if (count->scanned++ >= SEARCH_LIMIT || count->pulled >= KICKS_AT_ONCE)
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

/* Kick idle CPUs for the tasks that wait on @cpu. */
__noinline int kick_idle_for_waiting(s32 cpu)
{
	struct pull *count = &rq_of(bpf_get_smp_processor_id())->pull;
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();

	work_waits = true;
	count->scanned = count->pulled = 0;
	if (!bpf_cpumask_empty(idle)) {
		kick_idle_for_queue(queue_of(rq_of(cpu), 0), idle, count);
		if (ARRAYS == 2)
			kick_idle_for_queue(queue_of(rq_of(cpu), 1), idle, count);
	}
	scx_bpf_put_idle_cpumask(idle);
	return 0;
}

/* Kick an idle CPU for @p, which has been queued where it may have to wait for long. */
static void kick_idle_for(const struct task_struct *p)
{
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();
	s32 cpu = bpf_cpumask_any_and_distribute(idle, p->cpus_ptr);

	scx_bpf_put_idle_cpumask(idle);
	work_waits = held_back = true;
	if (cpu < cpu_ids)
		kick(cpu, SCX_KICK_IDLE);
}

/* Note that a higher class takes the CPU from its task, or that its task joins such a class. */
static void lose_cpu(struct runqueue *rq)
{
	if (cpu_ids == 1 || rq->taken)
		return;
	rq->taken = true;
	rq->taken_at = scx_bpf_now();
	if (rq->nr <= 0)
		return;
	held_back = true;
	kick_idle_for_waiting(rq->cpu);
}

/*
 * A task of ours leaves this CPU, or its idleness ends: that may be for a higher class. A task that
 * the core has already been given would wait there for its CPU, where no other CPU can pull it.
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
 * A task may be queued between this CPU's last look for work and the moment when others can see
 * that it is idle, so it looks once more.
 */
void BPF_STRUCT_OPS(runqueue_update_idle, s32 cpu, bool idle)
{
	if (!idle)
		lose_cpu_if_outranked(rq_of(cpu));
	else if (work_waits && !rq_of(cpu)->offline)
		kick(cpu, SCX_KICK_IDLE);
}

/* Before Linux 6.19 only this operation can take back what the core was given (outranked.h). */
void BPF_STRUCT_OPS(runqueue_cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	if (args->reason != SCX_CPU_PREEMPT_STOP && cpu_ids > 1 && !rq_of(cpu)->offline)
		scx_bpf_reenqueue_local();
}

#endif
