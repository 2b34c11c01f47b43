/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the workload's tasks run at a time, and how often they lose the CPU though they could go
 * on.
 */
#include "include/workload.h"
#include "include/histogram.h"

char _license[] SEC("license") = "GPL";

/* When the CPU was last given to another task; 0 before the first switch that was seen. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} since SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} preemptions SEC(".maps");

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	u64 now = bpf_ktime_get_ns();
	u32 first = 0;
	u64 *begun = bpf_map_lookup_elem(&since, &first);
	u64 *lost = bpf_map_lookup_elem(&preemptions, &first);

	if (!begun || !lost)
		return 0;
	if (*begun && in_workload(prev)) {
		add_time(now - *begun);
		*lost += still_runnable(preempt, prev_state);
	}
	*begun = now;
	return 0;
}
