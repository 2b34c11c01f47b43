/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_MACHINE_H
#define RUNOFF_MACHINE_H

#include "describe.h"

/* A power of two, so that masking an index satisfies the verifier. */
#define MAX_CPUS       1024
#define CPU_INDEX(cpu) ((cpu) & (MAX_CPUS - 1))

/* Keeps what one CPU writes at every switch out of the cache lines that others read. */
#define OWN_CACHE_LINES __attribute__((aligned(64)))

/* One more than the highest possible CPU number. */
MACHINE("cpu_ids")
const volatile u32 cpu_ids = MAX_CPUS;

/* The period of the kernel's tick. */
MACHINE("tick_ns")
const volatile u64 tick_ns = 1000000;

/*
 * For each CPU the lowest CPU that shares its core, its last-level cache, its node. CPUs that were
 * offline when the scheduler was loaded share nothing.
 */
MACHINE("core_of_cpu")
const volatile u16 core_of_cpu[MAX_CPUS];
MACHINE("cache_of_cpu")
const volatile u16 cache_of_cpu[MAX_CPUS];
MACHINE("node_of_cpu")
const volatile u16 node_of_cpu[MAX_CPUS];

enum distance {
	SAME_CPU = 0,
	SAME_CORE = 1,
	SAME_CACHE = 2,
	SAME_NODE = 3,
	FAR = 4,
	DISTANCES = 5,
};

/*
 * A power of two as well. The compiler must not know the number: it would drop the mask, and check
 * one register but index with another, which verifiers before Linux 7 do not follow.
 */
#define DISTANCE_PLACES 8

static __always_inline u32 distance_index(u32 distance)
{
	barrier_var(distance);
	return distance & (DISTANCE_PLACES - 1);
}

static __always_inline u32 cpu_distance(u32 a, u32 b)
{
	a = CPU_INDEX(a);
	b = CPU_INDEX(b);
	if (a == b)
		return SAME_CPU;
	if (core_of_cpu[a] == core_of_cpu[b])
		return SAME_CORE;
	if (cache_of_cpu[a] == cache_of_cpu[b])
		return SAME_CACHE;
	if (node_of_cpu[a] == node_of_cpu[b])
		return SAME_NODE;
	return FAR;
}

#endif
