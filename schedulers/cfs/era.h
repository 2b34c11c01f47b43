/* SPDX-License-Identifier: GPL-2.0 */
#ifndef CFS_ERA_H
#define CFS_ERA_H

#include "include/fair/state.h"

enum { ERA_2_6_24, ERA_2_6_31, ERA_2_6_32, ERA_3_6, ERAS };

CHOICE("2.6.24, 2.6.31, 2.6.32, 3.6",
       "The Linux release whose rules and times hold: latency 20 ms up to 2.6.31, 5 ms in 2.6.32, "
       "6 ms in 3.6, each times 1 + log2 of the number of CPUs.")
const volatile u32 era = ERA_3_6;

PARAMETER("us", "0..1000000",
	  "The time in which every task runs once, as long as they are few; 0 is the era's.")
volatile u32 latency_us = 0;

PARAMETER("us", "0..1000000",
	  "What a task gets of that at least, on average, however many there are; 0 is the era's.")
TURN volatile u32 min_granularity_us = 0;

PARAMETER("us", "0..1000000",
	  "How much less a woken task must have run to take the CPU at once, more being fewer "
	  "switches; 0 is the era's.")
volatile u32 wakeup_granularity_us = 0;

struct times {
	u64 latency_ns;
	u64 min_granularity_ns;
	u64 wakeup_granularity_ns;
};

static const struct times era_times[ERAS] = {
	[ERA_2_6_24] = {20000000, 4000000, 10000000},
	[ERA_2_6_31] = {20000000, 4000000, 5000000},
	[ERA_2_6_32] = {5000000, 1000000, 1000000},
	[ERA_3_6] = {6000000, 750000, 1000000},
};

#define MOST_NS 200000000ULL

/* The times of the era on this machine. Not static, or the compiler would split the struct. */
struct times times;

/* More CPUs, longer times; 3.6 limits that, and scales again when CPUs come or go. */
static void scale_times(u32 online)
{
	const struct times *base = &era_times[era < ERAS ? era : ERA_3_6];
	u32 doubled, factor = 1, bit;

	if (times.latency_ns && era != ERA_3_6)
		return;
	doubled = era == ERA_3_6 && online > 8 ? 8 : online;
	bpf_for(bit, 1, 11) {
		if (doubled >> bit)
			factor = 1 + bit;
	}
	times.latency_ns = base->latency_ns * factor;
	times.min_granularity_ns = base->min_granularity_ns * factor;
	times.wakeup_granularity_ns = base->wakeup_granularity_ns * factor;
	if (era != ERA_3_6) {
		times.latency_ns = at_most(times.latency_ns, MOST_NS);
		times.min_granularity_ns = at_most(times.min_granularity_ns, MOST_NS);
	}
}

static u64 latency(void)
{
	return latency_us ? latency_us * 1000ULL : times.latency_ns;
}

static u64 min_granularity(void)
{
	return min_granularity_us ? min_granularity_us * 1000ULL : times.min_granularity_ns;
}

static u64 wakeup_granularity(void)
{
	return wakeup_granularity_us ? wakeup_granularity_us * 1000ULL
				     : times.wakeup_granularity_ns;
}

/* Return the time in which @nr tasks run once each: longer if they are too many for the latency. */
static u64 period(u32 nr)
{
	u64 least = nr * min_granularity(), most = latency();

	return least > most ? least : most;
}

/* Whether @nr turns of the least length fill the latency. */
static bool is_crowded(u32 nr)
{
	return nr * min_granularity() >= latency();
}

/* Return how far behind the queue a task may be after a long sleep, in virtual time. */
static u64 sleeper_credit(void)
{
	return era >= ERA_2_6_32 ? latency() / 2 : latency();
}

static bool has_next_buddy(void)
{
	return era == ERA_2_6_31 || era == ERA_3_6;
}

static bool has_last_buddy(void)
{
	return era != ERA_2_6_24;
}

static bool child_runs_first(void)
{
	return era <= ERA_2_6_31;
}

/* 2.6.31 and 2.6.32 watch how long a task runs between two wake-ups of others. */
static bool watches_wakers(void)
{
	return era == ERA_2_6_31 || era == ERA_2_6_32;
}

#endif
