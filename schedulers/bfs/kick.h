/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFS_KICK_H
#define BFS_KICK_H

#include "place.h"
#include "queue.h"
#include "include/sync.h"

/* Kick the CPU that runs the worst task, if that is worse than @p. */
static void preempt_worst(const struct task_struct *p, const struct task_state *t)
{
	const struct cpu_state *state;
	u64 latest = 0;
	u32 level = 0;
	s32 cpu, worst = -1;

	bpf_for(cpu, 0, cpu_ids) {
		state = cpu_state(cpu);
		if (state->level == NOT_OURS || !may_take(p, cpu))
			continue;
		if (worst >= 0 && (state->level < level ||
				   (state->level == level && !time_after(state->deadline, latest))))
			continue;
		worst = cpu;
		level = state->level;
		latest = state->deadline;
	}
	if (worst < 0 || t->level > level)
		return;
	if (t->level == level && !time_before(t->deadline, latest))
		return;
	scx_bpf_kick_cpu(worst, SCX_KICK_PREEMPT);
	count(preemptions);
}

/* Find a CPU for @p, which has just been queued: kick an idle one, or one with a worse task. */
static void kick_for(struct task_struct *p, struct task_state *t, u64 enq_flags)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	bool may_preempt =
		(enq_flags & (SCX_ENQ_WAKEUP | SCX_ENQ_REENQ)) || t->newborn || t->improved;
	s32 cpu = claim_idle(p, scx_bpf_task_cpu(p));

	if (cpu >= 0) {
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
		return;
	}
	if (!may_preempt || t->level == IDLEPRIO || t->sync || is_sync_wakeup(p))
		return;
	cpu = bpf_get_smp_processor_id();
	/* Both have the same deadline, so the parent, which is queued behind its child, loses. */
	if (t->newborn && p->real_parent->pid == parent->pid && may_run_on(p, cpu))
		scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
	else
		preempt_worst(p, t);
}

/* Kick an idle CPU for the first task of @queue that may run on one. Return whether it did. */
static bool kick_idle_for_first(u64 queue, struct cpu_state *state)
{
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();
	struct task_struct *p;
	s32 cpu = cpu_ids;

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SEARCH_LIMIT))
			break;
		cpu = bpf_cpumask_any_and_distribute(idle, p->cpus_ptr);
		if (cpu < cpu_ids)
			break;
	}
	scx_bpf_put_idle_cpumask(idle);
	if (cpu >= cpu_ids)
		return false;
	scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
	return true;
}

/* Make @p the sticky task of this CPU, and kick an idle CPU for the one that it replaces. */
static void swap_sticky(const struct task_struct *p, struct cpu_state *state, s32 cpu)
{
	s32 old = state->sticky_pid, idle;
	struct task_struct *unstuck;

	state->sticky_pid = p->pid;
	if (!old || old == p->pid)
		return;
	unstuck = bpf_task_from_pid(old);
	if (!unstuck)
		return;
	idle = claim_idle(unstuck, cpu);
	if (idle >= 0)
		scx_bpf_kick_cpu(idle, SCX_KICK_IDLE);
	bpf_task_release(unstuck);
}

#endif
