/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_OPS_H
#define RUNOFF_RUNQUEUE_OPS_H

#include "include/exit.h"
#include "include/sync.h"
#include "policy.h"
#include "pull.h"
#include "rescue.h"
#include "served.h"

/* The operations of a scheduler with a queue of levels per CPU; they call its policy. */

s32 BPF_STRUCT_OPS(runqueue_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	struct task_state *t = state_of(p);

	if (!t)
		return prev_cpu;
	t->sync = wake_flags & SCX_WAKE_SYNC;
	if (!(wake_flags & SCX_WAKE_FORK))
		return open_cpu(p, wake_cpu(p, t, prev_cpu));
	/* 2.6.8 spreads only threads, which share what they have in the cache anyway. */
	if (policy_balances_like_2_6_20() || p->mm == bpf_get_current_task_btf()->mm)
		return open_cpu(p, fork_cpu(p, prev_cpu));
	return prev_cpu;
}

/* A child starts on the level of its parent, before it or behind all tasks of that level. */
static void place_child(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	struct task_struct *parent = bpf_get_current_task_btf();
	struct task_state *from = state_of(parent);

	t->place = PLACE_TAIL;
	move_home(t, rq);
	if (!from || rq->cpu != bpf_get_smp_processor_id() || !rq->busy)
		return;
	set_level(t, rq, level_of(rq->curr_rung, rq));
	if (policy_child_runs_first(p)) {
		t->place = PLACE_HEAD;
		from->place = PLACE_BEHIND_CHILD;
		kick(rq->cpu, SCX_KICK_PREEMPT);
	}
}

static void preempt(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	bool waker_sleeps_soon =
		(t->sync || is_sync_wakeup(p)) && rq->cpu == bpf_get_smp_processor_id();

	if (rq->busy && !waker_sleeps_soon && policy_preempts(p, t, rq)) {
		kick(rq->cpu, SCX_KICK_PREEMPT);
		count(preemptions);
	}
}

void BPF_STRUCT_OPS(runqueue_enqueue, struct task_struct *p, u64 enq_flags)
{
	struct task_state *t = state_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct runqueue *rq = rq_of(cpu);
	u64 now = scx_bpf_now();
	bool comes, alone;

	if (!t) {
		scx_bpf_error("task %d has no state", p->pid);
		return;
	}
	comes = t->counted_on != cpu;
	alone = comes && !rq->nr && !is_taken(cpu) && may_be_called_back();
	if (comes)
		t->array = rq->active;
	if (t->newborn) {
		place_child(p, t, rq);
	} else if (enq_flags & SCX_ENQ_WAKEUP) {
		t->place = PLACE_TAIL;
		policy_wake(p, t, rq, elapsed(t->stamp, now));
	} else {
		move_home(t, rq);
		policy_settle(p, t, rq, now);
	}
	if (comes) {
		t->stamp = now;
		count_on(t, cpu);
		note_waiting(rq);
	}
	/* A task that has the CPU to itself goes to the core at once, which need not ask for it. */
	if (alone && t->array == rq->active)
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, policy_run_ns(t, rq), enq_flags);
	else
		insert(p, t, rq, policy_run_ns(t, rq), enq_flags);
	if (comes || t->improved)
		preempt(p, t, rq);
	/* One that has just lost its CPU was not in the queue when lose_cpu looked. */
	if (rq->taken || ((comes || (enq_flags & SCX_ENQ_REENQ)) && is_taken(cpu)))
		kick_idle_for(p);
	t->newborn = t->sync = t->improved = false;
}

static void charge(struct task_struct *p, struct task_state *t, struct runqueue *rq, u64 now)
{
	u64 ran = elapsed(t->charged_at, now);

	t->charged_at = now;
	policy_charge(p, t, rq, ran);
}

static void keep(struct task_struct *prev, struct task_state *t, struct runqueue *rq, u64 now)
{
	policy_stopping(prev, t, 0, elapsed(t->stamp, now));
	t->stamp = now;
	t->place = PLACE_HEAD;
	rq->curr_rung = t->rung;
	rq->curr_array = t->array;
	scx_bpf_task_set_slice(prev, policy_run_ns(t, rq));
}

