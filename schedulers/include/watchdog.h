/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_WATCHDOG_H
#define RUNOFF_WATCHDOG_H

/*
 * The schedulers of their time let a task wait for as long as better ones had work. Today the core
 * has a watchdog, which ejects a scheduler under which a task waits for longer than it has asked
 * for (kernel/sched/ext.c, check_rq_for_timeouts). This is the most that may be asked for,
 * SCX_WATCHDOG_MAX_TIMEOUT; less would only change more of what the originals did.
 */
#define WATCHDOG_MS 30000

/* Who has waited for half of that gets a turn. */
#define STARVED_MS (WATCHDOG_MS / 2)

/*
 * Threads of the kernel have to be sooner: one of them is the watchdog's own, wants to run every
 * half of its limit, and its being late for as long counts as well (scx_tick).
 */
#define KERNEL_STARVED_MS 5000

#define WATCHDOG_OPS .timeout_ms = WATCHDOG_MS

#endif
