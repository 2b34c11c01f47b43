/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BFS by Con Kolivas in its late form (0.427, for Linux 3.7): one queue for the whole machine,
 * earliest virtual deadline first, and nothing else. docs/schedulers/bfs.md tells the idea, the
 * limits of sched_ext, and every deviation.
 */
#include <scx/common.bpf.h>
#include "include/exit.h"
#include "include/online.h"
#include "include/outranked.h"
#include "include/sleep.h"
#include "include/sync.h"
#include "include/watchdog.h"
#include "bfs/deadline.h"
#include "bfs/iso.h"
#include "bfs/place.h"
#include "bfs/state.h"

char _license[] SEC("license") = "GPL";

/* The original scans the whole queue; the verifier and the queue's lock want a limit. */
#define SCAN_LIMIT 512

/* What a look may cost that is not for every choice. */
#define SEARCH_LIMIT 8192

#define STARVED_NS	  (STARVED_MS * 1000000ULL)
#define KERNEL_STARVED_NS (KERNEL_STARVED_MS * 1000000ULL)
#define RESCUE_EVERY_NS	  (1ULL * 1000 * 1000 * 1000)
#define FIRST_OF_ALL	  0

static bool signal_pending(struct task_struct *p)
{
	u64 pending = BPF_CORE_READ(p, pending.signal.sig[0]) |
		      BPF_CORE_READ(p, signal, shared_pending.signal.sig[0]);

	return pending & ~p->blocked.sig[0];
}

/* A task that others may be waiting for must not wait behind everybody. */
static bool may_idle(struct task_struct *p, const struct task_state *t)
{
	return !(p->flags & PF_EXITING) && !signal_pending(p) && !t->slept_uninterruptibly;
}

static u32 level_of(struct task_struct *p, struct task_state *t)
{
	if (iso_process && p->tgid == iso_process)
		t->iso = true;
	if (t->iso)
		return iso_refractory ? NORMAL : ISO;
	if (p->policy == SCHED_IDLE && may_idle(p, t))
		return IDLEPRIO;
	return NORMAL;
}

static bool is_sticky(const struct task_struct *p, const struct task_state *t)
{
	return cpu_state(t->last_cpu)->sticky_pid == p->pid;
}

static bool anybody_waits(void)
{
	u32 queue;

	bpf_for(queue, 0, LEVELS) {
		if (scx_bpf_dsq_nr_queued(queue) > 0)
			return true;
	}
	return false;
}

/* The CPU is its own, so that it need not be looked up in the queue. */
static void hand_over(struct task_struct *p, struct task_state *t)
{
	t->level = level_of(p, t);
	t->placed = t->sync = t->newborn = t->improved = false;
	scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, t->quota_ns, 0);
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
	if (!anybody_waits() && may_be_called_back())
		hand_over(p, t);
	return cpu;
}

/* Find a CPU for a task that has just been queued. */
static void announce(struct task_struct *p, struct task_state *t, u64 enq_flags)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	bool may_preempt =
		(enq_flags & (SCX_ENQ_WAKEUP | SCX_ENQ_REENQ)) || t->newborn || t->improved;
	s32 cpu = claim_idle(p, scx_bpf_task_cpu(p));

	if (cpu >= 0) {
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
		return;
	}
	if (!may_preempt || t->level == IDLEPRIO || t->sync || is_sync_wakeup(p))
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

static bool scan_ends(struct cpu_state *state, u32 limit)
{
	return ++state->scanned > limit;
}

/*
 * The task that @cpu should take from @queue, 0 if none. Sticky tasks of other CPUs count with a
 * deadline so far away that they are taken only when nothing else waits here. Neither this nor
 * take() is static, so that the verifier looks at them once (bfs/place.h, idle_weight).
 */
__noinline s32 earliest(u64 queue, s32 cpu, u64 *deadline __arg_nonnull)
{
	struct task_struct *p;
	struct task_state *t;
	struct cpu_state *state = cpu_state(cpu);
	s32 pid = 0;
	u64 key;

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SCAN_LIMIT))
			break;
		t = state_of(p);
		if (!t || !may_run_on(p, cpu))
			continue;
		key = t->deadline;
		/* Who sticks to a CPU that a higher class has would be stuck. */
		if (t->last_cpu != cpu && is_sticky(p, t) &&
		    cpu_state(t->last_cpu)->level != NOT_OURS)
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

__noinline int take(u64 queue, s32 pid, s32 cpu)
{
	struct task_struct *p;
	struct task_state *t;
	struct cpu_state *state = cpu_state(cpu);

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SCAN_LIMIT))
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

/*
 * Behind a crowd that may not run on @cpu: the first task of @queue that may, whatever it is sticky
 * to, unless its deadline is later than @limit.
 */
__noinline int take_behind(u64 queue, s32 cpu, u64 limit)
{
	struct task_struct *p;
	struct cpu_state *state = cpu_state(cpu);

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SEARCH_LIMIT) || time_after(p->scx.dsq_vtime, limit))
			break;
		if (may_run_on(p, cpu) && scx_bpf_dsq_move(BPF_FOR_EACH_ITER, p, SCX_DSQ_LOCAL, 0))
			return true;
	}
	return false;
}