static void become_idle(struct runqueue *rq, u64 now)
{
	if (rq->idle)
		return;
	rq->idle = true;
	rq->idle_since = now;
}

void BPF_STRUCT_OPS(runqueue_dispatch, s32 cpu, struct task_struct *prev)
{
	struct runqueue *rq = rq_of(cpu);
	struct task_state *t = NULL;
	u64 now = scx_bpf_now();

	note_given_back(rq);
	if (cpu_ids > 1)
		look_after_others(rq, now);
	if (prev && (prev->scx.flags & SCX_TASK_QUEUED))
		t = state_of(prev);
	if (t) {
		charge(prev, t, rq, now);
		policy_settle(prev, t, rq, now);
	}
	if (may_rescue(rq) && rescue_starved(rq, now))
		return;
	if (rq->taken ? serve_bound(rq) : (!t || is_beaten(t, rq)) && take_first(rq))
		return;
	if (t)
		keep(prev, t, rq, now);
	else if (rq->taken)
		send_away(rq);
	else if (cpu_ids > 1 && !rq->offline && pull_to_idle(rq, now))
		take_first(rq);
	else
		become_idle(rq, now);
}

void BPF_STRUCT_OPS(runqueue_running, struct task_struct *p)
{
	s32 cpu = scx_bpf_task_cpu(p);
	struct task_state *t = state_of(p);
	struct runqueue *rq = rq_of(cpu);
	u64 now = scx_bpf_now();

	if (!t)
		return;
	count_on(t, cpu);
	move_home(t, rq);
	policy_running(p, t, rq, elapsed(t->stamp, now));
	t->stamp = t->charged_at = now;
	t->place = PLACE_HEAD;
	rq->curr_rung = t->rung;
	rq->curr_array = t->array;
	rq->curr_movable = t->movable;
	rq->busy = true;
	note_given_back(rq);
	if (rq->idle)
		count_by(idle_ns, elapsed(rq->idle_since, now));
	rq->idle = false;
	count(switches);
}

void BPF_STRUCT_OPS(runqueue_stopping, struct task_struct *p, bool runnable)
{
	struct task_state *t = state_of(p);
	struct runqueue *rq = rq_of(scx_bpf_task_cpu(p));
	u64 now = scx_bpf_now();

	if (!t)
		return;
	charge(p, t, rq, now);
	policy_stopping(p, t, runnable ? 0 : p->__state, elapsed(t->stamp, now));
	t->stamp = now;
	rq->busy = false;
	/* With slice left the core would queue it itself when a higher class takes the CPU. */
	if (runnable)
		scx_bpf_task_set_slice(p, 0);
	else
		count_on(t, NO_CPU);
	lose_cpu_if_outranked(rq);
}

void BPF_STRUCT_OPS(runqueue_tick, struct task_struct *p)
{
	struct task_state *t = state_of(p);
	struct runqueue *rq = rq_of(scx_bpf_task_cpu(p));
	u64 now = scx_bpf_now();

	if (!t)
		return;
	charge(p, t, rq, now);
	note_given_back(rq);
	sample_load(rq, now);
	policy_tick(p, t, rq, now);
	remind_to_balance(rq, now);
	remind_to_relieve(p, rq, now);
	remind_to_rescue(rq, now);
	if (!policy_run_ns(t, rq))
		scx_bpf_task_set_slice(p, 0);
}

bool BPF_STRUCT_OPS(runqueue_yield, struct task_struct *from, struct task_struct *to)
{
	struct task_state *t = state_of(from);

	if (!t || to)
		return false;
	policy_yield(from, t, rq_of(scx_bpf_task_cpu(from)));
	scx_bpf_task_set_slice(from, 0);
	return true;
}

