/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_STATE_H
#define RUNOFF_RUNQUEUE_STATE_H

/*
 * The run queue of Linux 2.6 and the schedulers made from it: for each CPU a queue ordered by
 * level, lower is better, and first come, first served inside a level.
 *
 * What a scheduler adds is its policy; policy.h says what it defines. Schedulers whose queues are
 * ordered by a virtual time (include/fair) have no SECOND_ARRAY and none of what belongs to levels.
 */
#include <bpf_experimental.h>
#include "include/machine.h"
#include "include/online.h"
#include "include/policies.h"
#include "include/sleep.h"
#include "statistics.h"

/* SECOND_ARRAY: there is no second queue. */
#define NOTHING 0
/* SECOND_ARRAY: for tasks that have used up their slices; when all have, the two change roles. */
#define EXPIRED 1
/* SECOND_ARRAY: for tasks that run only when the first queue is empty. */
#define BACKGROUND 2

#ifdef SECOND_ARRAY
#define ARRAYS (SECOND_ARRAY == NOTHING ? 1 : 2)
#else
#define ARRAYS 1
#endif

#define NSEC_PER_MSEC 1000000ULL
#define MS(n)	      ((u64)(n) * NSEC_PER_MSEC)

/* Levels 0..99 belong to the real-time policies, which sched_ext never sees. */
#define BEST_LEVEL 100
#define NICE_0	   120
#define WORST_NICE 139

#ifndef LOAD_OF_ONE
/* One task's share of a CPU's load; nice weighs only where a policy says so. */
#define LOAD_OF_ONE 128
#endif

/* Where a task goes among those of its level. */
enum place {
	PLACE_TAIL,
	/* It was interrupted, and goes on before any other task of its level. */
	PLACE_HEAD,
	/* It has forked: a waiting task of its level, such as its child, runs before it. */
	PLACE_BEHIND_CHILD,
};

