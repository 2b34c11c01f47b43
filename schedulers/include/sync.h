/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_SYNC_H
#define RUNOFF_SYNC_H

#include "machine.h"

/*
 * The kernel passes a waker's promise to sleep soon only to select_cpu, which it does not call
 * where there is nothing to select. On a machine with one CPU this program reads the promise from
 * the wake-up itself; on others the loader leaves it out.
 */
static s32 woken_pid;
static bool woken_sync;

SEC("fentry/try_to_wake_up")
int BPF_PROG(hear_sync, struct task_struct *p, unsigned int state, int wake_flags)
{
	woken_pid = p->pid;
	woken_sync = wake_flags & SCX_WAKE_SYNC;
	return 0;
}

static bool is_sync_wakeup(const struct task_struct *p)
{
	return cpu_ids == 1 && woken_sync && woken_pid == p->pid;
}

#endif
