/* SPDX-License-Identifier: GPL-2.0 */
#ifndef EEVDF_AVERAGE_H
#define EEVDF_AVERAGE_H

#include "state.h"
#include "include/fair/weight.h"

/*
 * Where a queue is in virtual time: the average of its tasks' vruntimes by weight. A task behind it
 * is owed CPU time, one ahead of it has had more than its share. It is stored as the sum of
 * weight * (vruntime - zero), the running task with the vruntime at which it was chosen. Another
 * CPU may pull a task at any time, so a lock keeps the members consistent.
 */
struct average {
	struct bpf_spin_lock lock;
	u64 zero;
	s64 sum;
	u64 weight;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_CPUS);
	__type(key, u32);
	__type(value, struct average);
} averages SEC(".maps");

static struct average *average_of(const struct runqueue *rq)
{
	u32 cpu = rq->cpu;

	return bpf_map_lookup_elem(&averages, &cpu);
}

/* Divide and round down, unlike C, so that a task at the average is owed something. */
static s64 divide(s64 sum, u64 weight)
{
	if (sum < 0)
		return -(s64)(((u64)-sum + weight - 1) / weight);
	return (u64)sum / weight;
}

/* A task begins to count. */
static void add(struct average *average, u32 weight, u64 vruntime)
{
	bpf_spin_lock(&average->lock);
	average->sum += (s64)(vruntime - average->zero) * weight;
	average->weight += weight;
	bpf_spin_unlock(&average->lock);
}

/* A task no longer counts. Return whether it was the last one. */
static bool remove(struct average *average, u32 weight, u64 vruntime)
{
	bool empty;

	bpf_spin_lock(&average->lock);
	average->sum -= (s64)(vruntime - average->zero) * weight;
	average->weight -= weight;
	empty = !average->weight;
	bpf_spin_unlock(&average->lock);
	return empty;
}

/* Make the average the new zero, so that the sum stays small however long the queue is busy. */
static __always_inline void rebase_locked(struct average *average)
{
	s64 by;

	if (!average->weight)
		return;
	by = divide(average->sum, average->weight);
	average->zero += by;
	average->sum -= by * (s64)average->weight;
}

static void rebase(struct average *average)
{
	bpf_spin_lock(&average->lock);
	rebase_locked(average);
	bpf_spin_unlock(&average->lock);
}

/* The vruntime of a task that counts with @weight has grown. */
static void advance(struct average *average, u32 weight, s64 by)
{
	bpf_spin_lock(&average->lock);
	average->sum += by * weight;
	rebase_locked(average);
	bpf_spin_unlock(&average->lock);
}

/* A queue's average as it is now. */
struct moment {
	u64 zero;
	s64 sum;
	u64 weight;
};

static void look_at(const struct runqueue *rq, struct moment *now)
{
	const struct policy_runqueue *own = &rq->policy;
	struct average *average = average_of(rq);

	if (!average)
		return;
	bpf_spin_lock(&average->lock);
	now->zero = average->zero;
	now->sum = average->sum;
	now->weight = average->weight;
	bpf_spin_unlock(&average->lock);
	if (rq->busy)
		now->sum += (s64)(own->curr_vruntime - own->chosen_vruntime) * own->curr_weight;
}

static bool is_eligible(const struct moment *now, u64 vruntime)
{
	return now->sum >= (s64)(vruntime - now->zero) * (s64)now->weight;
}

static u64 average_at(const struct moment *now)
{
	return now->weight ? now->zero + divide(now->sum, now->weight) : now->zero;
}

static u64 average_vruntime(const struct runqueue *rq)
{
	struct moment now = {};

	look_at(rq, &now);
	return average_at(&now);
}

#endif