struct task_state {
	struct policy_task policy;
	/* Time of the last switch in or out, or wake-up. */
	u64 stamp;
	/* While running: the time up to which the policy has charged it. */
	u64 charged_at;
	/* The CPU whose load it is part of; NO_CPU while it sleeps. */
	s32 counted_on;
	s32 static_prio;
	/* SCHED_NORMAL, SCHED_BATCH or SCHED_IDLE. */
	u32 sched_policy;
	u32 weight;
	s32 home;
#ifdef SECOND_ARRAY
	/* The level in the count of the CPU home; see level_of. */
	u16 rung;
	/* Which of the CPU's queues. */
	u8 array;
	u8 place;
#endif
	bool newborn;
	bool sync;
	/* The standing is better, or the weight greater, than when it was queued. */
	bool improved;
	/* It may run on more than one CPU, and is counted as such. */
	bool movable;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/*
 * Tasks to bring from one CPU's queue to another's. It is in the memory of a CPU: if a loop counted
 * on its stack, the verifier would check every round.
 */
struct pull {
	s32 from;
	s32 to;
	/* How much to bring over at most, and how much that was. */
	u32 tasks;
	u32 load;
	u32 pulled;
	u32 scanned;
	/* How many tasks to look at. */
	u32 limit;
	/* For each distance: the CPU that has most to give away, and its load; see find_busiest. */
	struct {
		s32 cpu;
		u32 load;
	} busiest[DISTANCE_PLACES];
	/* A sum of loads, and of how many CPUs. */
	u32 sum;
	u32 cpus;
	bool also_hot;
	u64 now;
};

/* Written under the CPU's own lock, but for nr, weight and movable; others read it without. */
struct runqueue {
	struct policy_runqueue policy;
	s32 cpu;
	/* Tasks that run or wait, and the sum of their weights. */
	s32 nr;
	s32 weight;
	/* How many of them may run on other CPUs too. */
	s32 movable;
#ifdef SECOND_ARRAY
	/* How often all tasks here were moved up by one level. */
	u16 promotions;
	/* When the next promotion is due; 0 while there is no task to promote. */
	u64 promotion_due;
	/* The running task's; meaningless unless busy. */
	u16 curr_rung;
	u8 curr_array;
	u8 active;
	/* Counts down, so that a later head insert comes before an earlier one. */
	u64 heads;
#endif
	bool busy;
	/* Whether the running task may run on other CPUs too. */
	bool curr_movable;
	/* A higher class took the CPU at that time, and has not given it back yet. */
	bool taken;
	u64 taken_at;
	/* On another CPU a task waits for a higher class, which this CPU may run sooner. */
	bool relief_due;
	bool offline;
	/* When it last checked whether it is about to go offline. */
	u64 looked_at;
	/* The last look for work found none anywhere. */
	bool idle;
	u64 idle_since;
	bool balance_due;
	u8 balance_failed;
	u8 balance_interval_ms;
	u64 balanced_at;
	/* The load's averages over about 2 and 4 ticks, and when they were taken. */
	u32 load[2];
	u64 load_at;
	struct pull pull;
	/*
	 * When it last looked for tasks that starve, whether it looks again in its next dispatch,
	 * how many tasks it has looked at, and how many of them it has rescued.
	 */
	u64 rescued_at;
	bool rescue_due;
	volatile u32 scanned;
	volatile u32 rescued;
} OWN_CACHE_LINES;

static struct runqueue rqs[MAX_CPUS];

static struct runqueue *rq_of(s32 cpu)
{
	return &rqs[CPU_INDEX(cpu)];
}

static struct task_state *state_of(struct task_struct *p)
{
	return bpf_task_storage_get(&tasks, p, 0, 0);
}

static u64 elapsed(u64 from, u64 to)
{
	return time_after(to, from) ? to - from : 0;
}

static inline bool in_interrupt(void)
{
	return get_preempt_count() & (HARDIRQ_MASK | SOFTIRQ_MASK);
}

static inline bool is_user(const struct task_struct *p)
{
	return !(p->flags & PF_KTHREAD);
}

#ifdef SECOND_ARRAY
/*
 * Promotion moves all waiting tasks one level up. Instead of moving them, the CPU counts how often
 * it happened, and a task stores the level at which it was queued plus that count.
 */
static u32 level_of(u16 rung, const struct runqueue *rq)
{
	s16 level = rung - rq->promotions;

	return level > BEST_LEVEL ? level : BEST_LEVEL;
}

static void set_level(struct task_state *t, const struct runqueue *rq, u32 level)
{
	t->rung = level + rq->promotions;
	t->home = rq->cpu;
}

/* Shift the level of @t by as much as its nice value has changed, down to @worst. */
static inline void shift_level(struct task_state *t, const struct runqueue *rq, s32 by, s32 worst)
{
	s32 level = (s32)level_of(t->rung, rq_of(t->home)) + by;

	set_level(t, rq, level < BEST_LEVEL ? BEST_LEVEL : level > worst ? worst : level);
}

/* Keep the level of @t on another CPU, which had more or fewer promotions. */
static void move_home(struct task_state *t, const struct runqueue *rq)
{
	if (t->home != rq->cpu)
		set_level(t, rq, level_of(t->rung, rq_of(t->home)));
}
#endif

static void count_on(struct task_state *t, s32 cpu)
{
	if (t->counted_on == cpu)
		return;
	if (t->counted_on != NO_CPU) {
		__sync_fetch_and_sub(&rq_of(t->counted_on)->nr, 1);
		__sync_fetch_and_sub(&rq_of(t->counted_on)->weight, t->weight);
		if (t->movable)
			__sync_fetch_and_sub(&rq_of(t->counted_on)->movable, 1);
	}
	t->counted_on = cpu;
	if (cpu != NO_CPU) {
		__sync_fetch_and_add(&rq_of(cpu)->nr, 1);
		__sync_fetch_and_add(&rq_of(cpu)->weight, t->weight);
		if (t->movable)
			__sync_fetch_and_add(&rq_of(cpu)->movable, 1);
	}
}

static bool is_movable(const struct task_struct *p)
{
	return p->nr_cpus_allowed > 1;
}

/* Return how many tasks wait there that another CPU might take. */
static s32 nr_to_give(const struct runqueue *rq)
{
	return rq->movable - (rq->busy && rq->curr_movable);
}

/* Note that @p may run on one CPU only from now on, or on more. */
static void recount_movable(struct task_state *t, const struct task_struct *p)
{
	s32 counted_on = t->counted_on;

	count_on(t, NO_CPU);
	t->movable = is_movable(p);
	count_on(t, counted_on);
}

/*
 * Have @cpu look for work again. A kick that a CPU asks for after its last interrupt before it goes
 * offline would never be delivered, nor any that it asks for later.
 */
static void kick(s32 cpu, u64 flags)
{
	if (!rq_of(bpf_get_smp_processor_id())->offline)
		scx_bpf_kick_cpu(cpu, flags);
}

/* The standing of @p has changed: if it runs, its CPU checks whether it still should. */
static void choose_anew_if_running(const struct task_struct *p)
{
	if (scx_bpf_task_running(p))
		kick(scx_bpf_task_cpu(p), SCX_KICK_PREEMPT);
}

static u64 queue_of(const struct runqueue *rq, u32 array)
{
	return (u64)rq->cpu * ARRAYS + array;
}

#endif
