/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BFS by Con Kolivas in its late form (0.427, for Linux 3.7): one queue for the whole machine,
 * earliest virtual deadline first, and nothing else. docs/schedulers/bfs.md tells the idea, the
 * limits of sched_ext, and every deviation.
 */
#include <scx/common.bpf.h>
#include "include/describe.h"
#include "include/machine.h"

char _license[] SEC("license") = "GPL";

#define SCHED_BATCH 3
#define SCHED_IDLE  5
#define MAX_RT_PRIO 100
#define NICE_WIDTH  40

/* The original divides by shifting: its millisecond is 2^20 ns and its microsecond 2^10 ns. */
#define MS(n) ((u64)(n) << 20)
#define US(n) ((u64)(n) << 10)

/* Less than this is not worth a context switch; the task gets a new quota instead. */
#define QUOTA_USED_UP US(100)
/* With less than this a parent has nothing to share with its child. */
#define QUOTA_TOO_SMALL_TO_SHARE US(200)

/* The original scans the whole queue; the verifier and the queue's lock want a limit. */
#define SCAN_LIMIT 512

/* The watchdog ejects the scheduler when a task waits for 30 s. */
#define STARVED_NS    (15ULL * 1000 * 1000 * 1000)
#define RESCUE_EVERY_NS (1ULL * 1000 * 1000 * 1000)

PARAMETER("ms", "1..1000",
	  "How long a task may run before it gets a new deadline; more means fewer switches and "
	  "longer waits.")
volatile u32 rr_interval_ms = 6;

PARAMETER("%", "0..100",
	  "Share of all CPUs that isochronous tasks may take, over about 5 s, before they queue as "
	  "normal ones.")
volatile u32 iso_cpu = 70;

PARAMETER("pid", "0..4194304",
	  "Process to make isochronous with its threads and later children, for good; 0 is none.")
volatile u32 iso_process = 0;

/* Each nice level waits a tenth longer than the one before it: 128 at nice -20, times 11/10. */
#define RATIO(n, before) RATIO_##n = RATIO_##before * 11 / 10
enum {
	RATIO_0 = 128,
	RATIO(1, 0), RATIO(2, 1), RATIO(3, 2), RATIO(4, 3), RATIO(5, 4), RATIO(6, 5), RATIO(7, 6),
	RATIO(8, 7), RATIO(9, 8), RATIO(10, 9), RATIO(11, 10), RATIO(12, 11), RATIO(13, 12),
	RATIO(14, 13), RATIO(15, 14), RATIO(16, 15), RATIO(17, 16), RATIO(18, 17), RATIO(19, 18),
	RATIO(20, 19), RATIO(21, 20), RATIO(22, 21), RATIO(23, 22), RATIO(24, 23), RATIO(25, 24),
	RATIO(26, 25), RATIO(27, 26), RATIO(28, 27), RATIO(29, 28), RATIO(30, 29), RATIO(31, 30),
	RATIO(32, 31), RATIO(33, 32), RATIO(34, 33), RATIO(35, 34), RATIO(36, 35), RATIO(37, 36),
	RATIO(38, 37), RATIO(39, 38),
};

const volatile u32 prio_ratios[NICE_WIDTH] = {
	RATIO_0,  RATIO_1,  RATIO_2,  RATIO_3,  RATIO_4,  RATIO_5,  RATIO_6,  RATIO_7,
	RATIO_8,  RATIO_9,  RATIO_10, RATIO_11, RATIO_12, RATIO_13, RATIO_14, RATIO_15,
	RATIO_16, RATIO_17, RATIO_18, RATIO_19, RATIO_20, RATIO_21, RATIO_22, RATIO_23,
	RATIO_24, RATIO_25, RATIO_26, RATIO_27, RATIO_28, RATIO_29, RATIO_30, RATIO_31,
	RATIO_32, RATIO_33, RATIO_34, RATIO_35, RATIO_36, RATIO_37, RATIO_38, RATIO_39,
};

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
	u32 last_cpu;
	u32 level;
	bool running;
	bool iso;
	/* What happened since the task was last queued, for enqueue to act on. */
	bool newborn;
	bool placed;
	bool sync;
	bool improved;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* Written by the CPU itself, read by wakers without a lock: losing that race costs one quota. */
