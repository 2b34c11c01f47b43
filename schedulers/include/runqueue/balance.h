/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_RUNQUEUE_BALANCE_H
#define RUNOFF_RUNQUEUE_BALANCE_H

#include "load.h"

/* Settings. A scheduler defines all of them before this file, or none, which is as in 2.6.8. */
#ifndef PULL_SCAN_LIMIT
/* How many tasks one look at the queue of another CPU may cost. */
#define PULL_SCAN_LIMIT 64
/* How many times less often a busy CPU looks for imbalance than an idle one. */
#define BUSY_FACTOR 64
/* How many failed looks it takes until cache-hot tasks are pulled too. */
#define CACHE_NICE_TRIES 1
/* From this difference of load on one task is pulled, even if the imbalance is less than one. */
#define SMALL_IMBALANCE (2 * LOAD_OF_ONE)
/* A newly idle CPU looks at CPUs that are nearer than this distance. */
#define NEWLY_IDLE_REACH FAR
/* Whether a CPU that stays idle also leaves hot tasks alone for that many looks. */
#define PATIENT_WHEN_IDLE false
#endif

#define LONGEST_INTERVAL_MS 4

/* Note that a task has come to @rq. */
static void note_waiting(const struct runqueue *rq)
{
	if (!work_waits && rq->nr > 1 && nr_to_give(rq) > 0)
		work_waits = true;
}

/* Bring over what @pull describes. Return whether that was any task. */
static bool pull_tasks(struct pull *pull);

/*
 * Find for each distance the CPU that has most to give away to @cpu. Tasks that may run nowhere
 * else do not count. Return whether any CPU has something to give.
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

/* Bring one task of @from to @cpu, which has none. Return whether one may come. */
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
		kick_idle_for_waiting(from);
	return true;
}

/*
 * Bring one task to a CPU without work, from the busiest CPU of the least distance that has any. A
 * newly idle CPU leaves hot tasks alone. A CPU that stays idle does not, because it looks only once
 * a tick, and it tries all CPUs when the tasks of the busiest may not run here.
 */
static bool pull_to_idle(struct runqueue *rq, u64 now)
{
	bool was_idle = rq->idle;
	u32 distance;
	s32 from, other;

	if (!work_waits)
		return false;
	if (!find_busiest(rq->cpu, now)) {
		/* A task that comes after this sets it again; one that came before is found. */
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

/* Return the weight that a busy CPU should bring over from @from, 0 if their loads are similar. */
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

/* Return the CPU that has most to give away, or NO_CPU. */
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

/* On a busy CPU, now and then: bring its share over from the busiest CPU. */
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

/* On the tick of a busy CPU: note whether balancing is due, and kick idle CPUs if tasks wait. */
static void remind_to_balance(struct runqueue *rq, u64 now)
{
	if (cpu_ids == 1)
		return;
	if (elapsed(rq->balanced_at, now) >= MS(rq->balance_interval_ms) * BUSY_FACTOR)
		rq->balance_due = true;
	/* An idle CPU has no tick of its own to look for work on. */
	if (nr_to_give(rq) > 0)
		kick_idle_for_waiting(rq->cpu);
}

#endif
