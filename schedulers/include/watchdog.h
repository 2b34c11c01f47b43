/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_WATCHDOG_H
#define RUNOFF_WATCHDOG_H

/*
 * The original schedulers let a task wait for as long as better ones have work. The core has a
 * watchdog, which ejects a scheduler under which a task waits for longer than the scheduler has
 * asked for (kernel/sched/ext.c, check_rq_for_timeouts). This is the most that it may ask for,
 * SCX_WATCHDOG_MAX_TIMEOUT; a shorter time would change more of what the originals did.
 */
#define WATCHDOG_MS 30000

/* A task that has waited for half of that gets a turn. */
#define STARVED_MS (WATCHDOG_MS / 2)

/*
 * Threads of the kernel get theirs sooner: one of them is the watchdog's own, which has to run once
 * in half of the limit, and a scheduler under which that is late is ejected as well (scx_tick). So
 * do tasks that were preempted while RCU waits for them: all that frees memory or takes CPUs away
 * waits too, and after 21 s the kernel calls it a stall.
 */
#define KERNEL_STARVED_MS 5000

/* Whether the kernel needs @p to run. */
static bool is_needed(const struct task_struct *p)
{
	if (p->flags & PF_KTHREAD)
		return true;
	return bpf_core_field_exists(p->rcu_read_lock_nesting) && p->rcu_read_lock_nesting;
}

#define WATCHDOG_OPS .timeout_ms = WATCHDOG_MS

#endif
