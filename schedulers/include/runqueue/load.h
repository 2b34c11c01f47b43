/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_LOAD_H
#define RUNOFF_RUNQUEUE_LOAD_H

#include "include/affinity.h"
#include "taken.h"

/* Percent by which another CPU must have more to do, as in 2.6's domains above a core. */
#define IMBALANCE_PCT 125

/* After this many idle ticks any load is forgotten. */
#define FORGOTTEN_TICKS 64

/*
 * Functions that are called for many CPUs in turn are not static: the verifier then checks them
 * once, and not for every path of every caller.
 */

/* A task of a higher class counts as one of nice 0. */
static u32 load_now(const struct runqueue *rq)
{
	u32 own = rq->weight > 0 ? rq->weight : 0;

	return own + (is_taken(rq->cpu) ? LOAD_OF_ONE : 0);
}

/*
 * Return an average as it was when the CPU last ticked, and less for each tick since: a tick takes
 * half of the first, or a quarter of the second, which makes a half in 2.4 ticks.
 */
static u32 average_load(const struct runqueue *rq, u32 index, u64 now)
{
	u64 ticks = elapsed(rq->load_at, now) / tick_ns;
	u32 load = rq->load[index & 1];

	if (rq->busy)
		return load;
	if (is_taken(rq->cpu))
		return load_now(rq);
	if (ticks >= FORGOTTEN_TICKS)
		return 0;
	return load >> (index ? ticks * 5 / 12 : ticks);
}

static void sample_load(struct runqueue *rq, u64 now)
{
	u32 weight = rq->weight > 0 ? rq->weight : 0;
	u32 fast = average_load(rq, 0, now), slow = average_load(rq, 1, now);

	/* Rounded towards the new weight, so that it gets there. */
	rq->load[0] = (fast + weight + (weight > fast)) / 2;
	rq->load[1] = (3 * slow + weight + (weight > slow ? 3 : 0)) / 4;
	rq->load_at = now;
}

/* Return the load that @cpu surely has: a short burst of work is not a reason to take some. */
__noinline u32 source_load(s32 cpu, u32 index, u64 now)
{
	u32 average = average_load(rq_of(cpu), index, now), load = load_now(rq_of(cpu));

	return average < load ? average : load;
}

/* Return the load that @cpu may have: a short pause is not a reason to bring it work. */
__noinline u32 target_load(s32 cpu, u32 index, u64 now)
{
	u32 average = average_load(rq_of(cpu), index, now), load = load_now(rq_of(cpu));

	return average > load ? average : load;
}

__noinline bool is_idle(s32 cpu)
{
	return !rq_of(cpu)->nr && !rq_of(cpu)->offline && !is_taken(cpu);
}

/*
 * Return where @p, which is to run on @cpu, should go instead if a higher class has that CPU: where
 * the load is least.
 */
static s32 open_cpu(const struct task_struct *p, s32 cpu)
{
	s32 other, best = cpu;
	u32 least = ~0U, load;

	if (!is_taken(cpu))
		return cpu;
	bpf_for(other, 0, cpu_ids) {
		if (rq_of(other)->offline || !may_run_on(p, other) || is_taken(other))
			continue;
		load = load_now(rq_of(other));
		if (load < least) {
			least = load;
			best = other;
		}
	}
	return best;
}

#endif
