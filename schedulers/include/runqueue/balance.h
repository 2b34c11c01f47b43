/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_BALANCE_H
#define RUNOFF_RUNQUEUE_BALANCE_H

#include "load.h"

/* What a scheduler has not set before it includes this file is as in 2.6.8. */
#ifndef PULL_SCAN_LIMIT
/* What one look at another CPU's queue may cost at most. */
#define PULL_SCAN_LIMIT 64
/* A busy CPU looks for imbalance this many times less often than an idle one. */
#define BUSY_FACTOR 64
/* So often cache-hot tasks are left where they are. */
#define CACHE_NICE_TRIES 1
/* Of two CPUs that differ by less than what one should give away, this is enough to give one. */
#define SMALL_IMBALANCE (2 * LOAD_OF_ONE)
/* A CPU that has just run out of work looks at others that are nearer than this. */
#define NEWLY_IDLE_REACH FAR
#endif

#define LONGEST_INTERVAL_MS 4

/* Bring over what @pull describes; whether that was anything. */
static bool pull_tasks(struct pull *pull);

/* The CPU no farther than @farthest that has most to give away now, or NO_CPU. */
static s32 busiest_cpu(s32 cpu, u32 farthest, u64 now)
{
	s32 other, best = NO_CPU;
	u32 load, most = 0;

	bpf_for(other, 0, cpu_ids) {
		const struct runqueue *rq = rq_of(other);

		if (other == cpu || rq->nr <= rq->busy || cpu_distance(cpu, other) > farthest)
			continue;
		load = source_load(other, 0, now);
		if (best == NO_CPU || load > most) {
			most = load;
			best = other;
		}
	}
	return best;
}

/*
 * For a CPU without work: one task of the busiest CPU, from the nearest that has any. A CPU that
 * has just run out of work leaves hot tasks alone; one that stays idle in the end does not.
 */
static bool pull_to_idle(struct runqueue *rq, u64 now)
{
	struct pull *pull = &rq->pull;
	bool was_idle = rq->idle;
	u32 distance;

	bpf_for(distance, SAME_CORE, was_idle ? FAR + 1 : NEWLY_IDLE_REACH) {
		pull->from = busiest_cpu(rq->cpu, distance, now);
		if (pull->from == NO_CPU)
			continue;
		pull->to = rq->cpu;
		pull->tasks = 1;
		pull->load = ~0U;
		pull->also_hot = was_idle && rq->balance_failed >= CACHE_NICE_TRIES;
		pull->now = now;
		if (pull_tasks(pull)) {
			rq->balance_failed = 0;
			return true;
		}
		if (was_idle && rq->balance_failed < CACHE_NICE_TRIES)
			rq->balance_failed++;
	}
	return false;
}

static u32 average_of_all(struct pull *pull, u64 now)
{
	s32 cpu;

	pull->sum = pull->cpus = 0;
	bpf_for(cpu, 0, cpu_ids) {
		if (rq_of(cpu)->offline)
			continue;
		pull->sum += source_load(cpu, 1, now);
		pull->cpus++;
	}
	return pull->cpus ? pull->sum / pull->cpus : 0;
}

/* What a CPU with work should bring over from @from, as weight; 0 if the two are near enough. */
static u32 imbalance(struct runqueue *rq, s32 from, u64 now)
{
	u32 own = target_load(rq->cpu, 1, now), most = source_load(from, 1, now);
	u32 average = average_of_all(&rq->pull, now), give, take;

	if (own >= most || own >= average || 100 * most <= IMBALANCE_PCT * own)
		return 0;
	give = most > average ? most - average : 0;
	take = average - own;
	give = give < take ? give : take;
	if (give < LOAD_OF_ONE)
		return most - own >= SMALL_IMBALANCE ? LOAD_OF_ONE : 0;
	return give;
}

/* For a CPU with work, now and then: bring its share over from the busiest. */
static void pull_to_busy(struct runqueue *rq, u64 now)
{
	struct pull *pull = &rq->pull;
	u32 load;

	rq->balance_due = false;
	rq->balanced_at = now;
	pull->from = busiest_cpu(rq->cpu, FAR, now);
	load = pull->from == NO_CPU ? 0 : imbalance(rq, pull->from, now);
	if (!load) {
		if (rq->balance_interval_ms < LONGEST_INTERVAL_MS)
			rq->balance_interval_ms *= 2;
		rq->balance_failed = 0;
		return;
	}
	rq->balance_interval_ms = 1;
	pull->to = rq->cpu;
	pull->tasks = PULL_SCAN_LIMIT;
	pull->load = load;
	pull->also_hot = rq->balance_failed >= CACHE_NICE_TRIES;
	pull->now = now;
	if (pull_tasks(pull))
		rq->balance_failed = 0;
	else if (rq->balance_failed < CACHE_NICE_TRIES)
		rq->balance_failed++;
}

/* On the tick of a CPU with work: is it time, and does somebody wait whom an idle CPU could take?
 */
static void remind_to_balance(struct runqueue *rq, u64 now)
{
	const struct cpumask *idle;
	s32 helper;

	if (cpu_ids == 1)
		return;
	if (elapsed(rq->balanced_at, now) >= MS(rq->balance_interval_ms) * BUSY_FACTOR)
		rq->balance_due = true;
	if (rq->nr <= 1)
		return;
	idle = scx_bpf_get_idle_cpumask();
	helper = bpf_cpumask_any_distribute(idle);
	scx_bpf_put_idle_cpumask(idle);
	if (helper < cpu_ids)
		kick(helper, SCX_KICK_IDLE);
}

#endif
