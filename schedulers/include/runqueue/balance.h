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
/* Whether one that stays idle leaves hot tasks alone so often, too. */
#define PATIENT_WHEN_IDLE false
#endif

#define LONGEST_INTERVAL_MS 4

/* Somebody has come to @rq. */
static void note_waiting(const struct runqueue *rq)
{
	if (!work_waits && rq->nr > 1 && nr_to_give(rq) > 0)
		work_waits = true;
}

/* Bring over what @pull describes; whether that was anything. */
static bool pull_tasks(struct pull *pull);

/*
 * Look once at all other CPUs: who has most to give away to @cpu now, by distance. Tasks that may
 * run nowhere else are nothing to give. Whether there is any such CPU.
 */
__noinline bool find_busiest(s32 cpu, u64 now)
{
	struct pull *pull = &rq_of(cpu)->pull;
	bool found = false;
	u32 distance, load;
	s32 other;

	bpf_for(distance, 0, DISTANCES)
		pull->busiest[distance_index(distance)].cpu = NO_CPU;
	bpf_for(other, 0, cpu_ids) {
		if (other == cpu || nr_to_give(rq_of(other)) <= 0)
			continue;
		found = true;
		distance = distance_index(cpu_distance(cpu, other));
		load = source_load(other, 0, now);
		if (pull->busiest[distance].cpu == NO_CPU || load > pull->busiest[distance].load) {
			pull->busiest[distance].cpu = other;
			pull->busiest[distance].load = load;
		}
	}
	return found;
}

/* Bring one task of @from to @cpu, which has none; whether there is one that may come. */
__noinline bool pull_one(s32 cpu, s32 from, u64 now)
{
	struct runqueue *rq = rq_of(cpu);
	struct pull *pull = &rq->pull;

	pull->from = from;
	pull->to = cpu;
	pull->tasks = 1;
	pull->load = ~0U;
	pull->limit = rq->idle ? SEARCH_LIMIT : PULL_SCAN_LIMIT;
	pull->also_hot =
		is_taken(from) ||
		(rq->idle && (!PATIENT_WHEN_IDLE || rq->balance_failed >= CACHE_NICE_TRIES));
	pull->now = now;
	if (!pull_tasks(pull))
		return false;
	rq->balance_failed = 0;
	if (nr_to_give(rq_of(from)) > 0)
		call_for_waiting(from);
	return true;
}

/*
 * For a CPU without work: one task of the busiest CPU, from the nearest that has any. A CPU that
 * has just run out of work leaves hot tasks alone. One that stays idle does not, for it looks once
 * a tick only, and asks everybody when those of the busiest may not run here.
 */
static bool pull_to_idle(struct runqueue *rq, u64 now)
{
	bool was_idle = rq->idle;
	u32 distance;
	s32 from, other;

	if (!work_waits)
		return false;
	if (!find_busiest(rq->cpu, now)) {
		/* Who comes after this says so again; who came before it is found. */
		work_waits = false;
		if (!find_busiest(rq->cpu, now))
			return false;
		work_waits = true;
	}
	bpf_for(distance, SAME_CORE, was_idle ? DISTANCES : NEWLY_IDLE_REACH) {
		from = rq->pull.busiest[distance_index(distance)].cpu;
		if (from == NO_CPU)
			continue;
		if (pull_one(rq->cpu, from, now))
			return true;
		if (was_idle && rq->balance_failed < CACHE_NICE_TRIES)
			rq->balance_failed++;
	}
	if (!was_idle)
		return false;
	bpf_for(other, 0, cpu_ids) {
		if (other != rq->cpu && nr_to_give(rq_of(other)) > 0 &&
		    pull_one(rq->cpu, other, now))
			return true;
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

/* The CPU with most to give away, or NO_CPU. */
static s32 busiest_of_all(struct runqueue *rq, u64 now)
{
	struct pull *pull = &rq->pull;
	s32 best = NO_CPU;
	u32 distance, index, most = 0;

	if (!find_busiest(rq->cpu, now))
		return NO_CPU;
	bpf_for(distance, SAME_CORE, DISTANCES) {
		index = distance_index(distance);
		if (pull->busiest[index].cpu == NO_CPU)
			continue;
		if (best == NO_CPU || pull->busiest[index].load > most) {
			best = pull->busiest[index].cpu;
			most = pull->busiest[index].load;
		}
	}
	return best;
}

/* For a CPU with work, now and then: bring its share over from the busiest. */
static void pull_to_busy(struct runqueue *rq, u64 now)
{
	struct pull *pull = &rq->pull;
	u32 load;

	rq->balance_due = false;
	rq->balanced_at = now;
	pull->from = busiest_of_all(rq, now);
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
	pull->limit = PULL_SCAN_LIMIT;
	pull->also_hot = is_taken(pull->from) || rq->balance_failed >= CACHE_NICE_TRIES;
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
	if (cpu_ids == 1)
		return;
	if (elapsed(rq->balanced_at, now) >= MS(rq->balance_interval_ms) * BUSY_FACTOR)
		rq->balance_due = true;
	/* An idle CPU has no tick of its own to look for work on. */
	if (nr_to_give(rq) > 0)
		call_for_waiting(rq->cpu);
}

#endif
