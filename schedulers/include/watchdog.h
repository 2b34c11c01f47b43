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
 * in half of the limit, and a scheduler under which that is late is ejected as well (scx_tick).
 */
#define KERNEL_STARVED_MS 5000

#define WATCHDOG_OPS .timeout_ms = WATCHDOG_MS

#endif
