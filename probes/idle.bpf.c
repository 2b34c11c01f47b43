/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measures how long a CPU had nothing to do while a task of the workload waited for one.
 *
 * A task waits from sched_wakeup, or from losing the CPU, until it runs. A task that may use only
 * one CPU is left out: no other CPU could have helped it. A CPU is idle while its idle task has
 * it; only CPUs that the workload may use count.
 *
 * Also the longest time for which one CPU was idle while one task waited that might have run there.
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
 * The ends of all overlaps minus their beginnings: the order in which two CPUs add to a sum does
 * not matter.
 */
u64 overlap_ns;
u64 overlaps;

static bool idle[MAX_CPUS];

u64 longest_ns;

struct span {
	u64 from;
	u64 until;
};

#define SPANS_KEPT 16

/* Past times of idleness of a CPU that were longer than the longest overlap at that time. */
struct idleness {
	u64 since;
	u32 kept;
	/* Whether it goes offline, is offline, or comes back. */
	bool gone;
	/* Whether it comes back. */
	bool comes;
	struct span last[SPANS_KEPT];
};

static struct idleness idlenesses[MAX_CPUS];

struct waiting {
	bool counted;
	u64 since;
	/* The CPUs that it could run on then: a task that may run elsewhere now is not compared. */
	u64 first_cpus;
	u32 nr_cpus;
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

/* Return the CPUs from 64 * @index on that @p may run on, as bits. */
static __always_inline u64 cpus_of(struct task_struct *p, u32 index)
{
	u64 word = 0;

	bpf_probe_read_kernel(
		&word, sizeof(word), (const void *)p->cpus_ptr + index * sizeof(word));
	return word;
}

static __always_inline void consider(u64 from, u64 until, u64 waits_since)
{
	s64 both = until - (from > waits_since ? from : waits_since);

	if (both > (s64)longest_ns)
		longest_ns = both;
}

/* @p, which has waited, has a CPU now: find for how long it could have had another one. */
static __noinline void compare_with_idle(struct task_struct *p, u64 since, u64 now)
{
	struct idleness *other;
	u64 idle_since;
	u32 cpu, index;

	bpf_for(cpu, 0, cpu_ids) {
		other = &idlenesses[CPU_INDEX(cpu)];
		if (other->gone || !usable[CPU_INDEX(cpu)] ||
		    !(cpus_of(p, CPU_INDEX(cpu) / 64) & (1ULL << (cpu % 64))))
			continue;
		idle_since = *(volatile u64 *)&other->since;
		if (idle_since)
			consider(idle_since, now, since);
		bpf_for(index, 0, SPANS_KEPT) {
			if (index < SPANS_KEPT)
				consider(other->last[index].from, other->last[index].until, since);
		}
	}
}

/* Note that @p waits from now on. Return what to add to idle_and_waiting. */
static __always_inline u64 begins_to_wait(struct task_struct *p)
{
	struct waiting *w;

	if (p->nr_cpus_allowed == 1)
		return 0;
	w = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!w || w->counted)
		return 0;
	w->since = bpf_ktime_get_ns();
	w->first_cpus = cpus_of(p, 0);
	w->nr_cpus = p->nr_cpus_allowed;
	barrier();
	w->counted = true;
	return WAITING_TASK;
}

/* Note that @p waits no longer. Return what to add to idle_and_waiting. */
static __always_inline u64 ends_to_wait(struct task_struct *p)
{
	struct waiting *w = bpf_task_storage_get(&tasks, p, 0, 0);
	u64 now = bpf_ktime_get_ns();

	if (!w || !w->counted)
		return 0;
	w->counted = false;
	/* Two CPUs may come to one task at the same time. */
	if (w->since && (s64)(now - w->since) > (s64)longest_ns && w->first_cpus == cpus_of(p, 0) &&
	    w->nr_cpus == p->nr_cpus_allowed)
		compare_with_idle(p, w->since, now);
	return -WAITING_TASK;
}

static __always_inline void note_idleness(struct idleness *own, bool begins)
{
	u64 now = bpf_ktime_get_ns();
	struct span *span;

	if (begins) {
		own->since = now;
		return;
	}
	if (own->since && !own->gone && now - own->since > longest_ns) {
		span = &own->last[own->kept++ % SPANS_KEPT];
		span->from = own->since;
		span->until = now;
	}
	own->since = 0;
}

/* Note whether this CPU is idle now. Return what to add to idle_and_waiting. */
static __always_inline u64 becomes_idle(bool is)
{
	u32 cpu = CPU_INDEX(bpf_get_smp_processor_id());

	if (!usable[cpu] || idle[cpu] == is)
		return 0;
	idle[cpu] = is;
	note_idleness(&idlenesses[cpu], is);
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

/*
 * A CPU that goes offline runs no task from the first step on, and one that comes back runs none
 * until the last step: its idle task has it, but it does not count as idle.
 */
SEC("tp_btf/cpuhp_enter")
int BPF_PROG(changes, unsigned int cpu, int target)
{
	struct idleness *its = &idlenesses[CPU_INDEX(cpu)];

	its->gone = true;
	its->comes = target == bpf_core_enum_value(enum cpuhp_state, CPUHP_ONLINE);
	return 0;
}

SEC("tp_btf/cpuhp_exit")
int BPF_PROG(changed, unsigned int cpu, int state, int step)
{
	struct idleness *its = &idlenesses[CPU_INDEX(cpu)];

	if (!its->comes || step != bpf_core_enum_value(enum cpuhp_state, CPUHP_AP_ACTIVE))
		return 0;
	its->gone = false;
	its->since = idle[CPU_INDEX(cpu)] ? bpf_ktime_get_ns() : 0;
	return 0;
}
