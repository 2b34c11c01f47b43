/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_FAIR_POLICY_H
#define RUNOFF_FAIR_POLICY_H

/*
 * The policy of a scheduler whose queues are ordered by virtual time: every hook that include/fair
 * calls.
 *
 * Before it includes weight.h a scheduler defines
 *	struct policy_task	what it keeps for a task, as t->policy; begins with FAIR_TASK,
 *	struct policy_runqueue	what it keeps for a CPU, as rq->policy; begins with FAIR_RUNQUEUE;
 * its statistics begin with FAIR_STATISTICS. include/runqueue/balance.h lists what else it sets.
 *
 * A hook is a static function of the scheduler. One that has a default below is optional, and a
 * scheduler that has one of its own says so before it includes this page, in the way of the
 * kernel's architectures:
 *	#define policy_reweigh policy_reweigh
 * Defaults are macros: they cost nothing, and the page needs no other file, so that any file may
 * include it. A hook without that line does not compile, because its name is then the default's.
 *
 * "@rq locked" means that the lock of that CPU's run queue is held. It protects all that the
 * policy keeps for the CPU and for the tasks that run or wait there, with one exception: a CPU that
 * pulls tasks holds its own lock and not that of the CPU it takes them from.
 */

struct pull;
struct runqueue;
struct task_state;
struct task_struct;

/* What a task that has just come to a CPU does to the running one. */
enum verdict {
	/* It waits for its turn. */
	WAITS,
	/* It takes the CPU at once. */
	TAKES_CPU,
	/* The CPU has to choose again, and may choose another task than the one that came. */
	CHOOSE_ANEW,
};

/* Return the weight of every SCHED_IDLE task. Called at any time, with or without a lock. */
static u32 policy_idle_weight(void);

/*
 * Scale the times that depend on the number of CPUs, which has changed to cpus_online, in ops.init,
 * ops.cpu_online and ops.cpu_offline. No run queue is locked.
 */
static void policy_scale_times(void);

/*
 * Return the CPU where @p, which wakes up, is to run, in ops.select_cpu on the CPU of its waker.
 * @prev is where it ran last; with @sync the waker is about to sleep. Not called for a task that
 * may run on one CPU only. No run queue is locked.
 */
static s32 policy_select_cpu(struct task_struct *p, struct task_state *t, s32 prev, bool sync);

/* Fill in t->policy of @p, in ops.init_task. No lock: nothing else knows @t yet. */
static void policy_init_task(struct task_struct *p, struct task_state *t);

/*
 * Give @p, which comes to @rq, its place in virtual time, in ops.enqueue, or in ops.running if the
 * core queued it without asking. @p was forked, woken or moved. It still has the vruntime of
 * t->home, which is NO_CPU if it was never queued, and joins @rq afterwards. The running task of
 * @rq is charged. @rq locked.
 */
static void policy_place_new(struct task_struct *p, struct task_state *t, struct runqueue *rq);
static void policy_place_woken(struct task_struct *p, struct task_state *t, struct runqueue *rq);
static void policy_place_moved(struct task_struct *p, struct task_state *t, struct runqueue *rq);

/*
 * Decide what @p does to the running task, which is charged, in ops.enqueue: before @p is queued if
 * it has just come to @rq, afterwards if its weight grew while it waited. Not called while another
 * task is on its way to take that CPU. @rq locked.
 */
static enum verdict policy_check_preempt(struct task_struct *p, struct task_state *t,
					 struct runqueue *rq);

/*
 * Note that @p, which @rq counts already, goes back into the queue, in ops.enqueue: it lost its
 * CPU, or the kernel took it out to change it. @rq locked. Default: nothing.
 */
#ifdef policy_requeue
static void policy_requeue(struct task_struct *p, struct task_state *t, struct runqueue *rq);
#else
#define policy_requeue(p, t, rq) ((void)0)
#endif

/*
 * Move the next task of the queue to the CPU, in ops.dispatch, unless there is none or @prev should
 * go on. Return whether a task was moved. @prev is the running task, which is charged, or NULL if
 * that does not want to go on. @rq locked.
 */
static bool policy_dispatch(struct runqueue *rq, struct task_struct *prev);

/* Note that @p got the CPU, in ops.running; FAIR_RUNQUEUE describes it already. @rq locked. */
static void policy_running(struct task_struct *p, struct task_state *t, struct runqueue *rq);

/* Begin a new turn of @p, which goes on, in ops.dispatch after policy_dispatch. @rq locked. */
static void policy_keep(struct task_struct *p, struct runqueue *rq);

/*
 * Charge the running task for @ran_ns since the last call, @passed_ns in its virtual time, which
 * rq->policy.curr_vruntime includes already. Called wherever another hook finds that task charged.
 * @rq locked.
 */
static void policy_charge(struct runqueue *rq, u64 ran_ns, u64 passed_ns);

/*
 * Note that @p, which is charged, leaves the CPU, in ops.stopping, @runnable or to sleep. @rq still
 * counts it. @rq locked.
 */
static void policy_stopping(struct task_struct *p, struct task_state *t, struct runqueue *rq,
			    bool runnable);

/* Return whether the turn of @p, which runs and is charged, is over, in ops.tick. @rq locked. */
static bool policy_tick(struct task_struct *p, struct runqueue *rq);

/*
 * Let @p, which runs and is charged, yield, in ops.yield. Its slice is set to 0 afterwards, so that
 * ops.dispatch follows. @rq locked.
 */
static void policy_yield(struct task_struct *p, struct runqueue *rq);

/*
 * Prepare @t for its new @weight, in ops.set_weight. It does not run now; t->weight and the sums of
 * its CPU still have the old one. Its run queue is locked. Default: nothing.
 */
#ifdef policy_reweigh
static void policy_reweigh(struct task_state *t, u32 weight);
#else
#define policy_reweigh(t, weight) ((void)0)
#endif

/* Return where @t belongs in the queue, least first. Locks as for policy_join. */
static u64 policy_key(const struct task_state *t);

/*
 * Return how much later it is for @t in the virtual time of @to than in that of @from. In
 * ops.dispatch when a CPU pulls @t, with only @to locked.
 */
static u64 policy_shift(const struct task_state *t, const struct runqueue *from,
			const struct runqueue *to);

/* Add @shift to each virtual time of @t, which was pulled. Locks as for policy_shift. */
static void policy_apply_shift(struct task_state *t, u64 shift);

/*
 * Return whether @p should rather stay where @pull would take it from, in ops.dispatch with only
 * the CPU that pulls locked. Default: whether its data will still be in the cache there.
 */
#ifdef policy_is_hot
static bool policy_is_hot(const struct task_struct *p, const struct task_state *t,
			  const struct pull *pull);
#else
#define policy_is_hot(p, t, pull) is_cache_hot(t, pull)
#endif

/*
 * Note that @t begins or ceases to be one of the tasks among which @rq is shared, whether it runs
 * or waits. It joins with @rq locked. It leaves with @rq locked, or with only the CPU locked that
 * pulls it, so a policy itself protects what it changes of @rq. Default: nothing.
 */
#ifdef policy_join
static void policy_join(struct task_state *t, struct runqueue *rq);
#else
#define policy_join(t, rq) ((void)0)
#endif
#ifdef policy_leave
static void policy_leave(struct task_state *t, struct runqueue *rq);
#else
#define policy_leave(t, rq) ((void)0)
#endif

#endif