/* Let tasks through that the watchdog would otherwise call stalled. */
static void rescue_starved(u64 queue, s32 cpu, u64 now)
{
	struct task_struct *p;
	struct task_state *t;
	bool is_of_kernel;
	struct cpu_state *state = cpu_state(cpu);

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SEARCH_LIMIT))
			break;
		t = state_of(p);
		if (!t)
			continue;
		is_of_kernel = p->flags & PF_KTHREAD;
		if (time_before(now,
				t->queued_at + (is_of_kernel ? KERNEL_STARVED_NS : STARVED_NS)))
			continue;
		if (is_of_kernel)
			t->deadline = FIRST_OF_ALL;
		/* Whoever is better waits for all of them: a tick each, not a quota. */
		scx_bpf_dsq_move_set_slice(BPF_FOR_EACH_ITER, tick_ns);
		scx_bpf_dsq_move_set_vtime(BPF_FOR_EACH_ITER, t->deadline);
		if (scx_bpf_dsq_move_vtime(BPF_FOR_EACH_ITER, p, ISO, 0)) {
			t->level = ISO;
			t->quota_ns = tick_ns;
			count(rescues);
		}
	}
}

/* The CPU runs @t from now on, chosen anew or once more. */
static void begin_turn(const struct task_state *t, struct cpu_state *state, u64 now)
{
	state->level = t->level;
	state->deadline = t->deadline;
	state->dither = now - state->ticked_at <= tick_ns / 2;
	state->leaving_pid = 0;
}

static void keep(struct task_struct *prev, struct task_state *t, struct cpu_state *state, u64 now)
{
	scx_bpf_task_set_slice(prev, t->quota_ns);
	begin_turn(t, state, now);
	count(kept);
}

/* Bring the best task of @queue to this CPU unless @limit is earlier. */
static bool supply(u64 queue, s32 cpu, const u64 *limit)
{
	u64 deadline = 0;
	s32 pid, tries;

	/* Asking costs less than beginning a walk, and most queues are empty. */
	if (scx_bpf_dsq_nr_queued(queue) <= 0)
		return false;
	bpf_for(tries, 0, 4) {
		pid = earliest(queue, cpu, &deadline);
		/* Among those who were looked at nobody may run here. */
		if (!pid && cpu_state(cpu)->scanned > SCAN_LIMIT)
			break;
		if (!pid || (limit && time_before(*limit, deadline)))
			return false;
		if (take(queue, pid, cpu))
			return true;
	}
	return limit ? take_behind(queue, cpu, *limit) : scx_bpf_dsq_move_to_local(queue, 0);
}