struct cpu_state {
	/* Of the running task; NOT_OURS while idle or running a task of another class. */
	u32 level;
	u64 deadline;
	u64 ticked_at;
	/* The last switch came early in a tick, so the quota ends half a tick early. */
	bool dither;
	/* The waiting task that would rather come back here, 0 if none. */
	s32 sticky_pid;
	/* The running task if dispatch is about to replace it; a higher class asks nobody. */
	s32 leaving_pid;
	/* Of a queue during a scan; in memory, or the verifier would look at every round of it. */
	volatile u32 scanned;
};

static struct cpu_state cpus[MAX_CPUS];

/* Which cores and caches have a busy CPU, good for the search that has this number. */
struct busy_marks {
	u64 search;
	u64 core[MAX_CPUS];
	u64 cache[MAX_CPUS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct busy_marks);
} busy SEC(".maps");

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

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct bfs_stats);
} stats SEC(".maps");

#define count(counter)                                                                             \
	do {                                                                                       \
		u32 first = 0;                                                                     \
		struct bfs_stats *mine = bpf_map_lookup_elem(&stats, &first);                      \
		if (mine)                                                                          \
			mine->counter++;                                                           \
	} while (0)

static u64 iso_ticks;
static bool iso_refractory;
static u64 rescued_at;

static struct task_state *state_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, 0, 0);
}

static struct cpu_state *cpu_state(s32 cpu)
{
	return &cpus[CPU_INDEX(cpu)];
}

/* The original's "niffies": one clock for all CPUs that never goes back. */
static u64 niffies(void)
{
	return bpf_ktime_get_ns();
}

static u64 full_quota(void)
{
	return MS(rr_interval_ms);
}

static u64 deadline_offset(s32 static_prio)
{
	u32 nice_level = static_prio - MAX_RT_PRIO;

	if (nice_level >= NICE_WIDTH)
		nice_level = NICE_WIDTH - 1;
	return prio_ratios[nice_level] * full_quota() / RATIO_0;
}

static void renew(struct task_struct *p, struct task_state *t, u64 now)
{
	t->quota_ns = full_quota();
	t->deadline = now + deadline_offset(p->static_prio);
	count(renewals);
}

static void charge(struct task_state *t, u64 now)
{
	u64 ran = time_after(now, t->charged_at) ? now - t->charged_at : 0;

	t->quota_ns -= ran < t->quota_ns ? ran : t->quota_ns;
	t->charged_at = now;
}

static void deschedule(struct task_struct *p, struct task_state *t, u64 now)
{
	charge(t, now);
	if (t->quota_ns < QUOTA_USED_UP || p->policy == SCHED_BATCH)
		renew(p, t, now);
}

static bool signal_pending(struct task_struct *p)
{
	u64 pending = BPF_CORE_READ(p, pending.signal.sig[0]) |
		      BPF_CORE_READ(p, signal, shared_pending.signal.sig[0]);

	return pending & ~p->blocked.sig[0];
}

/* A task that others may be waiting for must not wait behind everybody. */
static bool may_idle(struct task_struct *p)
{
	return !(p->flags & PF_EXITING) && !signal_pending(p) &&
	       !BPF_CORE_READ_BITFIELD_PROBED(p, sched_contributes_to_load);
}

static u32 level_of(struct task_struct *p, struct task_state *t)
{
	if (iso_process && p->tgid == iso_process)
		t->iso = true;
	if (t->iso)
		return iso_refractory ? NORMAL : ISO;
	if (p->policy == SCHED_IDLE && may_idle(p))
		return IDLEPRIO;
	return NORMAL;
}

/*
 * On its way into BPF the kernel may itself forbid the current task to migrate. Only tasks that
 * wait are moved, and for the current one a wrong answer costs an idle CPU a look at the queues.
 */
