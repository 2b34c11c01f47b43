/* SPDX-License-Identifier: GPL-2.0 */
/*
 * First come, first served, by a way that the user chooses: the machine's one queue or the queue of
 * each CPU. Its counters show which way tasks really went.
 */
#include <scx/common.bpf.h>
#include "include/describe.h"

char _license[] SEC("license") = "GPL";

enum queue { MACHINE_QUEUE = 0, CPU_QUEUE = 1 };
enum era { ERA_2_6_8 = 0, ERA_2_6_31 = 1 };

CHOICE("machine, cpu", "Where tasks wait.")
volatile u32 queue = MACHINE_QUEUE;

PARAMETER("ms", "1..100", "How long a task runs at most.")
volatile u16 slice_ms = 20;

CHOICE("2.6.8, 2.6.31", "Which of two equal releases to follow.")
const volatile u8 era = ERA_2_6_31;

struct choosy_stats {
	STATISTIC("Tasks put into the queue of the machine.")
	u64 machine;
	STATISTIC("Tasks put into the queue of their CPU.")
	u64 cpu;
	STATISTIC("Tasks queued while the newer release was followed.")
	u64 newer;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct choosy_stats);
} stats SEC(".maps");

/* Gives no idle CPU to the task, so that every wake-up is queued and counted. */
s32 BPF_STRUCT_OPS(choosy_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	return prev_cpu;
}

void BPF_STRUCT_OPS(choosy_enqueue, struct task_struct *p, u64 enq_flags)
{
	u32 first = 0;
	struct choosy_stats *mine = bpf_map_lookup_elem(&stats, &first);
	u64 chosen = SCX_DSQ_GLOBAL;

	if (!mine)
		return;
	if (queue == CPU_QUEUE) {
		chosen = SCX_DSQ_LOCAL;
		mine->cpu++;
	} else {
		mine->machine++;
	}
	mine->newer += era == ERA_2_6_31;
	scx_bpf_dsq_insert(p, chosen, slice_ms * 1000000ULL, enq_flags);
}

SCHEDULER("First come, first served, with choices for tests.")
SCX_OPS_DEFINE(choosy_ops, .select_cpu = (void *)choosy_select_cpu,
	       .enqueue = (void *)choosy_enqueue, .name = "choosy");
