/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFS_LEVEL_H
#define BFS_LEVEL_H

#include "iso.h"
#include "state.h"
#include "include/policies.h"

static bool signal_pending(struct task_struct *p)
{
	u64 pending = BPF_CORE_READ(p, pending.signal.sig[0]) |
		      BPF_CORE_READ(p, signal, shared_pending.signal.sig[0]);

	return pending & ~p->blocked.sig[0];
}

/* Whether @p may wait behind all others; not if others may be waiting for what it holds. */
static bool may_idle(struct task_struct *p, const struct task_state *t)
{
	return !(p->flags & PF_EXITING) && !signal_pending(p) && !t->slept_uninterruptibly;
}

static u32 level_of(struct task_struct *p, struct task_state *t)
{
	if (iso_process && p->tgid == iso_process)
		t->iso = true;
	if (t->iso)
		return iso_refractory ? NORMAL : ISO;
	if (p->policy == SCHED_IDLE && may_idle(p, t))
		return IDLEPRIO;
	return NORMAL;
}

#endif