static bool may_run_on(const struct task_struct *p, s32 cpu)
{
	if (p->migration_disabled && p != bpf_get_current_task_btf())
		return scx_bpf_task_cpu(p) == cpu;
	return bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

static bool is_sticky(const struct task_struct *p, const struct task_state *t)
{
	return cpu_state(t->last_cpu)->sticky_pid == p->pid;
}

static u32 idle_weight(const struct busy_marks *marks, u32 from, u32 cpu)
{
	static const u32 by_distance[] = {0, 1, 2, 8, 32};
	const u32 cache_busy = 4, thread_busy = 16;
	u32 distance = cpu_distance(from, cpu), weight;

	weight = distance < FAR ? by_distance[distance] : by_distance[FAR];
	if (marks->cache[CPU_INDEX(cache_of_cpu[CPU_INDEX(cpu)])] == marks->search)
		weight += cache_busy;
	if (marks->core[CPU_INDEX(core_of_cpu[CPU_INDEX(cpu)])] == marks->search)
		weight += thread_busy;
	return weight;
}

static struct busy_marks *mark_busy(const struct cpumask *idle)
{
	const struct cpumask *online = scx_bpf_get_online_cpumask();
	u32 cpu, first = 0;
	struct busy_marks *marks = bpf_map_lookup_elem(&busy, &first);

	if (marks) {
		marks->search++;
		bpf_for(cpu, 0, cpu_ids) {
			if (!bpf_cpumask_test_cpu(cpu, online) || bpf_cpumask_test_cpu(cpu, idle))
				continue;
			marks->core[CPU_INDEX(core_of_cpu[CPU_INDEX(cpu)])] = marks->search;
			marks->cache[CPU_INDEX(cache_of_cpu[CPU_INDEX(cpu)])] = marks->search;
		}
	}
	scx_bpf_put_cpumask(online);
	return marks;
}

/* The idle CPU nearest to @from that suits @p, or -1. */
static s32 nearest_idle(const struct task_struct *p, s32 from, const struct cpumask *idle)
{
	const struct busy_marks *marks = mark_busy(idle);
	u32 best_weight = ~0U, weight;
	s32 cpu, best = -1;

	if (!marks)
		return -1;
	bpf_for(cpu, 0, cpu_ids) {
		if (!bpf_cpumask_test_cpu(cpu, idle) || !may_run_on(p, cpu))
			continue;
		weight = idle_weight(marks, from, cpu);
		if (weight < best_weight) {
			best_weight = weight;
			best = cpu;
		}
	}
	return best;
}

/* Claim the best idle CPU for @p, which last ran on @from. Returns -1 if there is none. */
static s32 claim_idle(const struct task_struct *p, s32 from)
{
	const struct cpumask *idle;
	s32 cpu = -1;

	if (may_run_on(p, from) && scx_bpf_test_and_clear_cpu_idle(from))
		return from;
	idle = scx_bpf_get_idle_cpumask();
	if (!bpf_cpumask_empty(idle))
		cpu = nearest_idle(p, from, idle);
	scx_bpf_put_idle_cpumask(idle);
	if (cpu >= 0 && !scx_bpf_test_and_clear_cpu_idle(cpu))
		cpu = scx_bpf_pick_idle_cpu(p->cpus_ptr, 0);
	return cpu;
}

/* Interrupt the CPU that runs the worst task, if that is worse than @p. */
static void preempt_worst(const struct task_struct *p, const struct task_state *t)
{
	const struct cpu_state *state;
	u64 latest = 0;
	u32 level = 0;
	s32 cpu, worst = -1;

	bpf_for(cpu, 0, cpu_ids) {
		state = cpu_state(cpu);
		if (state->level == NOT_OURS || !may_run_on(p, cpu))
			continue;
		if (worst >= 0 && (state->level < level || (state->level == level &&
							    !time_after(state->deadline, latest))))
			continue;
		worst = cpu;
		level = state->level;
		latest = state->deadline;
	}
	if (worst < 0 || t->level > level)
		return;
	if (t->level == level && !time_before(t->deadline, latest))
		return;
	scx_bpf_kick_cpu(worst, SCX_KICK_PREEMPT);
	count(preemptions);
}

s32 BPF_STRUCT_OPS(bfs_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	struct task_state *t = state_of(p);
	s32 cpu;

	if (!t)
		return prev_cpu;
	t->sync = wake_flags & SCX_WAKE_SYNC;
	cpu = claim_idle(p, prev_cpu);
	t->placed = cpu >= 0;
	if (!t->placed)
		return prev_cpu;
	count(idle_wakeups);
	return cpu;
}

/* Find a CPU for a task that has just been queued. */
static void announce(struct task_struct *p, struct task_state *t, u64 enq_flags)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	bool may_preempt = (enq_flags & SCX_ENQ_WAKEUP) || t->newborn || t->improved;
	s32 cpu = claim_idle(p, scx_bpf_task_cpu(p));

	if (cpu >= 0) {
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
		return;
	}
	if (!may_preempt || t->level == IDLEPRIO || t->sync)
		return;
	cpu = bpf_get_smp_processor_id();
	/* Parent and child have one deadline; the parent, queued again behind the child, loses. */
	if (t->newborn && p->real_parent->pid == parent->pid && may_run_on(p, cpu))
		scx_bpf_kick_cpu(cpu, SCX_KICK_PREEMPT);
	else
		preempt_worst(p, t);
}

