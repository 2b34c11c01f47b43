/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFS_TAKEN_H
#define BFS_TAKEN_H

#include "include/affinity.h"
#include "include/outranked.h"
#include "state.h"

/* Note whether a higher class has this CPU. */
static void note_taken(struct cpu_state *state)
{
	state->taken = cpu_ids > 1 && is_outranked();
}

static bool is_open(s32 cpu)
{
	const struct cpu_state *state = cpu_state(cpu);

	if (state->offline || state->taken)
		return false;
	return state->level != NOT_OURS || !runs_higher_class(cpu);
}

/* Return a CPU on which @p may run and that no higher class has, -1 if there is none. */
static s32 find_open(const struct task_struct *p)
{
	s32 cpu, open = -1;

	bpf_for(cpu, 0, cpu_ids) {
		if (may_run_on(p, cpu) && is_open(cpu)) {
			open = cpu;
			break;
		}
	}
	return open;
}

/* Whether @cpu may take @p. */
static bool may_take(const struct task_struct *p, s32 cpu)
{
	return may_run_on(p, cpu) && (!cpu_state(cpu)->taken || find_open(p) < 0);
}

#endif
