/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFS_QUEUE_H
#define BFS_QUEUE_H

#include "deadline.h"
#include "taken.h"

/* The original scans the whole queue; the verifier and the queue's lock need a limit. */
#define SCAN_LIMIT 512

/* How many tasks a look may cost that only few choices need. */
#define SEARCH_LIMIT 8192

/* In ns: later than any deadline. */
#define NEVER_LATER (1ULL << 62)

static bool any_task_waits(void)
{
	u32 queue;

	bpf_for(queue, 0, LEVELS) {
		if (scx_bpf_dsq_nr_queued(queue) > 0)
			return true;
	}
	return false;
}

static bool is_sticky(const struct task_struct *p, const struct task_state *t)
{
	return cpu_state(t->last_cpu)->sticky_pid == p->pid;
}

static bool scan_ends(struct cpu_state *state, u32 limit)
{
	return ++state->scanned > limit;
}

/*
 * Return the pid of the task that @cpu should take from @queue, 0 if there is none. For the sticky
 * tasks of other CPUs the deadline is moved so far away that they are taken only when nothing else
 * waits. Neither this function nor take() is static, so the verifier checks each of them once and
 * not for every caller.
 */
__noinline s32 find_earliest(u64 queue, s32 cpu, u64 *deadline __arg_nonnull)
{
	struct task_struct *p;
	struct task_state *t;
	struct cpu_state *state = cpu_state(cpu);
	s32 pid = 0;
	u64 key;

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SCAN_LIMIT))
			break;
		t = state_of(p);
		if (!t || !may_take(p, cpu))
			continue;
		key = t->deadline;
		/* A task that sticks to a CPU that a higher class has would be stuck. */
		if (t->last_cpu != cpu && is_sticky(p, t) &&
		    cpu_state(t->last_cpu)->level != NOT_OURS)
			key <<= cpu_distance(cpu, t->last_cpu);
		if (!pid || time_before(key, *deadline)) {
			pid = p->pid;
			*deadline = key;
		}
		/* The queue is in order of deadlines: none behind one that was not moved is
		 * earlier. */
		if (key == t->deadline)
			break;
	}
	return pid;
}

__noinline int take(u64 queue, s32 pid, s32 cpu)
{
	struct task_struct *p;
	struct task_state *t;
	struct cpu_state *state = cpu_state(cpu);

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SCAN_LIMIT))
			break;
		if (p->pid != pid)
			continue;
		t = state_of(p);
		if (t && t->last_cpu != cpu && is_sticky(p, t))
			count(sticky_moves);
		return scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0);
	}
	return false;
}

/*
 * Take the first task of @queue that may run on @cpu, behind a crowd that may not, whatever it is
 * sticky to, unless its deadline is later than @limit.
 */
__noinline int take_behind(u64 queue, s32 cpu, u64 limit)
{
	struct task_struct *p;
	struct cpu_state *state = cpu_state(cpu);

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SEARCH_LIMIT) || time_after(p->scx.dsq_vtime, limit))
			break;
		if (may_take(p, cpu) && scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0))
			return true;
	}
	return false;
}

/*
 * The kernel's server ends when it is given no task, and begins again with the first task that the
 * kernel counts on @cpu. It counts a task where that ran last, so such tasks are given to the core
 * of an open CPU: or a bound task that comes next would never be served.
 */
__noinline int send_away(u64 queue, s32 cpu)
{
	struct task_struct *p;
	struct cpu_state *state = cpu_state(cpu);
	s32 to;

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SEARCH_LIMIT))
			break;
		if (scx_bpf_task_cpu(p) != cpu)
			continue;
		to = find_open(p);
		if (to >= 0)
			scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL_ON | to, 0);
	}
	return 0;
}

/* Bring the best task of @queue to @cpu unless @limit is earlier. Return whether it did. */
static bool dispatch_from(u64 queue, s32 cpu, const u64 *limit)
{
	u64 deadline = 0;
	s32 pid, tries;

	/* A walk costs more to begin than this question, and most queues are empty. */
	if (scx_bpf_dsq_nr_queued(queue) <= 0)
		return false;
	bpf_for(tries, 0, 4) {
		pid = find_earliest(queue, cpu, &deadline);
		/* None of the tasks that were looked at may run here. */
		if (!pid && cpu_state(cpu)->scanned > SCAN_LIMIT)
			break;
		if (!pid || (limit && time_before(*limit, deadline)))
			return false;
		if (take(queue, pid, cpu))
			return true;
	}
	if (limit)
		return take_behind(queue, cpu, *limit);
	if (cpu_state(cpu)->taken)
		return take_behind(queue, cpu, niffies() + NEVER_LATER);
	return scx_bpf_dsq_move_to_local(queue, 0);
}

#endif
