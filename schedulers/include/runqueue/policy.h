/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_POLICY_H
#define RUNOFF_RUNQUEUE_POLICY_H

/*
 * The policy of a scheduler with a queue of levels per CPU: every hook that include/runqueue calls.
 *
 * Before it includes state.h a scheduler defines
 *	struct policy_task	what it keeps for a task, as t->policy,
 *	struct policy_runqueue	what it keeps for a CPU, as rq->policy,
 *	SECOND_ARRAY		what a second queue per CPU is for: NOTHING, EXPIRED or BACKGROUND;
 * its statistics begin with RUNQUEUE_STATISTICS. balance.h lists what else it may set.
 *
 * A hook is a static function of the scheduler. One that has a default below is optional, and a
 * scheduler that has one of its own says so before it includes this page, in the way of the
 * kernel's architectures:
 *	#define policy_tick policy_tick
 * Defaults are macros: they cost nothing, and the page needs no other file, so that any file may
 * include it. A hook without that line does not compile, because its name is then the default's.
 *
 * "@rq locked" means that the lock of that CPU's run queue is held. It protects all that the
 * policy keeps for the CPU and for the tasks that run or wait there.
 */

struct runqueue;
struct task_state;
struct task_struct;

/*
 * Fill in t->policy of @p, and set its level on its CPU and its weight if that is not LOAD_OF_ONE,
 * in ops.init_task. No lock: nothing else knows @t yet.
 */
static void policy_init_task(struct task_struct *p, struct task_state *t);

/*
 * Share what has to be shared between @p and @parent, which @p is a copy of, in ops.init_task after
 * policy_init_task. @parent is the current task; no lock, so a tick may charge it meanwhile.
 */
static void policy_fork(struct task_struct *p, struct task_state *t, struct task_struct *parent,
			struct task_state *from);

/*
 * Return whether @p, which is new, runs before its parent, in ops.enqueue. Called only if @p is
 * queued on the CPU on which its parent runs. That CPU is locked.
 */
static bool policy_child_runs_first(const struct task_struct *p);

/*
 * Set the level of @p, which woke up after @slept_ns, on the CPU of @rq, in ops.enqueue. t->array
 * is the active one if it is not set. @rq locked.
 */
static void policy_wake(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			u64 slept_ns);

/*
 * Return whether @p takes the CPU from the running task, in ops.enqueue when it has been queued
 * because it has come to @rq, or stands better than before. Not called if its waker is about to
 * sleep here. @rq locked. Default: whether it is in a better queue, or on a better level of it.
 */
#ifdef policy_preempts
static bool policy_preempts(const struct task_struct *p, const struct task_state *t,
			    struct runqueue *rq);
#else
#define policy_preempts(p, t, rq) precedes(t, rq)
#endif

/* Note that @p got the CPU after it had waited for @waited_ns, in ops.running. @rq locked. */
static void policy_running(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			   u64 waited_ns);

/*
 * Charge @p, which runs, for @ran_ns since the last call, in ops.dispatch, ops.tick and
 * ops.stopping before any other hook. @rq locked.
 */
static void policy_charge(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			  u64 ran_ns);

/*
 * If the slice of @p has run out, give it a new one and set its level, array and place: in
 * ops.dispatch for the running task, in ops.enqueue for one that is neither new nor woken.
 * @rq locked.
 */
static void policy_settle(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			  u64 now);

/*
 * Return how long @t may run before policy_settle, in ops.enqueue, ops.dispatch and ops.tick. 0 if
 * that is due, which ends its turn on a tick. @rq locked.
 */
static u64 policy_run_ns(const struct task_state *t, const struct runqueue *rq);

/*
 * Note that @p has run for @ran_ns without a pause, in ops.stopping, and in ops.dispatch when it
 * begins another turn. @state is its __state if it goes to sleep, 0 if it wants to go on. Its run
 * queue is locked.
 */
static void policy_stopping(struct task_struct *p, struct task_state *t, u32 state, u64 ran_ns);

/* Handle a tick of @p, which runs and is charged, in ops.tick. @rq locked. Default: nothing. */
#ifdef policy_tick
static void policy_tick(struct task_struct *p, struct task_state *t, struct runqueue *rq, u64 now);
#else
#define policy_tick(p, t, rq, now) ((void)0)
#endif

/*
 * Set level, array and place of @p, which runs and yields, in ops.yield. Its slice is set to 0
 * afterwards, so that ops.dispatch follows. @rq locked.
 */
static void policy_yield(struct task_struct *p, struct task_state *t, struct runqueue *rq);

/*
 * Set level and weight of @p for its new nice value, in ops.set_weight. t->static_prio is the new
 * one, worse by @by levels than before. No CPU counts @t during the call. @rq locked.
 */
static void policy_renice(struct task_struct *p, struct task_state *t, struct runqueue *rq, s32 by);

/*
 * Set level and array of @p, which has become normal, batch or idle, in ops.set_weight after
 * policy_renice. No CPU counts @t during the call. @rq locked. Default: nothing.
 */
#ifdef policy_reclass
static void policy_reclass(struct task_struct *p, struct task_state *t, struct runqueue *rq);
#else
#define policy_reclass(p, t, rq) ((void)0)
#endif

/*
 * Begin an epoch: the active queue of @rq was empty and has become the expired one. In ops.dispatch
 * with @rq locked, and once in ops.init without a lock. Default: nothing.
 */
#ifdef policy_begin_epoch
static void policy_begin_epoch(struct runqueue *rq);
#else
#define policy_begin_epoch(rq) ((void)0)
#endif

/*
 * Return whether new and woken tasks are placed as in Linux 2.6.20 and not as in 2.6.8, in
 * ops.select_cpu. No run queue is locked. Default: as in 2.6.8.
 */
#ifdef policy_balances_like_2_6_20
static bool policy_balances_like_2_6_20(void);
#else
#define policy_balances_like_2_6_20() false
#endif

#endif
