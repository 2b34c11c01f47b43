/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BFS by Con Kolivas in its late form (0.427, for Linux 3.7): one queue for the whole machine,
 * earliest virtual deadline first, and nothing else. docs/schedulers/bfs.md describes the idea, the
 * limits of sched_ext, and every deviation.
 *
 * The operations below are in the order in which a task meets them. In bfs/ are: state.h, what is
 * kept for tasks and CPUs; deadline.h, quotas and deadlines; level.h and iso.h, which queue a task
 * belongs to; queue.h, which of its tasks a CPU takes; place.h, which idle CPU a task gets; kick.h,
 * which CPU is interrupted; and rescue.h, the watchdog.
 */
#include <scx/common.bpf.h>
#include "include/exit.h"
#include "include/online.h"
#include "include/sleep.h"
#include "bfs/deadline.h"
#include "bfs/kick.h"
#include "bfs/level.h"
#include "bfs/rescue.h"

char _license[] SEC("license") = "GPL";

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

/* @p has the CPU to itself, so the CPU need not look for it in the queue. */
static void dispatch_directly(struct task_struct *p, struct task_state *t)
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
	if (!any_task_waits() && may_be_called_back())
		dispatch_directly(p, t);
	return cpu;
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
	/* The idle CPU that select_cpu has chosen takes the earliest deadline by itself. */
	if (!t->placed)
		kick_for(p, t, enq_flags);
	t->placed = t->sync = t->newborn = t->improved = false;
}

/* Note that the CPU runs @t from now on, whether it ran before or not. */
static void begin_turn(const struct task_state *t, struct cpu_state *state, u64 now)
{
	state->level = t->level;
	state->deadline = t->deadline;
	state->dither = now - state->ticked_at <= tick_ns / 2;
	state->leaving_pid = 0;
}

static void keep_running(struct task_struct *prev, struct task_state *t, struct cpu_state *state,
			 u64 now)
{
	scx_bpf_task_set_slice(prev, t->quota_ns);
	begin_turn(t, state, now);
	count(kept);
}

void BPF_STRUCT_OPS(bfs_dispatch, s32 cpu, struct task_struct *prev)
{
	struct cpu_state *state = cpu_state(cpu);
	struct task_state *t = NULL;
	u64 now = niffies(), deadline = 0;
	u32 queue;

	note_taken(state);
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

		if (dispatch_from(queue, cpu, own ? &deadline : NULL))
			return;
		if (own)
			break;
	}
	if (t) {
		keep_running(prev, t, state, now);
	} else if (state->taken) {
		bpf_for(queue, 0, LEVELS)
			send_away(queue, cpu);
	}
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
	if (state->taken)
		note_taken(state);
	t->last_cpu = cpu;
	t->charged_at = now;
	t->running = true;
	begin_turn(t, state, now);
}

void BPF_STRUCT_OPS(bfs_tick, struct task_struct *p)
{
	struct cpu_state *state = cpu_state(bpf_get_smp_processor_id());
	struct task_state *t = state_of(p);
	u64 now = niffies(), ran;
	bool is_iso;

	if (!t)
		return;
	if (state->taken)
		note_taken(state);
	state->ticked_at = now;
	ran = time_after(now, t->charged_at) ? now - t->charged_at : 0;
	/* A task that is being rescued is on that level too. */
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
	note_taken(state);
	/* What the core has been given could wait for long while a higher class has the CPU. */
	if (state->taken && !state->offline)
		scx_bpf_reenqueue_local_from_anywhere();
	if (!runnable)
		return;
	/* With slice left the core would queue it here, where no other CPU can take it. */
	scx_bpf_task_set_slice(p, 0);
	if (state->leaving_pid == p->pid)
		swap_sticky(p, state, cpu);
	state->leaving_pid = 0;
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
	 * The kernel takes a running task off its CPU for this call: t->running is already false,
	 * but the kernel still calls the task running.
	 */
	if (!t->improved && scx_bpf_task_running(p))
		scx_bpf_kick_cpu(scx_bpf_task_cpu(p), SCX_KICK_PREEMPT);
}

/* A waiting task that may run elsewhere now tries to, as in the original's try_preempt. */
void BPF_STRUCT_OPS(bfs_set_cpumask, struct task_struct *p, const struct cpumask *unused)
{
	struct task_state *t = state_of(p);

	if (t && !scx_bpf_task_running(p))
		t->improved = true;
}

/*
 * A task may be queued between this CPU's last look at the queues and the moment when others can
 * see that it is idle, so it looks once more. When a higher class takes an idle CPU, the task that
 * was to run there needs another one.
 */
void BPF_STRUCT_OPS(bfs_update_idle, s32 cpu, bool idle)
{
	struct cpu_state *state = cpu_state(cpu);
	u32 queue;

	if (!idle)
		note_taken(state);
	if (state->offline || (!idle && !state->taken))
		return;
	if (!idle)
		scx_bpf_reenqueue_local_from_anywhere();
	if (!any_task_waits())
		return;
	if (idle) {
		scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
		return;
	}
	bpf_for(queue, 0, LEVELS) {
		if (kick_idle_for_first(queue, state))
			return;
	}
}

/* Before Linux 6.19 only this operation can take back what the core was given (outranked.h). */
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
