/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_FAIR_OPS_H
#define RUNOFF_FAIR_OPS_H

#include "include/exit.h"
#include "include/runqueue/served.h"
#include "idle.h"
#include "place.h"
#include "policy.h"
#include "queue.h"

/* The operations of a scheduler whose queues are ordered by virtual time; they call its policy. */

static void charge(struct runqueue *rq, u64 now)
{
	struct policy_runqueue *own = &rq->policy;
	u64 ran = elapsed(own->charged_at, now), passed;

	if (!ran)
		return;
	passed = virtual_ns(ran, own->curr_weight);
	own->charged_at = now;
	own->ran_ns += ran;
	own->curr_vruntime += passed;
	policy_charge(rq, ran, passed);
}

s32 BPF_STRUCT_OPS(fair_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
	struct task_state *t = state_of(p);

	if (!t)
		return prev_cpu;
	if (wake_flags & SCX_WAKE_FORK)
		return open_cpu(p, fork_cpu(p, prev_cpu));
	return open_cpu(p, policy_select_cpu(p, t, prev_cpu, wake_flags & SCX_WAKE_SYNC));
}

static void place(struct task_struct *p, struct task_state *t, struct runqueue *rq, bool woken)
{
	leave(t);
	if (t->newborn)
		policy_place_new(p, t, rq);
	else if (woken)
		policy_place_woken(p, t, rq);
	else
		policy_place_moved(p, t, rq);
	t->home = rq->cpu;
	t->newborn = false;
	join(t, rq);
}

/*
 * A task that runs next in any case goes to the core at once, which saves a walk through the queue,
 * and so does any task of a CPU that goes offline, because that CPU no longer asks for work.
 */
static void insert_new(struct task_struct *p, struct task_state *t, struct runqueue *rq, bool alone,
		       u64 enq_flags)
{
	enum verdict verdict = WAITS;

	if (alone || rq->offline) {
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, TURN_NS, enq_flags);
		return;
	}
	if (rq->busy && !rq->policy.replaced)
		verdict = policy_check_preempt(p, t, rq);
	if (verdict != WAITS)
		count(preemptions);
	if (verdict == TAKES_CPU) {
		rq->policy.replaced = true;
		scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, TURN_NS, enq_flags | SCX_ENQ_PREEMPT);
		return;
	}
	scx_bpf_dsq_insert_vtime(p, queue_of(rq, 0), TURN_NS, policy_key(t), enq_flags);
	if (verdict == CHOOSE_ANEW)
		kick(rq->cpu, SCX_KICK_PREEMPT);
}

/* The weight of @p grew while it waited: let it preempt if that makes the difference. */
static void compare_with_running(struct task_struct *p, struct task_state *t, struct runqueue *rq)
{
	t->improved = false;
	if (!rq->busy)
		return;
	charge(rq, scx_bpf_now());
	if (!rq->policy.replaced && policy_check_preempt(p, t, rq) != WAITS)
		kick(rq->cpu, SCX_KICK_PREEMPT);
}

void BPF_STRUCT_OPS(fair_enqueue, struct task_struct *p, u64 enq_flags)
{
	struct task_state *t = state_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct runqueue *rq = rq_of(cpu);
	bool alone;

	if (!t) {
		scx_bpf_error("task %d has no state", p->pid);
		return;
	}
	if (t->counted_on == cpu && !rq->offline) {
		policy_requeue(p, t, rq);
		scx_bpf_dsq_insert_vtime(p, queue_of(rq, 0), TURN_NS, policy_key(t), enq_flags);
		if (t->improved)
			compare_with_running(p, t, rq);
		/* One that has just lost its CPU was not in the queue when lose_cpu looked. */
		if (rq->taken || ((enq_flags & SCX_ENQ_REENQ) && is_taken(cpu)))
			kick_idle_for(p);
		return;
	}
	if (rq->busy)
		charge(rq, scx_bpf_now());
	alone = !rq->nr && !is_taken(cpu) && may_be_called_back();
	place(p, t, rq, enq_flags & SCX_ENQ_WAKEUP);
	note_waiting(rq);
	insert_new(p, t, rq, alone, enq_flags);
	if (is_taken(cpu))
		kick_idle_for(p);
}