void BPF_STRUCT_OPS(bfs_dispatch, s32 cpu, struct task_struct *prev)
{
	struct cpu_state *state = cpu_state(cpu);
	struct task_state *t = NULL;
	u64 now = niffies(), deadline = 0;
	u32 queue;

	if (time_after(now, state->rescued_at + RESCUE_EVERY_NS)) {
		state->rescued_at = now;
		rescue_starved(NORMAL, cpu, now);
		rescue_starved(IDLEPRIO, cpu, now);
	}
	if (prev && (prev->scx.flags & SCX_TASK_QUEUED))
		t = state_of(prev);
	if (t) {
		deschedule(prev, t, now);
		t->slept_uninterruptibly = false;
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
		keep(prev, t, state, now);
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
	begin_turn(t, state, now);
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
	t->slept_uninterruptibly = !runnable && is_uninterruptible(p->__state);
	state->level = NOT_OURS;
	/* What the core has been given would wait for long where a higher class takes the CPU. */
	if (cpu_ids > 1 && !state->offline && is_outranked())
		scx_bpf_reenqueue_local_from_anywhere();
	if (!runnable)
		return;
	/* With slice left the core would queue it here, where no other CPU can take it. */
	scx_bpf_task_set_slice(p, 0);
	if (state->leaving_pid == p->pid)
		swap_sticky(p, state, cpu);
	state->leaving_pid = 0;
}

void BPF_STRUCT_OPS(bfs_tick, struct task_struct *p)
{
	struct cpu_state *state = cpu_state(bpf_get_smp_processor_id());
	struct task_state *t = state_of(p);
	u64 now = niffies(), ran;
	bool is_iso;

	if (!t)
		return;
	state->ticked_at = now;
	ran = time_after(now, t->charged_at) ? now - t->charged_at : 0;
	/* Who is being rescued is on that level too. */
	is_iso = t->iso && t->level == ISO;
	account_iso(is_iso, ran < 2 * tick_ns ? 1 : ran / tick_ns);
	charge(t, now);
	if (is_iso && iso_refractory) {
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

	if (!t || (t->static_prio == p->static_prio && t->policy == p->policy))
		return;
	old = t->static_prio;
	t->improved = p->static_prio < old || (t->policy == SCHED_IDLE && p->policy != SCHED_IDLE);
	t->static_prio = p->static_prio;
	t->policy = p->policy;
	t->deadline += deadline_offset(p->static_prio) - deadline_offset(old);
	/*
	 * The kernel takes a running task off its CPU for this call: t->running is false by now,
	 * and only the kernel still calls it running.
	 */
	if (!t->improved && scx_bpf_task_running(p))
		scx_bpf_kick_cpu(scx_bpf_task_cpu(p), SCX_KICK_PREEMPT);
}

/* Who waits and may run elsewhere now tries to, as the original's try_preempt. */
void BPF_STRUCT_OPS(bfs_set_cpumask, struct task_struct *p, const struct cpumask *unused)
{
	struct task_state *t = state_of(p);

	if (t && !scx_bpf_task_running(p))
		t->improved = true;
}

/* Halve what the parent has left; a parent without enough stops and its child starts afresh. */
static void inherit(struct task_struct *p, struct task_state *t, struct task_struct *parent,
		    u64 now)
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
	t->policy = p->policy;
	t->last_cpu = scx_bpf_task_cpu(p);
	renew(p, t, now);
	if (args->fork) {
		t->newborn = true;
		inherit(p, t, bpf_get_current_task_btf(), now);
	}
	return 0;
}

/* Wake an idle CPU for the first in @queue for whom there is one. */
static bool offer(u64 queue, struct cpu_state *state)
{
	const struct cpumask *idle = scx_bpf_get_idle_cpumask();
	struct task_struct *p;
	s32 cpu = cpu_ids;

	state->scanned = 0;
	bpf_for_each(scx_dsq, p, queue, 0) {
		if (scan_ends(state, SEARCH_LIMIT))
			break;
		cpu = bpf_cpumask_any_and_distribute(idle, p->cpus_ptr);
		if (cpu < cpu_ids)
			break;
	}
	scx_bpf_put_idle_cpumask(idle);
	if (cpu >= cpu_ids)
		return false;
	scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
	return true;
}

/*
 * A task may be queued between this CPU's last look at the queues and the moment others could see
 * it idle, so look once more. And who was to run on this CPU, being idle, looks for another one
 * when a higher class takes it.
 */
void BPF_STRUCT_OPS(bfs_update_idle, s32 cpu, bool idle)
{
	struct cpu_state *state = cpu_state(cpu);
	u32 queue;

	if (state->offline || (!idle && !is_outranked()))
		return;
	if (!idle)
		scx_bpf_reenqueue_local_from_anywhere();
	if (!anybody_waits())
		return;
	if (idle) {
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
		return;
	}
	bpf_for(queue, 0, LEVELS) {
		if (offer(queue, state))
			return;
	}
}

/* Before Linux 6.19 that can be had back here only (outranked.h). */
void BPF_STRUCT_OPS(bfs_cpu_release, s32 cpu, struct scx_cpu_release_args *args)
{
	if (args->reason != SCX_CPU_PREEMPT_STOP && cpu_ids > 1 && !cpu_state(cpu)->offline)
		scx_bpf_reenqueue_local();
}

void BPF_STRUCT_OPS(bfs_cpu_online, s32 cpu)
{
	cpu_state(cpu)->offline = false;
	count_cpus(NO_CPU);
}

void BPF_STRUCT_OPS(bfs_cpu_offline, s32 cpu)
{
	struct cpu_state *state = cpu_state(cpu);

	state->offline = true;
	state->level = NOT_OURS;
	state->sticky_pid = 0;
	count_cpus(cpu);
}

s32 BPF_STRUCT_OPS_SLEEPABLE(bfs_init)
{
	u32 cpu, queue;
	s32 error;

	bpf_for(cpu, 0, cpu_ids)
		cpu_state(cpu)->level = NOT_OURS;
	count_cpus(NO_CPU);
	bpf_for(queue, 0, LEVELS) {
		error = scx_bpf_create_dsq(queue, -1);
		if (error)
			return error;
	}
	return 0;
}

SCHEDULER("One queue for all CPUs, earliest virtual deadline first (Con Kolivas, 2009).")
HEARS_OF_HIGHER_CLASSES
SCX_OPS_DEFINE(bfs_ops, .select_cpu = (void *)bfs_select_cpu, .enqueue = (void *)bfs_enqueue,
	       .dispatch = (void *)bfs_dispatch, .tick = (void *)bfs_tick,
	       .running = (void *)bfs_running, .stopping = (void *)bfs_stopping,
	       .set_weight = (void *)bfs_set_weight, .set_cpumask = (void *)bfs_set_cpumask,
	       .update_idle = (void *)bfs_update_idle, .init_task = (void *)bfs_init_task,
	       .cpu_online = (void *)bfs_cpu_online, .cpu_offline = (void *)bfs_cpu_offline,
	       .cpu_release = (void *)bfs_cpu_release, .init = (void *)bfs_init, EXIT_OPS,
	       WATCHDOG_OPS, .flags = SCX_OPS_ENQ_EXITING | SCX_OPS_KEEP_BUILTIN_IDLE,
	       .name = "bfs");
