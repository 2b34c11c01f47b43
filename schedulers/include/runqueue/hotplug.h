/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_HOTPLUG_H
#define RUNOFF_RUNQUEUE_HOTPLUG_H

#include "balance.h"

/* Whether tasks may be left in the queue of a CPU that went offline. */
static bool orphans;

/* Give tasks that may run nowhere else to their CPU's local queue, where the kernel finds them. */
static void send_home(struct pull *pull, u32 array)
{
	struct task_struct *p;

	pull->scanned = 0;
	bpf_for_each(scx_dsq, p, queue_of(rq_of(pull->from), array), 0) {
		if (pull->scanned++ >= PULL_SCAN_LIMIT) {
			orphans = true;
			break;
		}
		if (may_run_on(p, pull->to))
			orphans = true;
		else if (!scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL_ON | pull->from, 0))
			orphans = true;
	}
}

/* Take over tasks that wait on CPUs that no longer ask for work. */
static void adopt_orphans(struct runqueue *rq, u64 now)
{
	struct pull *pull = &rq->pull;
	s32 other;

	orphans = false;
	bpf_for(other, 0, cpu_ids) {
		if (other == rq->cpu || !rq_of(other)->offline)
			continue;
		pull->from = other;
		pull->to = rq->cpu;
		pull->tasks = pull->limit = PULL_SCAN_LIMIT;
		pull->load = ~0U;
		pull->also_hot = true;
		pull->now = now;
		pull_tasks(pull);
		send_home(pull, 0);
		if (ARRAYS == 2)
			send_home(pull, 1);
	}
}

/* Note which CPUs are possible but offline at the start; the kernel reports only changes. */
static void note_absent(void)
{
	const struct cpumask *online = scx_bpf_get_online_cpumask();
	s32 cpu;

	bpf_for(cpu, 0, cpu_ids)
		rq_of(cpu)->offline = !bpf_cpumask_test_cpu(cpu, online);
	scx_bpf_put_cpumask(online);
}

/* Have the other CPUs take over the tasks of @cpu, which calls this and still takes interrupts. */
static void leave_to_others(s32 cpu)
{
	s32 other;

	rq_of(cpu)->offline = true;
	orphans = true;
	bpf_for(other, 0, cpu_ids) {
		if (other != cpu && !rq_of(other)->offline)
			scx_bpf_kick_cpu(other, SCX_KICK_PREEMPT);
	}
}

/*
 * Not an extern of that name: the kernel's BTF has none, and libbpf would read all symbols of the
 * kernel at every attachment.
 */
MACHINE("address __cpu_active_mask")
const volatile u64 cpu_active_mask;

/*
 * Before the kernel reports that a CPU goes offline, it lets the CPU run nothing but its own kernel
 * threads, and then waits for RCU, and so for tasks that may be in this CPU's queue.
 */
static bool is_active(s32 cpu)
{
	u64 word;

	if (!cpu_active_mask ||
	    bpf_probe_read_kernel(&word,
				  sizeof(word),
				  (void *)cpu_active_mask + (CPU_INDEX(cpu) / 64) * sizeof(word)))
		return true;
	return word & (1ULL << (CPU_INDEX(cpu) % 64));
}

/* Check once a tick, because the check costs as much as the choice of a task. */
static void leave_if_inactive(struct runqueue *rq, u64 now)
{
	if (rq->offline || elapsed(rq->looked_at, now) < tick_ns)
		return;
	rq->looked_at = now;
	if (!is_active(rq->cpu))
		leave_to_others(rq->cpu);
}

#endif
