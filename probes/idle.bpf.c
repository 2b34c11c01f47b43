/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For how long a CPU had nothing to do while a task of the workload waited for one.
 *
 * A task waits from sched_wakeup, or from losing the CPU, until it runs. One that may use only a
 * single CPU is left out: no other CPU could have helped it. A CPU is idle while its idle task has
 * it; only CPUs that the workload may use count.
 */
#include "include/workload.h"
#include "include/machine.h"

char _license[] SEC("license") = "GPL";

/* 1 for each CPU that the workload may use; the loader fills it in. */
const volatile u8 usable[MAX_CPUS];

#define WAITING_TASK 1ULL
#define IDLE_CPU     (1ULL << 32)

/* Idle CPUs and waiting tasks in one word, so that an atomic addition changes and reads both. */
u64 idle_and_waiting;

/*
 * The ends of all times with both, less their beginnings: sums do not care in which order two CPUs
 * get to them.
 */
u64 overlap_ns;
u64 overlaps;

static bool idle[MAX_CPUS];

struct waiting {
	bool counted;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct waiting);
} tasks SEC(".maps");

static __always_inline bool both(u64 counts)
{
	return counts >= IDLE_CPU && (counts & (IDLE_CPU - 1));
}

static __always_inline void change(u64 amount)
{
	u64 before;
	bool had, has;

	if (!amount)
		return;
	before = __sync_fetch_and_add(&idle_and_waiting, amount);
	had = both(before);
	has = both(before + amount);
	if (had == has)
		return;
	if (has) {
		__sync_fetch_and_add(&overlap_ns, -bpf_ktime_get_ns());
		__sync_fetch_and_add(&overlaps, 1);
	} else {
		__sync_fetch_and_add(&overlap_ns, bpf_ktime_get_ns());
	}
}

/* What it changes that @p waits from now on; nothing if it did so already. */
static __always_inline u64 begins_to_wait(struct task_struct *p)
{
	struct waiting *w;

	if (p->nr_cpus_allowed == 1)
		return 0;
	w = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!w || w->counted)
		return 0;
	w->counted = true;
	return WAITING_TASK;
}

static __always_inline u64 ends_to_wait(struct task_struct *p)
{
	struct waiting *w = bpf_task_storage_get(&tasks, p, 0, 0);

	if (!w || !w->counted)
		return 0;
	w->counted = false;
	return -WAITING_TASK;
}

/* What it changes that this CPU has become idle, or is not any more. */
static __always_inline u64 becomes_idle(bool is)
{
	u32 cpu = CPU_INDEX(bpf_get_smp_processor_id());

	if (!usable[cpu] || idle[cpu] == is)
		return 0;
	idle[cpu] = is;
	return is ? IDLE_CPU : -IDLE_CPU;
}

/* A task that is woken before it has left its CPU does not wait. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(woken, struct task_struct *p)
{
	if (in_workload(p) && !has_cpu(p))
		change(begins_to_wait(p));
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(woken_new, struct task_struct *p)
{
	if (in_workload(p))
		change(begins_to_wait(p));
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(switched, bool preempt, struct task_struct *prev, struct task_struct *next,
	     unsigned int prev_state)
{
	u64 amount = becomes_idle(!next->pid);

	if (in_workload(next))
		amount += ends_to_wait(next);
	if (in_workload(prev) && still_runnable(preempt, prev_state))
		amount += begins_to_wait(prev);
	change(amount);
	return 0;
}