void BPF_STRUCT_OPS(bfs_enqueue, struct task_struct *p, u64 enq_flags)
{
	struct task_state *t = state_of(p);

	if (!t) {
		scx_bpf_error("task %d has no state", p->pid);
		return;
	}
	t->level = level_of(p, t);
	t->queued_at = niffies();
	scx_bpf_dsq_insert_vtime(p, t->level, t->quota_ns, t->deadline, enq_flags);
	/* An idle CPU that select_cpu has chosen comes for the earliest deadline by itself. */
	if (!t->placed)
		announce(p, t, enq_flags);
	t->placed = t->sync = t->newborn = t->improved = false;
}

static bool scan_ends(struct cpu_state *state)
{
	return ++state->scanned > SCAN_LIMIT;
}

/*
 * The task that @cpu should take from @queue, 0 if none. Sticky tasks of other CPUs count with a
 * deadline so far away that they are taken only when nothing else waits here.
 */
static s32 earliest(u64 queue, s32 cpu, u64 *deadline)
{
	struct task_struct *p;
	struct task_state *t;
	struct cpu_state *state = cpu_state(cpu);
	s32 pid = 0;
	u64 key;

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state))
			break;
		t = state_of(p);
		if (!t || !may_run_on(p, cpu))
			continue;
		key = t->deadline;
		if (t->last_cpu != cpu && is_sticky(p, t))
			key <<= cpu_distance(cpu, t->last_cpu);
		if (!pid || time_before(key, *deadline)) {
			pid = p->pid;
			*deadline = key;
		}
		/* The queue is in order of deadlines: nobody behind an unshifted one is earlier. */
		if (key == t->deadline)
			break;
	}
	return pid;
}

static bool take(u64 queue, s32 pid, s32 cpu)
{
	struct task_struct *p;
	struct task_state *t;
	struct cpu_state *state = cpu_state(cpu);

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state))
			break;
		if (p->pid != pid)
			continue;
		t = state_of(p);
		if (t && t->last_cpu != cpu && is_sticky(p, t))
			count(sticky_moves);
		return scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0);
	}
	return false;
}

/* Let tasks through that the watchdog would otherwise call stalled. */
static void rescue_starved(u64 queue, s32 cpu, u64 now)
{
	struct task_struct *p;
	struct task_state *t;
	struct cpu_state *state = cpu_state(cpu);

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state))
			break;
		t = state_of(p);
		if (!t || time_before(now, t->queued_at + STARVED_NS))
			continue;
		scx_bpf_dsq_move_set_vtime(BPF_FOR_EACH_ITER, t->deadline);
		if (scx_bpf_dsq_move_vtime(BPF_FOR_EACH_ITER, p, ISO, 0)) {
			t->level = ISO;
			count(rescues);
		}
	}
}

static void keep(struct task_struct *prev, struct task_state *t, struct cpu_state *state)
{
	scx_bpf_task_set_slice(prev, t->quota_ns);
	state->level = t->level;
	state->deadline = t->deadline;
	state->leaving_pid = 0;
	count(kept);
}

/* Bring the best task of @queue to this CPU unless @limit is earlier. */
static bool supply(u64 queue, s32 cpu, const u64 *limit)
{
	u64 deadline = 0;
	s32 pid, tries;

	bpf_for(tries, 0, 4) {
		pid = earliest(queue, cpu, &deadline);
		if (!pid || (limit && time_before(*limit, deadline)))
			return false;
		if (take(queue, pid, cpu))
			return true;
	}
	return scx_bpf_dsq_move_to_local(queue, 0);
}

