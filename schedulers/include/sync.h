/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_SYNC_H
#define RUNOFF_SYNC_H

#include "machine.h"

/*
 * Whether a waker promised to sleep soon is said to select_cpu alone, which the kernel does not
 * call where there is nothing to select. On a machine with one CPU this program hears it from the
 * wake-up itself; the loader leaves it out on others.
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