static void keep(struct task_struct *prev, struct runqueue *rq)
{
	policy_keep(prev, rq);
	rq->policy.ran_ns = 0;
	rq->policy.replaced = false;
	scx_bpf_task_set_slice(prev, TURN_NS);
	count(kept);
}

static void become_idle(struct runqueue *rq, u64 now)
{
	if (rq->idle)
		return;
	rq->idle = true;
	rq->idle_since = now;
}

void BPF_STRUCT_OPS(fair_dispatch, s32 cpu, struct task_struct *prev)
{
	struct runqueue *rq = rq_of(cpu);

	note_given_back(rq);
	if (cpu_ids > 1)
		look_after_others(rq, scx_bpf_now());
	if (prev && !(prev->scx.flags & SCX_TASK_QUEUED))
		prev = NULL;
	if (prev)
		charge(rq, scx_bpf_now());
	if (may_rescue(rq) && rescue_starved(rq, scx_bpf_now()))
		return;
	if (rq->taken ? serve_bound(rq) : policy_dispatch(rq, prev))
		return;
	if (prev) {
		keep(prev, rq);
		return;
	}
	if (rq->taken) {
		send_away(rq);
		return;
	}
	if (cpu_ids > 1 && !rq->offline && pull_to_idle(rq, scx_bpf_now()) && take_first(rq))
		return;
	become_idle(rq, scx_bpf_now());
}

void BPF_STRUCT_OPS(fair_running, struct task_struct *p)
{
	struct task_state *t = state_of(p);
	s32 cpu = scx_bpf_task_cpu(p);
	struct runqueue *rq = rq_of(cpu);
	struct policy_runqueue *own = &rq->policy;
	u64 now = scx_bpf_now();

	if (!t)
		return;
	/* The core may have queued it without ops.enqueue. */
	if (t->counted_on != cpu)
		place(p, t, rq, false);
	own->curr_vruntime = t->policy.vruntime;
	own->curr_weight = t->weight;
	own->curr_pid = p->pid;
	rq->curr_movable = t->movable;
	own->curr_is_idle_policy = p->policy == SCHED_IDLE;
	own->replaced = false;
	own->ran_ns = 0;
	own->charged_at = now;
	policy_running(p, t, rq);
	rq->busy = true;
	note_given_back(rq);
	if (rq->idle)
		end_idle(rq, now);
	count(switches);
}

void BPF_STRUCT_OPS(fair_stopping, struct task_struct *p, bool runnable)
{
	struct task_state *t = state_of(p);
	struct runqueue *rq = rq_of(scx_bpf_task_cpu(p));
	u64 now = scx_bpf_now();

	if (!t)
		return;
	charge(rq, now);
	t->policy.vruntime = rq->policy.curr_vruntime;
	t->stamp = now;
	rq->busy = false;
	policy_stopping(p, t, rq, runnable);
	if (!runnable)
		leave(t);
	else if (p->scx.slice)
		/* With slice left the core would queue it itself for a higher class. */
		scx_bpf_task_set_slice(p, 0);
	lose_cpu_if_outranked(rq);
}

void BPF_STRUCT_OPS(fair_tick, struct task_struct *p)
{
	struct runqueue *rq = rq_of(scx_bpf_task_cpu(p));
	u64 now = scx_bpf_now();

	charge(rq, now);
	note_given_back(rq);
	if (cpu_ids > 1) {
		sample_load(rq, now);
		remind_to_balance(rq, now);
		remind_to_relieve(p, rq, now);
	}
	remind_to_rescue(rq, now);
	if (policy_tick(p, rq))
		scx_bpf_task_set_slice(p, 0);
}