void BPF_STRUCT_OPS(bfs_dispatch, s32 cpu, struct task_struct *prev)
{
	struct cpu_state *state = cpu_state(cpu);
	struct task_state *t = NULL;
	u64 now = niffies(), deadline = 0;
	u32 queue;

	if (time_after(now, rescued_at + RESCUE_EVERY_NS)) {
		rescued_at = now;
		rescue_starved(NORMAL, cpu, now);
		rescue_starved(IDLEPRIO, cpu, now);
	}
	if (prev && (prev->scx.flags & SCX_TASK_QUEUED))
		t = state_of(prev);
	if (t) {
		deschedule(prev, t, now);
		t->level = level_of(prev, t);
		deadline = t->deadline;
		state->leaving_pid = prev->pid;
	}
	bpf_for(queue, 0, LEVELS) {
		bool own = t && t->level == queue;

		if (supply(queue, cpu, own ? &deadline : NULL))
			return;
		if (own)
			break;
	}
	if (t)
		keep(prev, t, state);
}

void BPF_STRUCT_OPS(bfs_running, struct task_struct *p)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_state *state = cpu_state(cpu);
	struct task_state *t = state_of(p);
	u64 now = niffies();

	if (!t)
		return;
	if (is_sticky(p, t))
		cpu_state(t->last_cpu)->sticky_pid = 0;
	t->last_cpu = cpu;
	t->charged_at = now;
	t->running = true;
	state->level = t->level;
	state->deadline = t->deadline;
	state->dither = now - state->ticked_at <= tick_ns / 2;
	state->leaving_pid = 0;
}

/* Make @p the sticky task of this CPU and send the one it replaces, if still waiting, elsewhere. */
static void swap_sticky(const struct task_struct *p, struct cpu_state *state, s32 cpu)
{
	s32 old = state->sticky_pid, idle;
	struct task_struct *unstuck;

	state->sticky_pid = p->pid;
	if (!old || old == p->pid)
		return;
	unstuck = bpf_task_from_pid(old);
	if (!unstuck)
		return;
	idle = claim_idle(unstuck, cpu);
	if (idle >= 0)
		scx_bpf_kick_cpu(idle, SCX_KICK_IDLE);
	bpf_task_release(unstuck);
}

void BPF_STRUCT_OPS(bfs_stopping, struct task_struct *p, bool runnable)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct cpu_state *state = cpu_state(cpu);
	struct task_state *t = state_of(p);

	if (!t)
		return;
	deschedule(p, t, niffies());
	t->running = false;
	state->level = NOT_OURS;
	if (!runnable)
		return;
	/* With slice left the core would queue it here, where no other CPU can take it. */
	scx_bpf_task_set_slice(p, 0);
	if (state->leaving_pid == p->pid)
		swap_sticky(p, state, cpu);
	state->leaving_pid = 0;
}

/* One tick of isochronous accounting; the constants are the original's. */
static void account_iso(u32 level)
{
	u64 period = 5 * (1000000000ULL / tick_ns) * cpu_ids + 1;
	u64 limit = period * iso_cpu;

	if (level == ISO && !iso_refractory) {
		if (iso_ticks < 128 * period - 128)
			__sync_fetch_and_add(&iso_ticks, 100);
	} else {
		u64 decay = iso_ticks / period + 1;

		if (iso_ticks >= decay)
			__sync_fetch_and_sub(&iso_ticks, decay);
	}
	if (iso_refractory) {
		count(iso_refused_ticks);
		if (iso_ticks < period * (iso_cpu * 115 / 128))
			iso_refractory = false;
	} else if (iso_ticks > limit) {
		iso_refractory = true;
	}
}