void BPF_STRUCT_OPS(runqueue_set_weight, struct task_struct *p, u32 weight)
{
	struct runqueue *rq = rq_of(scx_bpf_task_cpu(p));
	struct task_state *t = state_of(p);
	s32 counted_on, by;
	u32 before;

	if (!t || (t->static_prio == p->static_prio && t->sched_policy == p->policy))
		return;
	by = p->static_prio - t->static_prio;
	move_home(t, rq);
	before = standing(t, rq);
	counted_on = t->counted_on;
	count_on(t, NO_CPU);
	t->static_prio = p->static_prio;
	if (by)
		policy_renice(p, t, rq, by);
	if (t->sched_policy != p->policy) {
		t->sched_policy = p->policy;
		policy_reclass(p, t, rq);
	}
	t->improved = by < 0 || standing(t, rq) < before;
	t->place = PLACE_TAIL;
	count_on(t, counted_on);
	choose_anew_if_running(p);
}

void BPF_STRUCT_OPS(runqueue_set_cpumask, struct task_struct *p, const struct cpumask *unused)
{
	struct task_state *t = state_of(p);

	if (t)
		recount_movable(t, p);
}

s32 BPF_STRUCT_OPS(runqueue_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task_state *t = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct task_struct *parent = bpf_get_current_task_btf();
	struct task_state *from;

	if (!t)
		return -ENOMEM;
	t->counted_on = NO_CPU;
	t->static_prio = p->static_prio;
	t->sched_policy = p->policy;
	t->stamp = scx_bpf_now();
	t->weight = LOAD_OF_ONE;
	t->movable = is_movable(p);
	policy_init_task(p, t);
	if (!args->fork)
		return 0;
	t->newborn = true;
	from = state_of(parent);
	if (from)
		policy_fork(p, t, parent, from);
	return 0;
}

/* @p leaves for another scheduling class, or exits. */
void BPF_STRUCT_OPS(runqueue_disable, struct task_struct *p)
{
	struct task_state *t = state_of(p);

	if (t)
		count_on(t, NO_CPU);
	if (scx_bpf_task_running(p))
		lose_cpu(rq_of(scx_bpf_task_cpu(p)));
}

void BPF_STRUCT_OPS(runqueue_cpu_online, s32 cpu)
{
	rq_of(cpu)->offline = false;
	count_cpus(NO_CPU);
}

void BPF_STRUCT_OPS(runqueue_cpu_offline, s32 cpu)
{
	leave_to_others(cpu);
	count_cpus(cpu);
}

s32 BPF_STRUCT_OPS_SLEEPABLE(runqueue_init)
{
	u32 cpu, array;
	s32 error;

	bpf_for(cpu, 0, cpu_ids) {
		struct runqueue *rq = rq_of(cpu);

		rq->cpu = cpu;
		rq->heads = KEY_OF_TAIL;
		rq->balance_interval_ms = 1;
		policy_begin_epoch(rq);
		bpf_for(array, 0, ARRAYS) {
			error = scx_bpf_create_dsq(queue_of(rq, array), -1);
			if (error)
				return error;
		}
	}
	find_neighbours();
	note_absent();
	count_cpus(NO_CPU);
	return 0;
}

#define RUNQUEUE_OPS                                                                              \
	.select_cpu = (void *)runqueue_select_cpu, .enqueue = (void *)runqueue_enqueue,           \
	.dispatch = (void *)runqueue_dispatch, .running = (void *)runqueue_running,               \
	.stopping = (void *)runqueue_stopping, .tick = (void *)runqueue_tick,                     \
	.yield = (void *)runqueue_yield, .set_weight = (void *)runqueue_set_weight,               \
	.set_cpumask = (void *)runqueue_set_cpumask, .init_task = (void *)runqueue_init_task,     \
	.disable = (void *)runqueue_disable, .cpu_online = (void *)runqueue_cpu_online,           \
	.cpu_offline = (void *)runqueue_cpu_offline, .cpu_release = (void *)runqueue_cpu_release, \
	.update_idle = (void *)runqueue_update_idle, .init = (void *)runqueue_init, EXIT_OPS,     \
	WATCHDOG_OPS,                                                                             \
	.flags = SCX_OPS_ENQ_EXITING | SCX_OPS_ENQ_MIGRATION_DISABLED | SCX_OPS_KEEP_BUILTIN_IDLE

#endif