bool BPF_STRUCT_OPS(fair_yield, struct task_struct *from, struct task_struct *to)
{
	struct runqueue *rq = rq_of(scx_bpf_task_cpu(from));

	if (to)
		return false;
	charge(rq, scx_bpf_now());
	policy_yield(from, rq);
	scx_bpf_task_set_slice(from, 0);
	return true;
}

void BPF_STRUCT_OPS(fair_set_weight, struct task_struct *p, u32 unused)
{
	struct task_state *t = state_of(p);
	u32 weight = weight_of(p);
	s32 counted_on;

	if (!t || t->weight == weight)
		return;
	counted_on = t->counted_on;
	policy_reweigh(t, weight);
	leave(t);
	t->improved = weight > t->weight;
	t->weight = weight;
	if (counted_on != NO_CPU)
		join(t, rq_of(counted_on));
	choose_anew_if_running(p);
}

void BPF_STRUCT_OPS(fair_set_cpumask, struct task_struct *p, const struct cpumask *unused)
{
	struct task_state *t = state_of(p);

	if (t)
		recount_movable(t, p);
}

s32 BPF_STRUCT_OPS(fair_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
	struct task_state *t = bpf_task_storage_get(&tasks, p, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!t)
		return -ENOMEM;
	t->counted_on = t->home = NO_CPU;
	t->weight = weight_of(p);
	t->movable = is_movable(p);
	t->newborn = args->fork;
	policy_init_task(p, t);
	return 0;
}

/* @p leaves for another scheduling class, or exits. */
void BPF_STRUCT_OPS(fair_disable, struct task_struct *p)
{
	struct task_state *t = state_of(p);

	if (t)
		leave(t);
	if (scx_bpf_task_running(p))
		lose_cpu(rq_of(scx_bpf_task_cpu(p)));
}

static void recount_cpus(s32 leaving)
{
	count_cpus(leaving);
	policy_scale_times();
}

void BPF_STRUCT_OPS(fair_cpu_online, s32 cpu)
{
	rq_of(cpu)->offline = false;
	recount_cpus(NO_CPU);
}

void BPF_STRUCT_OPS(fair_cpu_offline, s32 cpu)
{
	leave_to_others(cpu);
	recount_cpus(cpu);
}

s32 BPF_STRUCT_OPS_SLEEPABLE(fair_init)
{
	u32 cpu;
	s32 error;

	bpf_for(cpu, 0, cpu_ids) {
		struct runqueue *rq = rq_of(cpu);

		rq->cpu = cpu;
		rq->balance_interval_ms = 1;
		rq->policy.avg_idle_ns = 2 * MIGRATION_COST_NS;
		error = scx_bpf_create_dsq(queue_of(rq, 0), -1);
		if (error)
			return error;
	}
	find_neighbours();
	note_absent();
	recount_cpus(NO_CPU);
	return 0;
}

#define FAIR_OPS                                                                                   \
	.select_cpu = (void *)fair_select_cpu, .enqueue = (void *)fair_enqueue,                    \
	.dispatch = (void *)fair_dispatch, .running = (void *)fair_running,                        \
	.stopping = (void *)fair_stopping, .tick = (void *)fair_tick, .yield = (void *)fair_yield, \
	.set_weight = (void *)fair_set_weight, .set_cpumask = (void *)fair_set_cpumask,            \
	.init_task = (void *)fair_init_task, .disable = (void *)fair_disable,                      \
	.cpu_online = (void *)fair_cpu_online, .cpu_offline = (void *)fair_cpu_offline,            \
	.cpu_release = (void *)runqueue_cpu_release, .update_idle = (void *)runqueue_update_idle,  \
	.init = (void *)fair_init, EXIT_OPS, WATCHDOG_OPS,                                         \
	.flags = SCX_OPS_ENQ_EXITING | SCX_OPS_ENQ_MIGRATION_DISABLED | SCX_OPS_KEEP_BUILTIN_IDLE

#endif