void BPF_STRUCT_OPS(bfs_tick, struct task_struct *p)
{
	struct cpu_state *state = cpu_state(bpf_get_smp_processor_id());
	struct task_state *t = state_of(p);
	u64 now = niffies();

	if (!t)
		return;
	state->ticked_at = now;
	account_iso(t->level);
	charge(t, now);
	if (t->level == ISO && iso_refractory) {
		t->quota_ns = 0;
	} else if (state->dither) {
		if (t->quota_ns > tick_ns / 2)
			return;
		t->quota_ns = 0;
	} else if (t->quota_ns >= QUOTA_USED_UP) {
		return;
	}
	scx_bpf_task_set_slice(p, 0);
}

void BPF_STRUCT_OPS(bfs_set_weight, struct task_struct *p, u32 weight)
{
	struct task_state *t = state_of(p);
	s32 old;

	if (!t || t->static_prio == p->static_prio)
		return;
	old = t->static_prio;
	t->static_prio = p->static_prio;
	t->deadline += deadline_offset(p->static_prio) - deadline_offset(old);
	t->improved = p->static_prio < old;
	if (!t->improved && t->running)
		scx_bpf_kick_cpu(scx_bpf_task_cpu(p), SCX_KICK_PREEMPT);
}

/* Halve what the parent has left; a parent without enough stops and its child starts afresh. */
static void inherit(struct task_struct *p, struct task_state *t, struct task_struct *parent, u64 now)
{
	struct task_state *from = state_of(parent);

	if (!from)
		return;
	t->iso = from->iso;
	if (!from->running)
		return;
	charge(from, now);
	if (from->quota_ns < QUOTA_TOO_SMALL_TO_SHARE) {
		from->quota_ns = 0;
		scx_bpf_kick_cpu(scx_bpf_task_cpu(parent), SCX_KICK_PREEMPT);
		return;
	}
	from->quota_ns /= 2;
	t->quota_ns = from->quota_ns;
	t->deadline = from->deadline;
}

s32 BPF_STRUCT_OPS(bfs_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task_state *t = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	u64 now = niffies();

	if (!t)
		return -ENOMEM;
	t->static_prio = p->static_prio;
	t->last_cpu = scx_bpf_task_cpu(p);
	renew(p, t, now);
	if (args->fork) {
		t->newborn = true;
		inherit(p, t, bpf_get_current_task_btf(), now);
	}
	return 0;
}

/*
 * A task may be queued between this CPU's last look at the queues and the moment others could see
 * it idle, so look once more.
 */
void BPF_STRUCT_OPS(bfs_update_idle, s32 cpu, bool idle)
{
	u32 queue;

	if (!idle)
		return;
	bpf_for(queue, 0, LEVELS) {
		if (scx_bpf_dsq_nr_queued(queue) > 0) {
			scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
			return;
		}
	}
}

void BPF_STRUCT_OPS(bfs_cpu_online, s32 cpu)
{
}

void BPF_STRUCT_OPS(bfs_cpu_offline, s32 cpu)
{
	struct cpu_state *state = cpu_state(cpu);

	state->level = NOT_OURS;
	state->sticky_pid = 0;
}

s32 BPF_STRUCT_OPS_SLEEPABLE(bfs_init)
{
	u32 cpu, queue;
	s32 error;

	bpf_for(cpu, 0, cpu_ids)
		cpu_state(cpu)->level = NOT_OURS;
	bpf_for(queue, 0, LEVELS) {
		error = scx_bpf_create_dsq(queue, -1);
		if (error)
			return error;
	}
	return 0;
}

SCHEDULER("One queue for all CPUs, earliest virtual deadline first (Con Kolivas, 2009).")
SCX_OPS_DEFINE(bfs_ops,
	       .select_cpu = (void *)bfs_select_cpu,
	       .enqueue = (void *)bfs_enqueue,
	       .dispatch = (void *)bfs_dispatch,
	       .tick = (void *)bfs_tick,
	       .running = (void *)bfs_running,
	       .stopping = (void *)bfs_stopping,
	       .set_weight = (void *)bfs_set_weight,
	       .update_idle = (void *)bfs_update_idle,
	       .init_task = (void *)bfs_init_task,
	       .cpu_online = (void *)bfs_cpu_online,
	       .cpu_offline = (void *)bfs_cpu_offline,
	       .init = (void *)bfs_init,
	       .flags = SCX_OPS_ENQ_EXITING | SCX_OPS_KEEP_BUILTIN_IDLE,
	       .name = "bfs");
