/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How often a task of the workload begins to run on another CPU than it ran on last, by what the
 * two CPUs share.
 */
#include "include/workload.h"
#include "include/machine.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64[FAR + 1]);
} moves SEC(".maps");

struct place {
	u32 cpu;
	bool known;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct place);
} places SEC(".maps");

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	u32 first = 0, cpu = bpf_get_smp_processor_id(), distance;
	struct place *last;
	u64 *counts;

	if (!in_workload(next))
		return 0;
	last = bpf_task_storage_get(&places, next, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	counts = bpf_map_lookup_elem(&moves, &first);
	if (!last || !counts)
		return 0;
	distance = cpu_distance(last->cpu, cpu);
	if (last->known && distance <= FAR)
		counts[distance]++;
	last->cpu = cpu;
	last->known = true;
	return 0;
}
