/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How long the workload's tasks wait from a wake-up until they run. The time begins with
 * sched_waking, on the CPU of the waker, so it includes the way to another CPU. It counts only if
 * sched_wakeup follows while the task is on no CPU: a task that is woken before it has left its CPU
 * does not wait.
 */
#include "include/workload.h"
#include "include/histogram.h"

char _license[] SEC("license") = "GPL";

struct wakeup {
	u64 waking_at;
	u64 woken_at;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct wakeup);
} wakeups SEC(".maps");

/* Return NULL for a task outside the workload, or without storage unless @flags make it. */
static __always_inline struct wakeup *wakeup_of(struct task_struct *p, u64 flags)
{
	return in_workload(p) ? bpf_task_storage_get(&wakeups, p, 0, flags) : NULL;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(waking, struct task_struct *p)
{
	struct wakeup *w = wakeup_of(p, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (w)
		w->waking_at = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(woken, struct task_struct *p)
{
	struct wakeup *w = wakeup_of(p, 0);

	if (!w)
		return 0;
	if (!has_cpu(p))
		w->woken_at = w->waking_at;
	w->waking_at = 0;
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(woken_new, struct task_struct *p)
{
	struct wakeup *w = wakeup_of(p, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (w)
		w->woken_at = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct wakeup *w = wakeup_of(next, 0);

	if (!w || !w->woken_at)
		return 0;
	add_time(time_since(w->woken_at));
	w->woken_at = 0;
	return 0;
}
