/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BFS_STATE_H
#define BFS_STATE_H

#include "include/machine.h"
#include "include/statistics.h"

/* Best first. Each but the last is also the number of its queue. */
enum level {
	ISO = 0,
	NORMAL = 1,
	IDLEPRIO = 2,
	LEVELS = 3,
	NOT_OURS = LEVELS,
};

struct task_state {
	u64 deadline;
	u64 quota_ns;
	/* While running: the time up to which quota_ns has been charged. */
	u64 charged_at;
	u64 queued_at;
	s32 static_prio;
	u32 policy;
	u32 last_cpu;
	u32 level;
	bool running;
	bool iso;
	/* What happened since the task was last queued; enqueue acts on it. */
	bool newborn;
	bool placed;
	bool sync;
	bool improved;
	/* Until it has run: whether it comes from a sleep that others may have waited for. */
	bool slept_uninterruptibly;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* Written by the CPU itself, read by wakers without a lock: losing that race costs one quota. */
struct cpu_state {
	/* Level of the running task; NOT_OURS while idle or running a task of another class. */
	u32 level;
	u64 deadline;
	u64 ticked_at;
	/* Whether the last choice came early in a tick: the quota then ends half a tick early. */
	bool dither;
	/* The waiting task that would rather come back here, 0 if none. */
	s32 sticky_pid;
	/* The running task if dispatch is about to replace it, and not a higher class. */
	s32 leaving_pid;
	/* Whether a higher class has it, even if the kernel's server lends it to a task of ours. */
	bool taken;
	/* Whether it is going offline or has gone: a kick that it asks for itself would be lost. */
	bool offline;
	/* Tasks seen in a scan of a queue; on the stack the verifier would check every round. */
	volatile u32 scanned;
	/* When it last looked for tasks that starve. */
	u64 rescued_at;
} OWN_CACHE_LINES;

static struct cpu_state cpus[MAX_CPUS];

struct bfs_stats {
	STATISTIC("Tasks that used up their quota and got a new deadline.")
	u64 renewals;
	STATISTIC("Tasks that were woken onto an idle CPU.")
	u64 idle_wakeups;
	STATISTIC("Running tasks that had to make way for an earlier deadline or a better level.")
	u64 preemptions;
	STATISTIC("Times the running task stayed because its deadline was still the earliest.")
	u64 kept;
	STATISTIC("Tasks taken by a CPU other than the one they were sticky to.")
	u64 sticky_moves;
	STATISTIC("Ticks during which isochronous tasks had used up their share.")
	u64 iso_refused_ticks;
	STATISTIC("Tasks let through because the watchdog would have ended their starvation.")
	u64 rescues;
};

STATISTICS(bfs_stats)

static struct task_state *state_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, 0, 0);
}

static struct cpu_state *cpu_state(s32 cpu)
{
	return &cpus[CPU_INDEX(cpu)];
}

#endif
