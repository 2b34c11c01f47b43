/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFS_RESCUE_H
#define BFS_RESCUE_H

#include "queue.h"
#include "include/watchdog.h"

#define STARVED_NS	  (STARVED_MS * 1000000ULL)
#define KERNEL_STARVED_NS (KERNEL_STARVED_MS * 1000000ULL)
#define RESCUE_EVERY_NS	  (1ULL * 1000 * 1000 * 1000)
#define FIRST_OF_ALL	  0

/* Let tasks run that the watchdog would otherwise call stalled. */
static void rescue_starved(u64 queue, s32 cpu, u64 now)
{
	struct task_struct *p;
	struct task_state *t;
	bool needed;
	struct cpu_state *state = cpu_state(cpu);

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SEARCH_LIMIT))
			break;
		t = state_of(p);
		if (!t)
			continue;
		needed = is_needed(p);
		if (time_before(now, t->queued_at + (needed ? KERNEL_STARVED_NS : STARVED_NS)))
			continue;
		if (needed)
			t->deadline = FIRST_OF_ALL;
		/* Better tasks wait for all of them, so each has a tick and not a quota. */
		scx_bpf_dsq_move_set_slice(BPF_FOR_EACH_ITER, tick_ns);
		scx_bpf_dsq_move_set_vtime(BPF_FOR_EACH_ITER, t->deadline);
		if (scx_bpf_dsq_move_vtime(BPF_FOR_EACH_ITER, p, ISO, 0)) {
			t->level = ISO;
			t->quota_ns = tick_ns;
			count(rescues);
		}
	}
}

#endif
