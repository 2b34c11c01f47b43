/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RUNOFF_STATISTICS_H
#define RUNOFF_STATISTICS_H

#include "describe.h"

/* The per-CPU map in which the loader finds the counters of struct @name; see STATISTIC. */
#define STATISTICS(name)                                 \
	struct {                                         \
		__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY); \
		__uint(max_entries, 1);                  \
		__type(key, u32);                        \
		__type(value, struct name);              \
	} stats SEC(".maps");                            \
	typedef struct name statistics_t;

#define count_by(counter, amount)                                             \
	do {                                                                  \
		u32 first = 0;                                                \
		statistics_t *counters = bpf_map_lookup_elem(&stats, &first); \
		if (counters)                                                 \
			counters->counter += (amount);                        \
	} while (0)

#define count(counter) count_by(counter, 1)

#endif
